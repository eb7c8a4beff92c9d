"""Writes the inputs and the expected rows of the paper's figure 3: gradient descent of (k i + b)^2
towards (2 i - 3)^2, one sample per cycle.

In cycle n, the pipelined model uses the output of its first layer in cycle n - 1, with the
parameters of that cycle. The gradient of that output changes the parameters that cycle n uses."""

import numpy as np
from chronogram import ABSENT, write

RATE = 0.001


def target(i):
    return (2.0 * i - 3.0) ** 2


def train(inputs, bp, targets, delay, rate=RATE):
    """Outputs o and the parameters k, b used in each cycle."""
    k, b = 1.0, 0.0
    seen, made, os, ks, bs = [], [], [], [], []
    for n, i in enumerate(inputs):
        if delay == 0:
            made.append(k * i + b)
            seen.append(i)
            ks.append(k), bs.append(b)
            x, source = made[n], i
        else:
            x, source = (made[n - 1], seen[n - 1]) if n > 0 else (0.0, None)
        o = x * x
        os.append(o)
        if bp[n] and source is not None:
            # d/dx (x^2 - gt)^2 = 4 x (x^2 - gt)
            step = -rate * 4.0 * x * (o - targets[n])
            k, b = k + source * step, b + step
        if delay == 1:
            made.append(k * i + b)
            seen.append(i)
            ks.append(k), bs.append(b)
    return os, ks, bs


def main():
    generator = np.random.default_rng(3)

    inputs = [round(float(v), 2) for v in generator.uniform(0, 3, 12)]
    for delay, name in (0, "app"), (1, "app_pipe"):
        no = [False] * len(inputs)
        os, _, _ = train(inputs, no, inputs, delay)
        write("fig03_app_infer.in.chron", {"i": inputs})
        write(f"fig03_{name}_infer.out.chron", {"o": os})

    inputs = [round(float(v), 3) for v in generator.uniform(0, 3, 60)]
    mixed = [bool(v) for v in generator.integers(0, 2, 60)]
    mixed[20:28] = [True] * 8
    mixed[33:45] = [False] * 12
    mixed[-4:] = [True, False, False, False]
    for delay, name in (0, "app"), (1, "app_pipe"):
        targets = [target(i) for i in inputs]
        if delay:
            targets = [0.0] + targets[:-1]
        for bp, run in ([True] * 60, "train"), (mixed, "mixed"):
            given = [t if here else ABSENT for t, here in zip(targets, bp)]
            os, ks, bs = train(inputs, bp, targets, delay)
            rows = {"i": inputs, "gt": given}
            write(f"fig03_{name}_{run}.in.chron", rows if run == "train" else {"bp": bp, **rows})
            write(f"fig03_{name}_{run}.out.chron", {"o": os, "k": ks, "b": bs})

    inputs = [round(float(v), 3) for v in generator.uniform(0, 3, 3000)]
    write("fig03_converge.in.chron", {"i": inputs})
    for delay, name in (0, "app"), (1, "app_pipe"):
        targets = [target(i) for i in inputs]
        if delay:
            targets = [0.0] + targets[:-1]
        _, ks, bs = train(inputs, [True] * 3000, targets, delay)
        assert abs(ks[-1] - 2) < 1e-6 and abs(bs[-1] + 3) < 1e-6, (ks[-1], bs[-1])
        shown = [n % 200 == 199 for n in range(3000)]
        write(
            f"fig03_{name}_converge.out.chron",
            {
                "shown": shown,
                "k": [v if s else ABSENT for v, s in zip(ks, shown)],
                "b": [v if s else ABSENT for v, s in zip(bs, shown)],
            },
        )


main()
