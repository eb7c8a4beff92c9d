"""Writes the inputs and the expected rows of case 9: experts with state, and their training."""

import numpy as np
from common import ABSENT, generator, vectors, write

random = generator(9)


class Average:
    value = None

    def __init__(self):
        self.last = None

    def step(self, x):
        self.value = x if self.value is None else 0.75 * self.value + 0.25 * self.last
        self.last = x
        return self.value


def stateful():
    xs = [round(float(v), 2) for v in random.uniform(-1, 2, 40)]
    within, around, total, o = Average(), Average(), 0.0, []
    for x in xs:
        if x > 0:
            slow = around.step(x)
            o.append(within.step(x) if x > 1 else slow)
        else:
            total += x
            o.append(total)
    write("case09_stateful.in.chron", {"x": xs})
    write("case09_stateful.out.chron", {"o": o})


def train():
    xs = vectors(random, 60, 2)
    targets = [round(float(np.tanh(x[0] - 2 * x[1])), 3) for x in xs]
    w = [np.array([0.5, 0.1]), np.array([-0.3, 0.2])]
    runs, rows = 0, {"o": [], "n1": []}
    for x, t in zip(xs, targets):
        chosen = 0 if x[0] > x[1] else 1
        o = w[chosen] @ x
        w[chosen] = w[chosen] - 0.2 * (o - t) * x
        rows["o"].append(o)
        rows["n1"].append(runs)
        runs += chosen == 0
    write("case09_train.in.chron", {"x": xs, "gt": targets})
    write("case09_train.out.chron", rows)


def gradient(w, u, xs, gts):
    """Gradient of half the squared error, with the outputs."""
    hs = [0.0]
    for x in xs:
        hs.append(np.tanh(w * x + u * hs[-1]))
    dw = du = dh = 0.0
    for n in reversed(range(len(xs))):
        dz = (hs[n + 1] - gts[n] + dh) * (1 - hs[n + 1] ** 2)
        dw, du, dh = dw + dz * xs[n], du + dz * hs[n], dz * u
    return dw, du, hs[1:]


def recurrent():
    def loss(w, u, xs, gts):
        return 0.5 * sum((h - t) ** 2 for h, t in zip(gradient(w, u, xs, gts)[2], gts))

    xs, gts, e = [0.5, -0.3, 0.9], [0.2, 0.1, -0.4], 1e-5
    dw, du, _ = gradient(0.8, 0.5, xs, gts)
    assert abs((loss(0.8 + e, 0.5, xs, gts) - loss(0.8 - e, 0.5, xs, gts)) / (2 * e) - dw) < 1e-8
    assert abs((loss(0.8, 0.5 + e, xs, gts) - loss(0.8, 0.5 - e, xs, gts)) / (2 * e) - du) < 1e-8

    cycles = 60
    end = [bool(v < 0.4) for v in random.uniform(0, 1, cycles)]
    c = [bool(v < 0.6) for v in random.uniform(0, 1, cycles)]
    end[-3:], c[-3:] = [True, False, False], [True, False, True]
    xs = [round(float(v), 2) for v in random.uniform(-1, 1, cycles)]
    gts = [round(float(v), 2) for v in random.uniform(-1, 1, cycles)]
    o, w, u, now = list(xs), 0.8, 0.5, []
    for n in range(cycles):
        if not c[n]:
            continue
        now.append(n)
        # Forward values depend on no later row, so they are written immediately.
        dw, du, hs = gradient(w, u, [xs[k] for k in now], [gts[k] for k in now])
        o[n] = hs[-1]
        if end[n]:
            w, u, now = w - 0.2 * dw, u - 0.2 * du, []
    write("case09_recurrent.in.chron", {"end": end, "c": c, "x": xs, "gt": [t if p else ABSENT for p, t in zip(c, gts)]})
    write("case09_recurrent.out.chron", {"o": o})


stateful()
train()
recurrent()
