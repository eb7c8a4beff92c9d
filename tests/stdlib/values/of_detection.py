"""Boxes of YOLO from its paper, by NumPy and SciPy."""

import numpy as np
from groups import NAN, Group, Series
from scipy import special


def yolo(x, stride=8.0, anchors=((10.0, 20.0), (30.0, 5.0))):
    """Redmon and Farhadi, 2018, equation by equation."""
    cycles, batch, channels, height, width = x.shape
    each = channels // len(anchors)
    out = np.zeros((cycles, batch, len(anchors), height, width, each))
    for t, n, a, i, j in np.ndindex(out.shape[:-1]):
        cell = x[t, n, a * each:(a + 1) * each, i, j]
        with np.errstate(over="ignore"):
            out[t, n, a, i, j] = [stride * (special.expit(cell[0]) + j), stride * (special.expit(cell[1]) + i),
                                  anchors[a][0] * np.exp(cell[2]), anchors[a][1] * np.exp(cell[3]), *special.expit(cell[4:])]
    return out[..., :4], out[..., 4], out[..., 5:]


YOLO = [Series("boxes, objectness, classes", "detection.yolo(8.0, [[10.0, 20.0], [30.0, 5.0]], x)", yolo)]
random = np.random.default_rng(131)


def drawn(*shape):
    return np.round(random.uniform(-2, 2, shape), 2)


GROUPS = [
    Group("detection_yolo", "ordinary", "NumPy", {"x": [drawn(1, 12, 2, 3) for _ in range(2)]}, YOLO, {"f32": "1e-4", "f64": "1e-11"}),
    Group("detection_yolo_edges", "edge", "NumPy",
          {"x": [np.zeros((1, 12, 1, 1)), np.full((1, 12, 1, 1), 1000.0), np.full((1, 12, 1, 1), -1000.0), np.full((1, 12, 1, 1), NAN)]},
          YOLO, {"f32": "1e-4", "f64": "1e-11"}),
]
