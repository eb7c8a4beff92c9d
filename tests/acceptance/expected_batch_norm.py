"""Writes the inputs and the expected rows of case 4: batch normalisation and its training, batch by
batch."""

import numpy as np
from common import check_gradient, emitted, ends_of, generator, vectors, write
from common import UNDETERMINED

RATE = 0.1


def forward(p, x):
    w, gamma, beta = p
    v = np.tanh(w * x + np.tanh(w))
    mean, var = v.mean(axis=0), v.var(axis=0)
    return gamma * (v - mean) / np.sqrt(var + 0.001) + beta


def gradients(p, x, gt):
    """Gradients of half the squared error of a whole batch."""
    w, gamma, beta = p
    v = np.tanh(w * x + np.tanh(w))
    mean, root = v.mean(axis=0), np.sqrt(v.var(axis=0) + 0.001)
    n = (v - mean) / root
    y = gamma * n + beta
    dy = y - gt
    dn = gamma * dy
    # d n / d v, where the mean and the variance depend on v too
    count = len(x)
    dvar = (-0.5 * dn * (v - mean) / root**3).sum(axis=0)
    dmean = (-dn / root).sum(axis=0) + dvar * (-2.0 * (v - mean)).sum(axis=0) / count
    dv = dn / root + dvar * 2.0 * (v - mean) / count + dmean / count
    dw = (dv * (1 - v * v) * (x + 1 - np.tanh(w) ** 2)).sum(axis=0)
    return y, [dw, (dy * n).sum(axis=0), dy.sum(axis=0)]


random = generator(4)
lengths = [3, 1, 6, 2]
x = vectors(random, sum(lengths) + 2, 2)
rows = {"xn": [], "root": []}
at = 0
for length in lengths:
    batch = np.array(x[at : at + length])
    root = np.sqrt(batch.var(axis=0) + 0.001)
    rows["xn"] += list((batch - batch.mean(axis=0)) / root)
    rows["root"] += [root] * length
    at += length
write("case04_forward.in.chron", {"batch_end": ends_of(lengths) + [False] * 2, "x": x})
write("case04_forward.out.chron", emitted({name: r + [UNDETERMINED] * 2 for name, r in rows.items()}))

lengths = [int(n) for n in random.integers(1, 8, 20)]
x, gt = vectors(random, sum(lengths), 2), vectors(random, sum(lengths), 2)
p = [np.array([0.7, -0.4]), np.ones(2), np.zeros(2)]
_, g = gradients(p, np.array(x[:6]), np.array(gt[:6]))
check_gradient(lambda: 0.5 * np.sum((forward(p, np.array(x[:6])) - np.array(gt[:6])) ** 2), p, g)
rows = {"y": [], "w": [], "gamma": [], "beta": []}
at = 0
for length in lengths:
    here = slice(at, at + length)
    y, g = gradients(p, np.array(x[here]), np.array(gt[here]))
    rows["y"] += list(y)
    for name, v in zip(["w", "gamma", "beta"], p):
        rows[name] += [v] * length
    p = [v - RATE * d for v, d in zip(p, g)]
    at += length
write("case04_train.in.chron", {"batch_end": ends_of(lengths), "x": x, "gt": gt})
write("case04_train.out.chron", rows)
