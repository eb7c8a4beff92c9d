"""Programs of users that learn, from beginning to end: learners_test.py RMLC FOLDER, run by
ctest.

Their success is measured on data that they did not see, or computed here from their saved
parameters."""

import json
import math
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

RMLC, HERE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
problems = []


def rmlc(*arguments):
    done = subprocess.run([RMLC, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"rmlc {' '.join(map(str, arguments))}: exit status {done.returncode}\n{done.stderr}")
    return [line.split(",") for line in done.stdout.splitlines()]


def column(rows, name):
    """The values of a column where they are present."""
    at = rows[0].index(name)
    return [float(row[at]) for row in rows[1:] if row[at]]


def expect(what, holds, *seen):
    if not holds:
        problems.append(f"{what}: {seen}")


def parameters(path):
    """The tensors of a safetensors file of doubles, flat, by name."""
    data = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack_from("<Q", data)
    body, tensors = data[8 + size :], {}
    for name, about in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__" and about["dtype"] == "F64":
            begin, end = about["data_offsets"]
            tensors[name] = struct.unpack(f"<{(end - begin) // 8}d", body[begin:end])
    return tensors


def bandit():
    average = column(rmlc("run", "bandit.rml", "--node", "play", "--cycles", 600), "average")
    # The best arm pays four times out of five; one try in ten is a random arm.
    expect("the bandit's mean reward", average[-1] > 0.65, average[-1])


def reverse():
    rmlc("run", "reverse.rml", "--node", "learn", "--cycles", 600, "--save", "block.state", "--output", "o.csv")
    draw = random.Random(1)
    words = [[draw.randrange(8) for _ in range(8)] for _ in range(20)]
    head = ",".join(f'"s[{k}]"' for k in range(8))
    pathlib.Path("words.csv").write_text("\n".join([head, *(",".join(map(str, w)) for w in words)]) + "\n")
    rows = rmlc("run", "reverse.rml", "--node", "use", "--load-params", "block.state", "--map", "criterion.model=model",
                "--input", "words.csv")
    right = sum([int(v) for v in row] == word[::-1] for row, word in zip(rows[1:], words))
    expect("words of 20 that are reversed", len(rows) == 21 and right >= 19, right)


def series():
    errors = column(rmlc("run", "series.rml", "--node", "learn_series", "--cycles", 10000), "error")
    late = sum(errors[-250:]) / 250
    # The mean square of a sine of amplitude 1 is 1/2.
    expect("the mean squared error of four series", late < 0.01, late)
    right = column(rmlc("run", "series.rml", "--node", "learn_signs", "--cycles", 4000), "right")
    late = sum(right[-50:]) / 50
    expect("signs of sums that are known", len(right) == 400 and late > 0.9, late)


def encoder():
    """The learner's codes must be those of the encoder's file, which it must not change."""
    rmlc("run", "encoder.rml", "--cycles", 4000, "--save", "encoder.state", "--output", "o.csv")
    draw = random.Random(2)
    rows = []
    for _ in range(1500):
        a, b, c = (draw.uniform(-1, 1) for _ in range(3))
        rows.append([a, b, c, a + b, b - c, c + a, a - 0.5 * c])
    head = ",".join([*(f'"x[{k}]"' for k in range(6)), "wanted"])
    pathlib.Path("learn.csv").write_text("\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n")
    answer = rmlc("run", "learner.rml", "--input", "learn.csv", "--save", "learner.state")
    saved = parameters("encoder.state")
    kernel, bias = (saved[f"reconstruct.encode.dense.{name}"] for name in ("kernel", "bias"))
    for row, x in zip(answer[1:], rows):
        for k in range(3):
            code = math.tanh(sum(kernel[6 * k + i] * x[i] for i in range(6)) + bias[k])
            if abs(code - float(row[k])) > 1e-9:
                sys.exit(f"a code is {row[k]} instead of {code}")
    expect("what the learner keeps", not any("encode" in name for name in parameters("learner.state")))
    errors = column(answer, "error")
    late = sum(errors[-200:]) / 200
    expect("the learner's mean squared error", late < 0.02, late)


def there_and_back():
    """A model is imported, trained, and exported with its learned parameters."""
    rmlc("export", "line.rml", "-o", "line.onnx")
    rmlc("import", "line.onnx", "-o", "model.rml", "--trainable", "*")
    rmlc("run", "fit.rml", "--cycles", 1000, "--save", "trained.state", "--output", "o.csv")
    rmlc("export", "model.rml", "--load-params", "trained.state", "-o", "trained.onnx")
    pathlib.Path("x.csv").write_text("x\n-1\n0\n2\n")
    y = column(rmlc("run", "trained.onnx", "--input", "x.csv"), "y")
    wanted = [-2.5, 0.5, 6.5]
    expect("the exported line", len(y) == 3 and all(abs(a - b) < 1e-3 for a, b in zip(y, wanted)), y)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for program in [*HERE.glob("*.rml"), *(HERE / "imported").glob("*.rml")]:
            shutil.copy(program, folder)
        os.chdir(folder)
        for part in bandit, reverse, series, encoder, there_and_back:
            part()
        os.chdir("/")
    sys.exit("\n".join(problems) or 0)


main()
