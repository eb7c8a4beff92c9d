#!/usr/bin/env python3
"""Writes large_numbers.in.chron and .out.chron: cases in which squares, differences or sums of
large numbers overflow, low frequencies leave few digits, or elements are infinite. The values
come from NumPy in f64, where none of this happens, and from numpy.quantile where that is not NaN.
Those of the regulator are worked out by hand: for one state with q = 0 and r = 1, p = a^2 - 1.

  expected_large_numbers.py
"""
import math
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
X = [[1e30, 2e30, 3e30, 4e30], [1.0, 2.0, 3.0, 4.0], [-3e25, 0.0, 4e25, 1.0], [1e18, 2e18, 3e18, 4e18]]
F = [0.001, 0.0001, 0.25, 0.4]
Q = [0.5, 0.25, 1.0, 0.75]
BIG = [1e308, -1e308, 1e308, math.inf]
A = [2.0, 3.0, -1.5, 0.5]
PREDICTED = [[0, 1, 1], [1, 1, 0], [0, 0, 0], [1, 0, 1]]
LABEL = [[0, 0, 1], [1, 0, 1], [0, 0, 1], [1, 1, 1]]
OPEN, WIDE = [1.0, 2.0, math.inf], [-math.inf, 1.0, 3.0, 8.0]


def lowpass(f):
    """The cookbook's formula, with 1 - cos as 2 sin^2 of the half angle."""
    angle = 2 * math.pi * f
    alpha = math.sin(angle) / (2 * 0.7071)
    b0 = math.sin(angle / 2) ** 2 / (1 + alpha)
    return [b0, 2 * b0, b0]


def quantile(q, x):
    """The quantile by NumPy if the neighbouring elements are finite; otherwise by its definition,
    in which an element with weight 0 is ignored."""
    at = q * (len(x) - 1)
    low = min(int(at), len(x) - 2)
    weight = at - low
    if weight in (0, 1):
        return sorted(x)[low + int(weight)]
    return sorted(x)[low] * (1 - weight) + sorted(x)[low + 1] * weight


def matrix(rows):
    return "[" + ";".join(",".join(str(int(n)) for n in row) for row in rows) + "]"


def vector(numbers):
    return "[" + ",".join(repr(float(n)) for n in numbers) + "]"


def write(name, rows):
    (HERE / name).write_text("".join(f"{row} | {' '.join(cells)}\n" for row, cells in rows.items()))


def main():
    write("large_numbers.in.chron", {
        "x": [vector(x) for x in X], "f": map(repr, F), "q": map(repr, Q), "big": map(repr, BIG),
        "a": [f"[{a}]" for a in A], "predicted": [matrix([p]) for p in PREDICTED], "label": [matrix([p]) for p in LABEL]})
    out = {name: [] for name in ("standard", "rooted", "deviation", "length", "passing", "between", "above", "average", "k", "p",
                                 "counts")}
    counts = np.zeros((2, 2))
    for t, row in enumerate(X):
        x = np.array(row)
        out["standard"].append(vector((x - x.mean()) / x.std()))
        out["rooted"].append(vector(x / np.sqrt(np.mean(x * x))))
        out["deviation"].append(repr(float(x.std())))
        out["length"].append(repr(float(np.sqrt(np.sum(x * x)))))
        out["passing"].append(vector(lowpass(F[t])))
        out["between"].append(repr(float(quantile(Q[t], OPEN))))
        out["above"].append(repr(float(quantile(Q[t], WIDE))))
        out["average"].append(repr(float(sum(b / (t + 1) for b in BIG[:t + 1]))))
        # A stable system needs no command if a state costs nothing.
        p = max(A[t] ** 2 - 1, 0.0)
        out["p"].append(f"[{p!r}]")
        out["k"].append(f"[{p * A[t] / (1 + p)!r}]")
        np.add.at(counts, (LABEL[t], PREDICTED[t]), 1)
        out["counts"].append(matrix(counts))
    write("large_numbers.out.chron", out)


main()
