"""Operators that ONNX defines, for make_expected.py, computed by the reference evaluator of the
`onnx` package.

Models of one node are made here with drawn operands; no file is read.
"""
import itertools

import numpy as np
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

rng = np.random.default_rng(20240307)
TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.float64): TensorProto.DOUBLE,
         np.dtype(np.int32): TensorProto.INT32, np.dtype(np.int64): TensorProto.INT64,
         np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.int8): TensorProto.INT8,
         np.dtype(np.int16): TensorProto.INT16, np.dtype(np.bool_): TensorProto.BOOL}


def onnx(op, operands, opset=22, outputs=1, **attributes):
    """The results of one node; an operand that is None is omitted."""
    names = ["" if x is None else f"x{k}" for k, x in enumerate(operands)]
    results = [f"y{k}" for k in range(outputs)]
    node = helper.make_node(op, names, results, **attributes)
    inputs = [helper.make_tensor_value_info(n, TYPES[x.dtype], x.shape) for n, x in zip(names, operands) if n]
    graph = helper.make_graph([node], "one", inputs,
                              [helper.make_tensor_value_info(r, TensorProto.UNDEFINED, None) for r in results])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    got = ReferenceEvaluator(model).run(None, {n: x for n, x in zip(names, operands) if n})
    return got[0] if outputs == 1 else got


COORDINATES = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "crop"]
NEAREST = {"nearest": "round_prefer_floor", "nearest_round_up": "round_prefer_ceil", "nearest_floor": "floor",
           "nearest_ceil": "ceil"}


def keys(d, a=-0.75):
    d = abs(d)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else 0.0


def matrix_of(n, size, mode="linear", coordinates="half_pixel", scale=None, start=0.0, end=1.0, cubic=-0.75, antialias=0,
              exclude_outside=0, value=0.0):
    """[size, n]: the weights of each element, in double precision, which ONNX's evaluator does
    not use."""
    ratio = scale if scale else size / n
    length = ratio * n
    m = np.zeros((size, n))
    for o in range(size):
        centre = (o + 0.5) / ratio - 0.5
        x = {"half_pixel": centre, "half_pixel_symmetric": n / 2 * (1 - size / length) + centre,
             "pytorch_half_pixel": centre if length > 1 else 0.0,
             "align_corners": o * (n - 1) / (length - 1) if length != 1 else 0.0, "asymmetric": o / ratio,
             "crop": start * (n - 1) + o * (end - start) * (n - 1) / (size - 1) if size > 1 else 0.5 * (start + end) * (n - 1)
             }[coordinates]
        if coordinates == "crop" and not 0 <= x <= n - 1:
            m[o] = np.nan
            continue
        if mode in NEAREST:
            at = {"nearest": np.ceil(x - 0.5), "nearest_round_up": np.floor(x + 0.5), "nearest_floor": np.floor(x),
                  "nearest_ceil": np.ceil(x)}[mode]
            m[o, int(min(max(at, 0), n - 1))] = 1
            continue
        wide = min(ratio, 1) if antialias else 1
        weights = {i: max(0.0, 1 - abs(i - x) * wide) if mode == "linear" else keys((i - x) * wide, cubic)
                   for i in range(-4 * n - 20, 5 * n + 20)}
        if exclude_outside:
            weights = {i: w for i, w in weights.items() if 0 <= i < n}
        total = sum(weights.values()) if antialias or exclude_outside else 1
        for i, w in weights.items():
            m[o, min(max(i, 0), n - 1)] += w / total
    return m


def resized(x, axis, size=None, mode="linear", coordinates="half_pixel", scale=None, **more):
    attributes = {"axes": [axis]}
    attributes["mode"] = "nearest" if mode in NEAREST else mode
    if mode in NEAREST:
        attributes["nearest_mode"] = NEAREST[mode]
    attributes["coordinate_transformation_mode"] = "tf_crop_and_resize" if coordinates == "crop" else coordinates
    roi = None
    if coordinates == "crop":
        roi = np.array([more.get("start", 0.0), more.get("end", 1.0)], np.float32)
        attributes["extrapolation_value"] = more.get("value", 0.0)
    for ours, theirs in (("cubic", "cubic_coeff_a"), ("antialias", "antialias"), ("exclude_outside", "exclude_outside")):
        if ours in more:
            attributes[theirs] = more[ours]
    scales = None if scale is None else np.array([scale], np.float32)
    sizes = None if scale is not None else np.array([size], np.int64)
    return onnx("Resize", [x, roi, scales, sizes], **attributes)


