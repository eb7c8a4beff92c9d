"""examples/iris: iris_test.py RMLC REPOSITORY, run by ctest.

A few passes are computed again from the same initial weights, with gradients written by hand.
In cross-validation the network must recognise more flowers than the nearest neighbour does.
Both engines must print the same."""

import math
import pathlib
import sys
import tempfile

from programs import output_of, rows
from safetensors import matrix, parameters

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
EXAMPLE = ROOT / "examples/iris"
PROGRAM = EXAMPLE / "iris.rml"
MEANS, SPREADS, RATE, STEPS = (5.8, 3.1, 3.8, 1.2), (0.8, 0.4, 1.8, 0.8), 0.005, 6000
BY_NEAREST_NEIGHBOUR = 142


class Layer:
    """Kernel and bias with their Adam."""

    def __init__(self, saved, path):
        bias = saved[path + ".bias"][0]
        self.rows = [[*row, b] for row, b in zip(matrix(saved[path + ".kernel"]), bias)]
        self.moments = [[(0.0, 0.0)] * len(row) for row in self.rows]

    def __call__(self, x):
        self.x = [*x, 1.0]
        return [sum(w * v for w, v in zip(row, self.x)) for row in self.rows]

    def back(self, d):
        return [sum(row[k] * g for row, g in zip(self.rows, d)) for k in range(len(self.x) - 1)]

    def step(self, rate, t, d):
        for row, moments, g in zip(self.rows, self.moments, d):
            for k, v in enumerate(self.x):
                m, s = moments[k]
                m, s = 0.9 * m + 0.1 * g * v, 0.999 * s + 0.001 * (g * v) ** 2
                moments[k] = m, s
                row[k] -= rate * (m / (1 - 0.9**t)) / (math.sqrt(s / (1 - 0.999**t)) + 1e-8)


def losses(inputs, saved):
    """The losses before each step, and the predicted species."""
    hidden, out = Layer(saved, "network.dense"), Layer(saved, "network.dense2")
    step = 0
    for row in inputs:
        h = [math.tanh(v) for v in hidden([(row[f"x[{k}]"] - MEANS[k]) / SPREADS[k] for k in range(4)])]
        scores = out(h)
        total = sum(math.exp(s) for s in scores)
        species = int(row["species"])
        yield math.log(total) - scores[species], scores.index(max(scores))
        if row["train"]:
            rate = RATE * 0.5 * (1 + math.cos(math.pi * step / STEPS))
            step += 1
            d = [math.exp(s) / total - (k == species) for k, s in enumerate(scores)]
            back = [g * (1 - v * v) for g, v in zip(out.back(d), h)]
            out.step(rate, step, d)
            hidden.step(rate, step, back)


def flowers(part, passes):
    text = output_of([sys.executable, EXAMPLE / "flowers.py", EXAMPLE / "iris.csv", part, "--passes", passes])
    return text.replace("T,", "true,").replace("F,", "false,")


def main():
    problems, few = [], flowers(0, 3)
    with tempfile.TemporaryDirectory() as folder:
        start = folder + "/start"
        # No step is made, so the state contains the initial weights.
        output_of([RMLC, "run", PROGRAM, "-D", "rate=0.0", "--cycles", "1", "--save", start], few)
        first = parameters(start)
    short = [RMLC, "run", PROGRAM]
    table = rows(output_of(short, few))
    for n, (row, (l, predicted)) in enumerate(zip(table, losses(rows(few), first))):
        if not math.isclose(row["l"], l, rel_tol=1e-6, abs_tol=1e-9) or row["predicted"] != predicted:
            sys.exit(f"row {n}: {row} instead of {l}, {predicted}")
    if len(table) != 390:
        problems.append(f"{len(table)} rows")
    if output_of([*short, "--strict-math"], few) != output_of([*short, "--engine", "reference"], few):
        problems.append("the compiled and the reference engine print different rows")
    right = seen = 0
    for part in range(5):
        text = flowers(part, 50)
        for given, row in zip(rows(text), rows(output_of(short, text))):
            if not given["train"]:
                seen += 1
                right += given["species"] == row["predicted"]
    if seen != 150 or right <= BY_NEAREST_NEIGHBOUR:
        problems.append(f"{right} of {seen} flowers are recognised")
    sys.exit("\n".join(problems) or 0)


main()
