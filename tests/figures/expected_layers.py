"""Writes the inputs and the expected rows of the paper's figures 9, 12 and 17: forward passes."""

import numpy as np
from chronogram import UNDETERMINED, write


def wave(n, phase):
    return 0.4 * np.sin(phase + 0.7 * np.arange(n))


def samples(generator, cycles, *shape):
    return [np.round(v, 2) for v in generator.uniform(-1.5, 1.5, (cycles, *shape))]


def figure9(generator):
    x = [float(v) for v in samples(generator, 12)]
    hidden, bias = wave(400, 0.3).reshape(100, 4), wave(100, 1.3)
    last, last_bias = wave(100, 0.3).reshape(1, 100), wave(1, 1.3)
    past = [0.0, 0.0, 0.0] + x
    windows = [np.array(past[n : n + 4][::-1]) for n in range(len(x))]
    outputs = [last @ np.maximum(hidden @ w + bias, 0.0) + last_bias for w in windows]
    write("fig09_timeseries.in.chron", {"x": x})
    write("fig09_timeseries_numeric.in.chron", {"x": x})
    write("fig09_timeseries_numeric.out.chron", {"w": windows, "o": outputs})


def figure12(generator):
    xs = samples(generator, 30, 2)
    xs[3] = np.array([0.0, 0.0])  # this input selects no expert
    kept = np.zeros(2)
    outputs = []
    for x in xs:
        g1, g2, g3 = max(x[0], 0.0), max(x[1] - x[0], 0.0), max(x[1] - 0.5, 0.0)
        o = np.zeros(2)
        if g1 != 0:
            o = o + g1 * (2 * x + 1)
        if g2 != 0:
            kept = kept + x
            o = o + g2 * kept
        if g3 != 0:
            o = o + g3 * np.tanh(np.array([[1.0, -1.0], [0.5, 2.0]]) @ x)
        outputs.append(o)
    write("fig12_experts.in.chron", {"x": xs})
    write("fig12_experts.out.chron", {"o": outputs})


def normalised(batch):
    mean, var = np.mean(batch, axis=0), np.var(batch, axis=0)
    return mean, var, (batch - mean) / np.sqrt(var + 0.001)


def figure17(generator):
    lengths = [4, 1, 7, 2, 1, 5]
    ends, means, variances, ys, xs = [], [], [], [], []
    for length in lengths:
        batch = np.array(samples(generator, length, 3))
        mean, var, y = normalised(batch)
        xs += list(batch)
        ends += [False] * (length - 1) + [True]
        means += [mean] * length
        variances += [var] * length
        ys += list(y)
    write("fig17_batch_norm.in.chron", {"batch_end": ends, "x": xs})
    write("fig17_batch_norm.out.chron", {"mean": means, "var": variances, "y": ys})

    ends, ys, xs = [], [], []
    for length, ended in (3, True), (5, True), (4, False):
        batch = np.array(samples(generator, length))
        xs += [float(v) for v in batch]
        ends += [False] * (length - 1) + [ended]
        ys += list(normalised(batch)[2]) if ended else [UNDETERMINED] * length
    write("fig17_scalars.in.chron", {"batch_end": ends, "x": xs})
    write("fig17_scalars.out.chron", {"y": ys})


generator = np.random.default_rng(9)
figure9(generator)
figure12(generator)
figure17(generator)
