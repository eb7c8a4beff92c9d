"""examples/tumours: tumours_test.py RMLC REPOSITORY, run by ctest.

The sum that logistic regression minimises has one minimum, so its gradient, computed here,
must be almost 0 at the saved weights. The outputs for held-out tumours must follow from these
weights. In cross-validation the program must be right more often than five nearest neighbours.
Both engines must print the same."""

import math
import pathlib
import sys
import tempfile

from programs import output_of, rows
from safetensors import parameters

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
EXAMPLE = ROOT / "examples/tumours"
PROGRAM = EXAMPLE / "tumours.rml"
BY_NEIGHBOURS = 548


def given(part, passes):
    text = output_of([sys.executable, EXAMPLE / "cells.py", EXAMPLE / "tumours.csv", part, "--passes", passes])
    named = text.replace("T,", "true,").replace("F,", "false,").replace(",T\n", ",true\n").replace(",F\n", ",false\n")
    return text, [([row[f"x[{k}]"] for k in range(30)], row["malignant"], row["train"]) for row in rows(named)]


def probability(w, x):
    return 1 / (1 + math.exp(-w[0] - sum(a * b for a, b in zip(w[1:], x))))


def gradient(w, learned):
    total = [0.0, *w[1:]]
    for x, malignant, _ in learned:
        error = probability(w, x) - malignant
        total = [g + error * v for g, v in zip(total, [1.0, *x])]
    return total


def main():
    problems, right, seen = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        state = folder + "/state"
        for part in range(5):
            text, tumours = given(part, 60)
            table = rows(output_of([RMLC, "run", PROGRAM, "--save", state], text))
            held = [t for t in tumours if not t[2]]
            learned = tumours[: (len(tumours) - len(held)) // 60]
            w = parameters(state)["score.w"][0]
            steepest = max(map(abs, gradient(w, learned)))
            # Before training, the steepest component of the gradient is about 160.
            if steepest > 0.05:
                problems.append(f"part {part}: the gradient is {steepest}")
            for (x, malignant, _), row in zip(held, table[-len(held) :]):
                if not math.isclose(row["probability"], probability(w, x), rel_tol=1e-9):
                    problems.append(f"part {part}: {row['probability']} instead of {probability(w, x)}")
                seen += 1
                right += (row["probability"] > 0.5) == (malignant == 1)
    short = given(1, 3)[0]
    run = [RMLC, "run", PROGRAM, "--cycles", "1400"]
    if output_of([*run, "--strict-math"], short) != output_of([*run, "--engine", "reference"], short):
        problems.append("the compiled and the reference engine print different rows")
    if seen != 569 or right <= BY_NEIGHBOURS:
        problems.append(f"{right} of {seen} tumours are told right")
    sys.exit("\n".join(problems[:10]) or 0)


main()