def resizes():
    for mode, where, (n, m) in itertools.product(["linear", "cubic", *NEAREST], COORDINATES,
                                                 [(4, 7), (5, 3), (3, 6), (4, 1), (1, 3), (3, 3)]):
        if (where, m) == ("pytorch_half_pixel", 1) and mode != "linear":
            continue  # skipped: the only coordinate is 0 according to the specification, but -0.5 in the evaluator
        yield n, {"mode": mode, "coordinates": where, "size": m}
    for mode, (n, m) in itertools.product(["linear", "cubic"], [(7, 3), (9, 2), (3, 7), (8, 5)]):
        for flags in ({"antialias": 1}, {"exclude_outside": 1}, {"antialias": 1, "exclude_outside": 1}):
            yield n, {"mode": mode, "size": m, **flags}
    for mode, where in itertools.product(["linear", "cubic", "nearest"], COORDINATES[:5]):
        for n, scale in ((4, 0.6), (5, 1.7), (3, 2.5)):
            yield n, {"mode": mode, "coordinates": where, "scale": scale, "size": int(np.floor(n * scale))}
    for start, end in ((0.2, 0.8), (0.5, 1.4), (-0.3, 0.6), (0.9, 0.1)):
        for mode in ("linear", "cubic", "nearest"):
            yield 5, {"mode": mode, "coordinates": "crop", "size": 4, "start": start, "end": end, "value": 10.0}
    yield 4, {"mode": "cubic", "cubic": -0.5, "size": 9}
    yield 4, {"mode": "cubic", "cubic": -0.5, "size": 3, "antialias": 1, "exclude_outside": 1}


def resizing(case):
    for k, (n, attributes) in enumerate(resizes()):
        if attributes.get("scale"):  # ONNX stores the scale in single precision
            attributes["scale"] = float(np.float32(attributes["scale"]))
        for name in ("start", "end"):
            if name in attributes:
                attributes[name] = float(np.float32(attributes[name]))
        shape, axis = [((n,), 0), ((2, n), -1), ((n, 3), 0), ((2, n, 2), 1)][k % 4]
        dtype = np.float64 if k % 3 else np.float32
        x = (np.round(rng.normal(size=shape) * 8) / 4).astype(dtype)
        matrix = matrix_of(n, **attributes)
        outside, value = np.isnan(matrix[:, 0]), attributes.get("value", 0.0)
        matrix[outside] = 0
        y = np.moveaxis(np.tensordot(matrix, x.astype(np.float64), (1, axis % x.ndim)), 0, axis)
        np.moveaxis(y, axis, 0)[outside] = value
        np.testing.assert_allclose(y, resized(x, axis % x.ndim, **attributes), rtol=1e-4, atol=1e-4)
        case("resize", [x], y.astype(dtype), 1e-3 if dtype == np.float32 else 1e-11, axis=axis, **attributes)
        g = np.round(rng.normal(size=(2, matrix.shape[0])) * 8) / 4
        case("sum_resize", [g], g @ matrix, 1e-11, axis=-1, **{**attributes, "size": n})
    whole = rng.integers(-9, 9, (2, 5)).astype(np.int32)
    case("resize", [whole], resized(whole.astype(np.float64), 1, 3, "nearest").astype(np.int32), axis=1, size=3,
         mode="nearest")
    case("resize", [np.zeros((2, 0))], np.zeros((2, 0)), axis=1, size=0)


def mirrored(x, low, high):
    while high > low and not low <= x <= high:
        x = 2 * low - x if x < low else 2 * high - x
    return x if high > low else low


