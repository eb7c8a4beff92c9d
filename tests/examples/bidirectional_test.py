"""examples/bidirectional on a part of its verses: bidirectional_test.py RMLC REPOSITORY, run
by ctest.

The outputs of both readers for held-out verses, and their scores, are computed from the saved
parameters. The reader in both directions must be better, and both engines must print the same."""

import math
import pathlib
import sys
import tempfile

from programs import output_of, rows
from safetensors import matrix, parameters

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
EXAMPLE = ROOT / "examples/bidirectional"
PROGRAM = EXAMPLE / "words.rml"
PASSES, SIZES = 4, ["-D", "units=12", "-D", "features=8", "-D", "rate=0.02", "-D", "passes=4"]


def sigmoid(v):
    return 1 / (1 + math.exp(-v))


def lstm(saved, path, inputs):
    kernel, recurrent = matrix(saved[path + ".kernel"]), matrix(saved[path + ".recurrent"])
    bias = saved[path + ".bias"][0]
    units = len(bias) // 4
    h, c, states = [0.0] * units, [0.0] * units, []
    for x in inputs:
        z = [b + sum(w * v for w, v in zip(k, x)) + sum(w * v for w, v in zip(r, h))
             for b, k, r in zip(bias, kernel, recurrent)]
        i, f, g, o = (z[n * units : (n + 1) * units] for n in range(4))
        c = [sigmoid(f[u]) * c[u] + sigmoid(i[u]) * math.tanh(g[u]) for u in range(units)]
        h = [sigmoid(o[u]) * math.tanh(c[u]) for u in range(units)]
        states.append(h)
    return states


def scores(saved, reader, letters):
    table = matrix(saved[reader + ".embedding_end.table"])
    inputs = [table[ord(letter) - 97] for letter in letters]
    if reader == "forward":
        states = lstm(saved, "forward.lstm_end", inputs)
    else:
        ahead = lstm(saved, "both.lstm_bi.lstm_end", inputs)
        behind = lstm(saved, "both.lstm_bi.lstm_back", inputs[::-1])[::-1]
        states = [a + b for a, b in zip(ahead, behind)]
    out, bias = matrix(saved[reader + ".dense_end.kernel"])[0], saved[reader + ".dense_end.bias"][0][0]
    return [bias + sum(w * v for w, v in zip(out, h)) for h in states]


def main():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        text, learn, test, state = (f"{folder}/{name}" for name in ("text", "learn.csv", "test.txt", "state"))
        pathlib.Path(text).write_text("\n".join((EXAMPLE / "verses.txt").read_text().split("\n")[:400]))
        output_of([sys.executable, EXAMPLE / "letters.py", text, learn, test, "--passes", PASSES])
        run = [RMLC, "run", PROGRAM, "--input", learn]
        table = rows(output_of([*run, *SIZES, "--save", state]))
        short = [*run, "-D", "units=2", "-D", "features=2", "--cycles", 150]
        if output_of([*short, "--strict-math"]) != output_of([*short, "--engine", "reference"]):
            problems.append("the compiled and the reference engine print different rows")
        verses, saved = [line.split() for line in pathlib.Path(test).read_text().splitlines()], parameters(state)
    found = table[-sum(len(word) for words in verses for word in words) :]
    for reader, column in ("forward", "forward_says"), ("both", "both_say"):
        at, hits, said, right = 0, 0, 0, 0
        for words in verses:
            starts = [place == 0 for word in words for place in range(len(word))]
            for k, score in enumerate(scores(saved, reader, "".join(words))):
                says = found[at]["forward_says" if reader == "forward" else "both_say"] == 1.0
                if says != (score > 0) and abs(score) > 1e-3:
                    problems.append(f"{column} {says} where the score is {score}")
                if k > 0:
                    hits, said, right = hits + (says and starts[k]), said + says, right + starts[k]
                at += 1
        f1 = found[-1][f"{reader}_f1"]
        if abs(f1 - 2 * hits / (said + right)) > 1e-9:
            problems.append(f"{reader}_f1: {f1} instead of {2 * hits / (said + right)}")
    if not (found[-1]["both_f1"] > 0.7 and found[-1]["both_f1"] > found[-1]["forward_f1"] + 0.02):
        problems.append(f"both {found[-1]['both_f1']}, forward {found[-1]['forward_f1']}")
    sys.exit("\n".join(problems[:20]) or 0)


main()
