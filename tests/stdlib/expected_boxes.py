"""Expected values of YOLO v3's decoding, cell by cell."""

import numpy as np
from common import uniform, write


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def decode(stride, anchors, x):
    batch, channels, height, width = x.shape
    each = channels // len(anchors)
    shape = (batch, len(anchors), height, width)
    boxes, objectness, classes = np.empty(shape + (4,)), np.empty(shape), np.empty(shape + (each - 5,))
    for b, a, i, j in np.ndindex(shape):
        tx, ty, tw, th, o, *c = x[b, a * each : (a + 1) * each, i, j]
        boxes[b, a, i, j] = ((j + sigmoid(tx)) * stride, (i + sigmoid(ty)) * stride, anchors[a][0] * np.exp(tw),
                             anchors[a][1] * np.exp(th))
        objectness[b, a, i, j], classes[b, a, i, j] = sigmoid(o), sigmoid(np.array(c))
    return boxes, objectness, classes


random = np.random.default_rng(18)
xs, ys = ([uniform(random, *shape) for _ in range(2)] for shape in ((2, 21, 2, 3), (1, 6, 1, 2)))
write("boxes.in.chron", {"x": xs, "y": ys})
large = [decode(32, [(116, 90), (156, 198), (373, 326)], x) for x in xs]
small = [decode(8, [(10, 13)], y) for y in ys]
names = ("boxes", "objectness", "classes"), ("small", "there", "one")
write("boxes.out.chron", {name: [row[k] for row in rows] for group, rows in zip(names, (large, small))
                              for k, name in enumerate(group)})
