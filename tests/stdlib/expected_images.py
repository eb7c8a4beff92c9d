"""Expected values of nodes of `spatial`, element by element from their definitions, compared with
PyTorch."""

import math

import numpy as np
from common import same, tensor, torch, uniform, write

N, ALPHA, BETA, BIAS = 2, 0.5, 0.75, 2.0


def response(x):
    y = np.empty_like(x)
    for c in range(x.shape[1]):
        around = x[:, max(0, c - (N - 1) // 2) : c + N // 2 + 1]
        y[:, c] = x[:, c] / (BIAS + ALPHA / N * np.sum(around**2, axis=1)) ** BETA
    return y


def moved(x, block, channel_of):
    """Makes blocks from channels: channel_of(k, i, j) is the channel with element (i, j) of
    the blocks of channel k."""
    _, c, h, w = x.shape
    y = np.empty((1, c // block**2, h * block, w * block))
    for k in range(y.shape[1]):
        for i in range(h * block):
            for j in range(w * block):
                y[0, k, i, j] = x[0, channel_of(k, i % block, j % block), i // block, j // block]
    return y


def to_depth(x, block):
    _, c, h, w = x.shape
    y = np.empty((1, c * block**2, h // block, w // block))
    for i in range(block):
        for j in range(block):
            for k in range(c):
                y[0, (i * block + j) * c + k] = x[0, k, i::block, j::block]
    return y


def triangle(d):
    return max(0.0, 1 - abs(d))


def keys(d, a=-0.75):
    d = abs(d)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else 0.0


def resized(x, m, weight):
    """Resizes the last axis to m elements; elements beyond the edge equal the edge."""
    n = x.shape[-1]
    y = np.zeros((*x.shape[:-1], m))
    for o in range(m):
        at = (o + 0.5) * n / m - 0.5
        for k in range(math.floor(at) - 1, math.floor(at) + 3):
            y[..., o] += weight(at - k) * x[..., min(max(k, 0), n - 1)]
    return y


def both(x, h, w, weight):
    return np.swapaxes(resized(np.swapaxes(resized(x, w, weight), -1, -2), h, weight), -1, -2)


def images():
    random = np.random.default_rng(8)
    xs = [uniform(random, 1, 4, 3, 4) for _ in range(3)]
    xs[2][0, 1] = 0
    windows = [x[:, :, :2].reshape(1, 4, 2, 2, 2).swapaxes(2, 3).reshape(1, 4, 2, 4) for x in xs]
    taller = [np.concatenate([x, x[:, :, :1]], axis=2) for x in xs]
    rows = {
        "average": [x.mean(axis=(2, 3)) for x in xs],
        "largest": [x.max(axis=(2, 3)) for x in xs],
        "norm": [np.sum(np.abs(x) ** 3, axis=(2, 3)) ** (1 / 3) for x in xs],
        "pooled": [np.sqrt(np.sum(w**2, axis=-1)) for w in windows],
        "response": [response(x) for x in xs],
        "apart": [moved(x, 2, lambda k, i, j: i * 2 + j + k) for x in xs],
        "shuffled": [moved(x, 2, lambda k, i, j: k * 4 + i * 2 + j) for x in xs],
        "together": [to_depth(x, 2) for x in taller],
        "near": [x.repeat(2, axis=2).repeat(2, axis=3) for x in xs],
        "linear": [both(x, 5, 3, triangle) for x in xs],
        "cubic": [both(x, 5, 9, keys) for x in xs],
    }
    write("images.in.chron", {"row": [x.reshape(-1) for x in xs]})
    write("images.out.chron", {name: [v.reshape(-1) for v in values] for name, values in rows.items()})
    if torch:
        F = torch.nn.functional
        for c, x in enumerate(map(tensor, xs)):
            same(rows["shuffled"][c], F.pixel_shuffle(x, 2))
            same(rows["linear"][c], F.interpolate(x, (5, 3), mode="bilinear", align_corners=False))
            same(rows["cubic"][c], F.interpolate(x, (5, 9), mode="bicubic", align_corners=False))
            same(rows["near"][c], F.interpolate(x, scale_factor=2))
            same(rows["norm"][c], torch.linalg.vector_norm(x, 3, dim=(2, 3)))


images()
