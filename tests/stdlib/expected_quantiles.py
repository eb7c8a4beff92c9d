"""Expected values of quantiles, by NumPy; norms of windows and an LSTM cell with peepholes from
their definitions."""

import numpy as np
from common import uniform, write


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def windows(x, p):
    """Windows of two elements at distance one, with stride two and one zero before; those that
    begin within x."""
    padded = np.concatenate([np.zeros((2, 1)), x, np.zeros((2, 3))], axis=1)
    return np.stack([np.sum(np.abs(padded[:, [k, k + 2]]) ** p, axis=1) ** (1 / p) for k in (0, 2, 4)], axis=1)


def cell(kernel, recurrent, peephole, bias, h, c, x):
    z = (kernel @ x + recurrent @ h + bias).reshape(4, 3)
    c_next = sigmoid(z[1] + peephole[1] * c) * c + sigmoid(z[0] + peephole[0] * c) * np.tanh(z[2])
    return sigmoid(z[3] + peephole[2] * c_next) * np.tanh(c_next), c_next


random = np.random.default_rng(21)
qs = [0.0, 0.1, 0.5, 0.8, 1.0]
given = {"q": qs}
for name, shape in {"x": (2, 5), "weights": (12, 3), "peephole": (3, 3), "h": (3,), "c": (3,)}.items():
    given[name] = [uniform(random, *shape) for _ in qs]
cells = [cell(w[:, :2], w, p, w[:, 2], h, c, x[0, :2])
         for x, w, p, h, c in zip(*[given[n] for n in ("x", "weights", "peephole", "h", "c")])]
write("quantiles.in.chron", given)
write("quantiles.out.chron", {
    "quantile": [np.quantile(x, q, axis=1) for q, x in zip(qs, given["x"])],
    "single": [x[0, 1] for x in given["x"]],
    "windows": [windows(x, 3) for x in given["x"]],
    "h_next": [h for h, _ in cells],
    "c_next": [c for _, c in cells],
})
