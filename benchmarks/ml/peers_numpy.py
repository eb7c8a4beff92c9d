#!/usr/bin/env python3
"""NumPy and, for loops over samples, Numba: peers_numpy.py WORKLOAD KEY=VALUE …"""
from measure import main, pin, report, root, stream

pin()

import numpy as np

RATE = np.float32(0.01)


def mlp_train(B):
    count = 1024
    xs = (stream(1, (count, 784)) + 1) * np.float32(0.5)
    labels = ((stream(2, (count,)) + 1) * 5).astype(np.int64)
    w1, b1 = stream(3, (128, 784), root(784)).T.copy(), np.zeros(128, np.float32)
    w2, b2 = stream(5, (10, 128), root(128)).T.copy(), np.zeros(10, np.float32)
    rows, at = np.arange(B), [0]

    def step(x, label):
        a = np.maximum(x @ w1 + b1, 0)
        z = a @ w2 + b2
        z -= z.max(1, keepdims=True)
        e = np.exp(z)
        s = e.sum(1, keepdims=True)
        loss = (np.log(s[:, 0]) - z[rows, label]).mean()
        d2 = e / s
        d2[rows, label] -= 1
        d2 *= RATE / B
        d1 = (d2 @ w2.T) * (a > 0)
        w2[...] -= a.T @ d2
        b2[...] -= d2.sum(0)
        w1[...] -= x.T @ d1
        b1[...] -= d1.sum(0)
        return loss

    def run(n):
        for _ in range(n):
            k, at[0] = at[0] * B % count, at[0] + 1
            loss = step(xs[k:k + B], labels[k:k + B])
        return loss

    checksum = float(run(64)) + w1.sum(dtype=np.float64)
    report("mlp_train", "numpy", {"B": B}, "us/step", run, checksum)


def online(features=8):
    ring = 4096
    x, y = stream(1, (ring, features)), np.float32(0.01) * stream(2, (ring,))
    for k in range(features):
        y = (y + np.float32(k - 3.5) * x[:, k]).astype(np.float32)

    def in_numpy(n, w):
        for i in range(n):
            p = x[i % ring]
            w -= RATE * (w @ p - y[i % ring]) * p

    def compiled(fast):
        import numba

        @numba.njit(fastmath=fast)
        def learn(n, x, y, rate, w):
            for i in range(n):
                p = x[i & 4095]
                e = np.float32(0)
                for k in range(8):
                    e += w[k] * p[k]
                e = rate * (e - y[i & 4095])
                for k in range(8):
                    w[k] -= e * p[k]

        return lambda n, w: learn(n, x, y, RATE, w)

    variants = {"numpy": lambda: in_numpy, "numba": lambda: compiled(False), "numba_fastmath": lambda: compiled(True)}
    for name, variant in variants.items():
        try:
            learn = variant()
        except ImportError:
            continue
        w = np.zeros(features, np.float32)
        learn(10000, w)
        checksum = (w.astype(np.float64) * np.arange(1, features + 1)).sum()
        report("online", name, {"features": features}, "ns/sample", lambda n: learn(n, w), checksum, 1e3)


main({f.__name__: f for f in (mlp_train, online)})
