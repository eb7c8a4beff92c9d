"""Expected values of nodes that compute the same as an operator of ONNX, by the reference evaluator
of the `onnx` package. The exception is the norm of order 1, for which the evaluator omits the
absolute values."""

import pathlib
import sys

import numpy as np
from common import uniform, write

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "operators"))
from expected_onnx import onnx  # noqa: E402


def gru(w, r, b, h, x):
    """One step; ONNX has the gates in the order update, reset, new."""
    order = [1, 0, 2]
    moved = [np.concatenate([np.split(v, 3)[k] for k in order]) for v in (w, r, b[:6], b[6:])]
    y = onnx("GRU", [x[None, None], moved[0][None], moved[1][None], np.concatenate(moved[2:])[None], None, h[None, None]],
             hidden_size=2, linear_before_reset=0, outputs=2)
    return y[1][0, 0]


def affine_grid(theta, *extents, align_corners=0):
    """The grid of ONNX's AffineGrid, in f32. Coordinates begin with that of the last axis."""
    axes = [np.linspace(-1, 1, n) if align_corners and n > 1 else -1 + (1 + 2 * np.arange(n)) / n - align_corners for n in extents]
    places = np.stack([*np.meshgrid(*axes, indexing="ij")[::-1], np.ones(extents)], -1)
    y = np.einsum("nij,...j->n...i", theta, places)
    exact = onnx("AffineGrid", [theta, np.array([len(theta), 1, *extents])], align_corners=align_corners)
    np.testing.assert_allclose(y, exact, rtol=1e-6, atol=1e-6)
    return y


def forms():
    random = np.random.default_rng(27)
    xs = [uniform(random, 24) * s for s in (1, 1, 3)]
    rows = {name: [] for name in ("gru", "unpooled", "grid", "outer", "volume", "unit1", "unit2", "reversed", "turned", "neighbours", "mel")}
    for x in xs:
        rows["gru"].append(gru(x[:12].reshape(6, 2), x[12:24].reshape(6, 2), x[6:18], x[20:22], x[22:24]))
        image = x.reshape(1, 2, 3, 4)
        pooled, places = onnx("MaxPool", [image], outputs=2, kernel_shape=[2, 2], strides=[1, 2])
        rows["unpooled"].append(onnx("MaxUnpool", [pooled, places, np.array([1, 2, 3, 4])], kernel_shape=[2, 2],
                                     strides=[1, 2]))
        theta = x[:12].reshape(2, 2, 3)
        rows["grid"].append(affine_grid(theta, 3, 4))
        rows["outer"].append(affine_grid(theta, 3, 1, align_corners=1))
        rows["volume"].append(affine_grid(x.reshape(2, 3, 4), 2, 3, 1))
        flat = np.where(np.arange(24) < 4, 0, x).reshape(6, 4)
        rows["unit1"].append(flat / np.maximum(np.abs(flat).sum(axis=1, keepdims=True), 1e-300))
        rows["unit2"].append(onnx("LpNormalization", [x.reshape(2, 12)], p=2, axis=0))
        rows["reversed"].append(onnx("ReverseSequence", [x.reshape(3, 4, 2), np.array([1, 4, 3])], batch_axis=0, time_axis=1))
        angles = x[:6].reshape(1, 3, 2)
        sequence = np.concatenate([x, x[::-1]])[:24].reshape(1, 2, 3, 4)
        for name, interleaved in (("turned", 0), ("neighbours", 1)):
            rows[name].append(onnx("RotaryEmbedding", [sequence, np.cos(angles), np.sin(angles)], opset=23, interleaved=interleaved))
        rows["mel"].append(onnx("MelWeightMatrix", [np.array(v) for v in (5, 32, 8000, 125.0, 3800.0)], output_datatype=11))
    write("onnx_forms.in.chron", {"x": xs})
    write("onnx_forms.out.chron", {name: [y.reshape(-1) for y in ys] for name, ys in rows.items()})


forms()
