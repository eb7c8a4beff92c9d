"""Common functions of the scripts beside this file: drawing inputs, writing chronograms, and a
check against PyTorch where it is installed (the stored values were written with 1.13)."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "figures"))
from chronogram import ABSENT, UNDETERMINED, write  # noqa: E402, F401

try:
    import torch
except ImportError:
    torch = None


def same(ours, theirs, tolerance=1e-12):
    """Two computations of the same numbers must agree."""
    np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=tolerance, atol=tolerance)


def tensor(value, gradient=False):
    return torch.tensor(np.asarray(value, dtype=np.float64), requires_grad=gradient)


def uniform(random, *shape):
    return np.round(random.uniform(-2, 2, shape), 2)
