"""What ONNX defines, for make_expected.py: computed by the reference evaluator of the `onnx` package.

Models of one node are made here, with operands of ours; nothing is read from anywhere.
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
    """The results of one node; an operand that is None is left out."""
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
        if attributes.get("scale"):  # in single precision, as ONNX has it
            attributes["scale"] = float(np.float32(attributes["scale"]))
        for name in ("start", "end"):
            if name in attributes:
                attributes[name] = float(np.float32(attributes[name]))
        shape, axis = [((n,), 0), ((2, n), -1), ((n, 3), 0), ((2, n, 2), 1)][k % 4]
        dtype = np.float64 if k % 3 else np.float32
        x = (np.round(rng.normal(size=shape) * 8) / 4).astype(dtype)
        close = 2e-6 if dtype == np.float32 else 1e-12
        case("resize", [x], resized(x, axis % x.ndim, **attributes), close, axis=axis, **attributes)
        matrix = np.stack([resized(e, 0, **{**attributes, "value": 0.0}) for e in np.eye(n)])  # [n, m]
        g = (np.round(rng.normal(size=(2, matrix.shape[1])) * 8) / 4)
        case("sum_resize", [g], g @ matrix.T, 1e-12, axis=-1, **{**attributes, "size": n})
    whole = rng.integers(-9, 9, (2, 5)).astype(np.int32)
    case("resize", [whole], resized(whole.astype(np.float64), 1, 3, "nearest").astype(np.int32), axis=1, size=3,
         mode="nearest")
    case("resize", [np.zeros((2, 0))], np.zeros((2, 0)), axis=1, size=0)


def sampling(case):
    """Adjoints are taken from the matrix of the map from x, and from differences along the grid."""
    shapes = [((1, 2, 3, 4), (1, 2, 3, 2)), ((2, 1, 3, 3), (2, 1, 4, 2)), ((1, 1, 3, 2, 3), (1, 2, 1, 2, 3))]
    kinds = itertools.product(["linear", "nearest", "cubic"], ["zeros", "border", "reflection"], [0, 1], shapes)
    for k, (mode, padding, align, (shape, places)) in enumerate(kinds):
        if mode == "cubic" and len(shape) == 5:
            continue
        x = np.round(rng.normal(size=shape) * 8) / 4
        grid = rng.uniform(-1.8, 1.8, places) if k % 2 else rng.uniform(-1, 1, places)
        attributes = {"mode": mode, "padding": padding, "align_corners": align}

        def sample(x, grid):
            return onnx("GridSample", [x, grid], mode=mode, padding_mode=padding, align_corners=align)

        y = sample(x, grid)
        case("grid_sample", [x, grid], y, 1e-11, **attributes)
        case("grid_sample", [x.astype(np.float32), grid.astype(np.float32)], sample(x, np.float64(np.float32(grid))).astype(np.float32), 1e-4, **attributes)
        g = np.round(rng.normal(size=y.shape) * 8) / 4
        adjoint = np.zeros(x.size)
        for i in range(x.size):
            one = np.zeros(x.size)
            one[i] = 1
            adjoint[i] = np.sum(g * sample(one.reshape(shape), grid))
        case("sum_grid_sample", [g, grid], adjoint.reshape(shape), 1e-11, shape=list(shape), **attributes)
        slope, h = np.zeros(grid.size), 1e-5
        for i in range(grid.size):
            moved = []
            for by in (h, -h):
                near = grid.reshape(-1).copy()
                near[i] += by
                moved.append(np.sum(g * sample(x, near.reshape(grid.shape))))
            slope[i] = (moved[0] - moved[1]) / (2 * h)
        case("grid_sample_gradient", [x, grid, g], slope.reshape(grid.shape), 1e-6, **attributes)


def write(case):
    resizing(case)
    sampling(case)
