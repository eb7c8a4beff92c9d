"""Expected values of YOLO's boxes from its paper, intersection over union, and non-maximum
suppression, by NumPy and SciPy."""

import numpy as np
from groups import INF, NAN, Group, Series
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


def ratio(a, b):
    """Intersection over union of two boxes."""
    width, height = (max(0.0, min(a[k + 2], b[k + 2]) - max(a[k], b[k])) for k in (0, 1))
    sizes = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    either = sum(sizes) - width * height
    return width * height / either if width * height else 0.0


def shared(a, b):
    return np.array([[[ratio(p, q) for q in others] for p in boxes] for boxes, others in zip(a, b)])


def suppressed(n, threshold):
    """Box by box in the order of scores; a box is dropped if it overlaps too much with one
    that is kept."""

    def run(boxes, scores):
        out = []
        for row, score in zip(boxes, scores):
            kept = []
            for i in np.argsort(-score, kind="stable"):
                if score[i] > -INF and all(ratio(row[i], row[j]) <= threshold for j in kept):
                    kept.append(i)
            kept = kept[:n]
            out.append((np.array(kept + [0] * (n - len(kept))), np.arange(n) < len(kept)))
        return tuple(np.array(part) for part in zip(*out))

    return run


def once(boxes, scores):
    """The first step of the suppression: its choice, and the scores of the remaining boxes."""
    out = []
    for row, score in zip(boxes, scores):
        best = np.argmax(score)
        left = [-INF if i == best or ratio(row[i], row[best]) > 0.3 else s for i, s in enumerate(score)]
        out.append((left, best if score[best] > -INF else 0, score[best] > -INF))
    return tuple(np.array(part) for part in zip(*out))


BOXES = [
    Series("shared", "detection.iou(boxes, boxes[:2])", lambda boxes: shared(boxes, boxes[:, :2])),
    Series("areas", "detection.area(boxes)", lambda boxes: (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])),
    Series("whole, widths", "centred(boxes)", lambda boxes: (boxes, boxes[..., 2:] - boxes[..., :2])),
    Series("strict, there", "detection.nms(5, 0.1, boxes, scores)", suppressed(5, 0.1)),
    Series("loose, thus", "detection.nms(3, 0.5, boxes, scores)", suppressed(3, 0.5)),
    Series("left, at, found", "detection.next_box(scores, 0, 0.3, boxes)", once),
]
CENTRED = """node centred(boxes) -> (c, widths)
  upper, lower = linalg_halves(boxes);
  widths = lower - upper;
  c = detection.corners(concat(0.5 * (upper + lower), widths, axis=1));

node linalg_halves(boxes) -> (upper, lower)
  upper = boxes[:, :2];
  lower = boxes[:, 2:];
""".replace("linalg_halves", "halves")
YOLO = [Series("boxes, objectness, classes", "detection.yolo(8.0, [[10.0, 20.0], [30.0, 5.0]], x)", yolo)]
random = np.random.default_rng(131)


def drawn(*shape):
    return np.round(random.uniform(-2, 2, shape), 2)


def boxes_of(n):
    corner = later.uniform(0, 3, (n, 2))
    return np.round(np.concatenate([corner, corner + later.uniform(0.5, 3, (n, 2))], 1), 2)


later = np.random.default_rng(132)
GROUPS = [
    Group("detection_yolo", "ordinary", "NumPy", {"x": [drawn(1, 12, 2, 3) for _ in range(2)]}, YOLO, {"f32": "1e-4", "f64": "1e-11"}),
    Group("detection_yolo_edges", "edge", "NumPy",
          {"x": [np.zeros((1, 12, 1, 1)), np.full((1, 12, 1, 1), 1000.0), np.full((1, 12, 1, 1), -1000.0), np.full((1, 12, 1, 1), NAN)]},
          YOLO, {"f32": "1e-4", "f64": "1e-11"}),
    Group("detection_boxes", "ordinary", "NumPy", {"boxes": [boxes_of(8) for _ in range(4)], "scores": [np.round(later.uniform(0, 1, 8), 2) for _ in range(4)]},
          BOXES, nodes=CENTRED),
    Group("detection_boxes_edges", "edge", "NumPy",
          {"boxes": [np.zeros((4, 4)), np.array([[0.0, 0, 1, 1]] * 4), np.array([[0.0, 0, 1, 1], [1, 0, 2, 1], [0, 0, 1e4, 1e4], [5, 5, 5, 9]]),
                     np.array([[-3.0, -3, -1, -1], [-2, -2, 0, 0], [-3, -3, 0, 0], [7, 7, 8, 8]])],
           "scores": [np.array(v) for v in ([0.5, 0.5, 0.5, 0.5], [0.1, 0.4, 0.4, 0.2], [1.0, -INF, 2.0, 3.0], [-INF, -INF, -INF, -INF])]},
          BOXES, nodes=CENTRED),
]
