"""Expected values of further activations, normalisations and losses, by NumPy and SciPy."""

import numpy as np
from common import uniform, write
from scipy import special


def sparsemax(x):
    """The projection onto the simplex according to its definition, found by sorting."""
    z = np.sort(x)[::-1]
    k = np.arange(1, len(x) + 1)
    size = k[1 + k * z > np.cumsum(z)].max()
    return np.maximum(x - (z[:size].sum() - 1) / size, 0)


ACTIVATIONS = {
    "elu_with": lambda x: np.where(x > 0, x, 1.5 * np.expm1(np.minimum(x, 0))),
    "celu": lambda x: np.maximum(x, 0) + np.minimum(0, 1.5 * np.expm1(np.minimum(x, 0) / 1.5)),
    "thresholded_relu": lambda x: np.where(x > 0.5, x, 0),
    "hard_sigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "hard_swish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "swish": lambda x: x * special.expit(1.5 * x),
    "gelu_exact": lambda x: x * special.ndtr(x),
    "shrink": lambda x: np.where(x < -1, x + 0.5, np.where(x > 1, x - 0.5, 0)),
    "glu": lambda x: x[:2] * special.expit(x[2:]),
    "swiglu": lambda x: x * special.expit(x) * x[::-1],
    "hardmax": lambda x: np.eye(4)[np.argmax(x)],
    "sparsemax": sparsemax,
}


def activations():
    random = np.random.default_rng(11)
    xs = [uniform(random, 4) * s for s in (0.2, 0.5, 1, 2, 5, 50)]
    xs += [np.array(v) for v in ([1.0, 1.0, 1.0, 1.0], [0.5, 0.5, -3.0, 0.25], [0.0, 0.0, 0.0, -0.0], [500.0, -500.0, 499.5, 1.0])]
    write("further_activations.in.chron", {"x": xs})
    write("further_activations.out.chron", {name: [f(x) for x in xs] for name, f in ACTIVATIONS.items()})


def standardised(x, axes, epsilon):
    return (x - x.mean(axis=axes, keepdims=True)) / np.sqrt(x.var(axis=axes, keepdims=True) + epsilon)


def normalisations():
    random = np.random.default_rng(12)
    train = [True, True, False, True, False]
    xs = [uniform(random, 2, 4, 3) for _ in train]
    xs[1][0, :2] = 0.5  # makes a group of equal elements
    group = [standardised(x.reshape(2, 2, 6), 2, 1e-5).reshape(2, 4, 3) for x in xs]
    average, variance, momentum, batch = np.zeros((1, 4, 1)), np.ones((1, 4, 1)), 0.25, []
    for t, x in zip(train, xs):
        if t:
            batch.append(standardised(x, (0, 2), 1e-5))
            average = average + momentum * (x.mean(axis=(0, 2), keepdims=True) - average)
            variance = variance + momentum * (x.var(axis=(0, 2), keepdims=True, ddof=1) - variance)
        else:
            batch.append((x - average) / np.sqrt(variance + 1e-5))
    rows = {
        "group": group,
        "instance": [standardised(x, 2, 1e-5) for x in xs],
        "rms": [x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5) for x in xs],
        "batch": batch,
    }
    write("normalisations.in.chron", {"train": train, "x": [x.reshape(2, 12) for x in xs]})
    write("normalisations.out.chron", {name: [y.reshape(2, 12) for y in ys] for name, ys in rows.items()})


def losses():
    random = np.random.default_rng(13)
    logits = [s * uniform(random, 3, 4) for s in (1, 10, 1000)]
    labels = [np.array(v, np.int32) for v in ([0, 2, 3], [1, -1, 1], [3, 3, -1])]
    weights = np.array([1.0, 0.5, 2.0, 3.0])
    terms, ws = [], []
    for x, k in zip(logits, labels):
        w = np.where(k >= 0, weights[k], 0)
        own = np.take_along_axis(special.log_softmax(x, axis=1), np.maximum(k, 0)[:, None], 1)[:, 0]
        terms.append(-w * own + 0.0), ws.append(w)
    p = [np.array(v) for v in ([0.25, 0.5, 0.75], [0.0, 1.0, 1.0], [0.0, 1.0, 0.5])]
    t = [np.array(v) for v in ([0.0, 1.0, 0.5], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0])]
    write("further_losses.in.chron", {"logits": logits, "label": labels, "p": p, "t": t})
    write("further_losses.out.chron", {
        "ce": [a.sum() / b.sum() for a, b in zip(terms, ws)],
        "terms": terms,
        "w": ws,
        "bce": [np.mean(-b * np.log(np.maximum(a, 1e-37)) - (1 - b) * np.log(np.maximum(1 - a, 1e-37)))
                for a, b in zip(p, t)],
    })


activations()
normalisations()
losses()
