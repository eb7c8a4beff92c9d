"""Common functions of the scripts beside this file: drawing inputs and writing chronograms."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "figures"))
from chronogram import ABSENT, UNDETERMINED, check_gradient, write  # noqa: E402, F401


def generator(seed):
    return np.random.default_rng(seed)


def emitted(rows):
    """Rows are written in cycle order, so the first undetermined cell withholds all rows that
    follow."""
    cycles = len(next(iter(rows.values())))
    known = next((n for n in range(cycles) if any(r[n] is UNDETERMINED for r in rows.values())), cycles)
    return {name: list(r[:known]) + [UNDETERMINED] * (cycles - known) for name, r in rows.items()}


def wave(n, phase):
    """Known weights, as the node of this name in the tests computes them."""
    return 0.4 * np.sin(phase + 0.7 * np.arange(n))


def ends_of(lengths):
    return [n == length - 1 for length in lengths for n in range(length)]


def vectors(random, cycles, size):
    return [np.round(v, 2) for v in random.uniform(-1, 1, (cycles, size))]