def along(at, n, mode, padding, align):
    """Elements (None for a zero) and their weights along one axis."""
    x = (at + 1) / 2 * (n - 1) if align else ((at + 1) * n - 1) / 2
    low, high = (0, n - 1) if align else (-0.5, n - 0.5)
    x = np.rint(x) if mode == "nearest" else x
    if not low <= x <= high and padding != "zeros":
        x = min(max(x, 0), n - 1) if padding == "border" else mirrored(x, low, high)

    def inside(i):
        if 0 <= i < n or padding == "zeros":
            return i if 0 <= i < n else None
        return min(max(int(i if padding == "border" else mirrored(i, low, high)), 0), n - 1)

    base = int(np.floor(x))
    if mode == "nearest":
        return [(inside(int(np.rint(x))), 1)]
    if mode == "linear":
        return [(inside(base), base + 1 - x), (inside(base + 1), x - base)]
    return [(inside(base + k), keys(x - base - k)) for k in range(-1, 3)]


def sample(x, grid, mode, padding, align_corners):
    """Samples in double precision, which ONNX's evaluator does not use."""
    axes = x.ndim - 2
    y = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for at in np.ndindex(grid.shape[:-1]):
        ways = [along(grid[at][axes - 1 - k], x.shape[2 + k], mode, padding, align_corners) for k in range(axes)]
        for way in itertools.product(*ways):
            if all(i is not None for i, _ in way):
                y[(at[0], slice(None), *at[1:])] += x[(at[0], slice(None), *[i for i, _ in way])] * np.prod([w for _, w in way])
    return y


def sampling(case):
    """Adjoints come from the matrix of the map from x, and from differences along the grid."""
    shapes = [((1, 2, 3, 4), (1, 2, 3, 2)), ((2, 1, 3, 3), (2, 1, 4, 2)), ((1, 1, 3, 2, 3), (1, 2, 1, 2, 3))]
    kinds = itertools.product(["linear", "nearest", "cubic"], ["zeros", "border", "reflection"], [0, 1], shapes)
    for k, (mode, padding, align, (shape, places)) in enumerate(kinds):
        x = np.round(rng.normal(size=shape) * 8) / 4
        grid = rng.uniform(-1.8, 1.8, places) if k % 2 else rng.uniform(-1, 1, places)
        at = {"mode": mode, "padding": padding, "align_corners": align}
        y = sample(x, grid, **at)
        if mode != "cubic" or len(shape) == 4:
            theirs = onnx("GridSample", [x, grid], mode=mode, padding_mode=padding, align_corners=align)
            np.testing.assert_allclose(y, theirs, rtol=1e-4, atol=1e-4)
        case("grid_sample", [x, grid], y, 1e-10, **at)
        single = grid.astype(np.float32)
        case("grid_sample", [x.astype(np.float32), single], sample(x, np.float64(single), **at).astype(np.float32), 1e-4, **at)
        g = np.round(rng.normal(size=y.shape) * 8) / 4
        adjoint = [np.sum(g * sample(e.reshape(shape), grid, **at)) for e in np.eye(x.size)]
        case("sum_grid_sample", [g, grid], np.reshape(adjoint, shape), 1e-10, shape=list(shape), **at)
        h = 1e-6
        slope = [np.sum(g * (sample(x, grid + e.reshape(places), **at) - sample(x, grid - e.reshape(places), **at))) / (2 * h)
                 for e in np.eye(grid.size) * h]
        case("grid_sample_gradient", [x, grid, g], np.reshape(slope, places), 1e-6, **at)


def nothing(case):
    """Reductions of no elements."""
    for dtype in (np.float32, np.float64, np.int32, np.int64, np.uint8, np.int8):
        for op in ("min", "max", "sum", "prod"):
            for shape, axis in (((2, 0, 3), 1), ((0,), 0), ((0, 2), 1)):
                x = np.zeros(shape, dtype)
                y = onnx(f"Reduce{op.capitalize()}", [x, np.array([axis])], keepdims=0)
                case(op, [x], y.astype(dtype), axis=axis)


def write(case):
    nothing(case)
    resizing(case)
    sampling(case)
