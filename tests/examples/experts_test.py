"""examples/experts: experts_test.py RMLC REPOSITORY, run by ctest.

A thousand cycles, of which the first hundred use all experts, are computed again from the same
measurements and initial weights, with gradients written by hand. Adam's state must change only
for the experts in use. In a longer run the mixture must beat the single network and use few
experts."""

import math
import pathlib
import sys
import tempfile

from programs import output_of, rows
from safetensors import matrix, parameters

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
PROGRAM = ROOT / "examples/experts/experts.rml"
CYCLES, EXPLORE, RATE, LEAST, BALANCE, DEVIATION, SHARP = 1000, 100, 0.01, 0.15, 0.03, 0.5, 4.0


class Network:
    """Dense layers with tanh in between; each kernel and bias has its own Adam."""

    def __init__(self, saved, paths):
        self.layers = [[matrix(saved[p + ".kernel"]), saved[p + ".bias"][0]] for p in paths]
        self.moments = [[(0.0, 0.0)] * (len(k) * (len(k[0]) + 1)) for k, _ in self.layers]
        self.steps = 0

    def forward(self, x):
        self.inputs = []
        for depth, (kernel, bias) in enumerate(self.layers):
            self.inputs.append(x)
            x = [b + sum(w * v for w, v in zip(row, x)) for row, b in zip(kernel, bias)]
            if depth < len(self.layers) - 1:
                x = [math.tanh(v) for v in x]
        return x

    def learn(self, rate, d):
        """Makes a step; `d` is the gradient of the loss by the output of `forward`."""
        self.steps += 1
        scale = 1 / (1 - 0.9**self.steps), 1 / (1 - 0.999**self.steps)
        for (kernel, bias), x, moments in reversed(list(zip(self.layers, self.inputs, self.moments))):
            back = [sum(row[k] * g for row, g in zip(kernel, d)) * (1 - v * v) for k, v in enumerate(x)]
            at = 0
            for u, g in enumerate(d):
                for k in range(len(x) + 1):
                    by = g * x[k] if k < len(x) else g
                    m, s = moments[at]
                    m, s = m + 0.1 * (by - m), s + 0.001 * (by * by - s)
                    moments[at], at = (m, s), at + 1
                    step = rate * m * scale[0] / (math.sqrt(s * scale[1]) + 1e-8)
                    if k < len(x):
                        kernel[u][k] -= step
                    else:
                        bias[u] -= step
            d = back


def mixture(gate, experts, row, cycle):
    """The output of the mixture and its gates; makes a step for the experts in use."""
    scores = gate.forward([SHARP * row["temperature"]])
    total = sum(math.exp(v) for v in scores)
    gates = [math.exp(v) / total for v in scores]
    bar = 0.0 if cycle < EXPLORE else LEAST
    asked = [k for k in range(3) if gates[k] > bar]
    said = {k: experts[k].forward([row["load"]])[0] for k in asked}
    fits = {k: math.exp(-0.5 * ((said[k] - row["answer"]) / DEVIATION) ** 2) for k in asked}
    likely = sum(gates[k] * fits[k] for k in asked) + 1e-12
    y = sum(gates[k] * said[k] for k in asked) / sum(gates[k] for k in asked)
    rate = RATE * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * cycle / 100000)))
    for k in asked:
        experts[k].learn(rate, [gates[k] * fits[k] / likely * (said[k] - row["answer"]) / DEVIATION**2])
    by_gate = [-fits.get(k, 0.0) / likely - BALANCE / 3 / (gates[k] + 1e-12) for k in range(3)]
    mean = sum(g * d for g, d in zip(gates, by_gate))
    gate.learn(rate, [g * (d - mean) for g, d in zip(gates, by_gate)])
    return y, gates, len(asked)


def main():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        state = folder + "/state"
        run = [RMLC, "run", PROGRAM, "-D", f"explore={EXPLORE}"]
        table = rows(output_of([*run, "--cycles", CYCLES]))
        if output_of([*run, "--cycles", 120, "--strict-math"]) != output_of([*run, "--cycles", 120, "--engine", "reference"]):
            problems.append("the compiled and the reference engine print different rows")
        # With steps of length 0 the weights keep their initial values.
        output_of([*run, "--cycles", 2, "-D", "rate=0.0", "--save", state])
        saved = parameters(state)
        long = rows(output_of([RMLC, "run", PROGRAM, "--cycles", 30000]))
    gate = Network(saved, ["mixture.dense", "mixture.dense2"])
    names = ["mixture.expert", "mixture.expert2", "mixture.expert3"]
    experts = [Network(saved, [f"{name}.network.dense{layer}" for layer in ("", "2", "3")]) for name in names]
    for cycle, row in enumerate(table):
        y, gates, asked = mixture(gate, experts, row, cycle)
        for name, want in (("y", y), ("asked", asked), *((f"gates[{k}]", g) for k, g in enumerate(gates))):
            if not math.isclose(row[name], want, rel_tol=1e-6, abs_tol=1e-9):
                problems.append(f"cycle {cycle}, {name}: {row[name]} instead of {want}")
    if not any(row["asked"] < 3 for row in table[EXPLORE:]):
        problems.append("all experts are asked always")
    final = long[-1]
    if not (final["mixture_loss"] < 0.7 * final["single_loss"] and final["mean_asked"] < 1.2):
        problems.append(f"after a while: {final}")
    sys.exit("\n".join(problems[:20]) or 0)


main()
