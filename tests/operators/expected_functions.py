"""Cases for make_expected.py: functions, bits, bounds, the softmax family, further reductions.

The values are those of NumPy and SciPy. The script has its own generator of random numbers, so
cases of other families do not depend on it.
"""
import math
import pathlib
import sys

import numpy as np
from scipy import special

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "micro_batches"))
from tree_sum import tree_sum

FLOATS = {"f32": np.float32, "f64": np.float64}
INTEGERS = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
SHAPES = [(), (5,), (2, 3), (2, 1, 3), (0, 3)]
PAIRS = [((), ()), ((3,), ()), ((), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((0, 3), (3,))]
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, 20.0, -20.0, 800.0, -800.0, 1e-10, 1e-30, math.inf, -math.inf, math.nan]
rng = np.random.default_rng(41)


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


FUNCTIONS = {"log1p": np.log1p, "expm1": np.expm1, "log2": np.log2, "log10": np.log10, "exp2": np.exp2, "tan": np.tan,
             "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
             "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "erf": special.erf, "erfc": special.erfc,
             "cbrt": np.cbrt, "softplus": softplus, "rsqrt": lambda x: 1 / np.sqrt(x)}
EXACT = {"reciprocal": lambda x: 1 / x, "square": np.square, "trunc": np.trunc}
TESTS = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}


def draw(dtype, shape):
    return (rng.normal(size=shape) * 2).astype(dtype)


def functions(case):
    for name, dtype in FLOATS.items():
        close = 2e-6 if name == "f32" else 4e-15
        edges = np.array(EDGES, dtype)
        operands = [draw(dtype, shape) for shape in SHAPES] + [edges]
        for op, f in FUNCTIONS.items():
            for x in operands:
                # Computed in f64 and rounded once; the C library's own f32 functions are within
                # one unit of that.
                case(op, [x], np.asarray(f(x.astype(np.float64))).astype(dtype), close)
        for op, f in {**EXACT, **TESTS}.items():
            for x in operands:
                case(op, [x], f(x))
        for a, b in PAIRS:
            a, b = draw(dtype, a), draw(dtype, b)
            case("atan2", [a, b], np.arctan2(a, b), close)
            case("hypot", [a, b], np.hypot(a, b), close)
            case("copysign", [a, b], np.copysign(a, b))
            case("floor_mod", [a, b], np.remainder(a, b))
        a, b = edges[:, None], edges[[0, 1, 2, 3, 4, 13, 14, 15]]
        case("copysign", [a, b], np.copysign(a, b))
        case("atan2", [a, b], np.arctan2(a, b), close)
        case("hypot", [a, b], np.hypot(a, b), close)
        case("floor_mod", [a, b], np.remainder(a, b))
        large = np.array([3e300 if name == "f64" else 3e30], dtype)
        case("hypot", [large, large], np.hypot(large, large), close)


def bits(case, fault):
    for name, dtype in INTEGERS.items():
        info = np.iinfo(dtype)
        edges = np.array([info.min, info.min + 1, -1 if info.min < 0 else info.max, 0, 1, 2, 7, info.max - 1, info.max],
                         dtype)
        a, b = edges[:, None], edges
        case("bitwise_and", [a, b], a & b)
        case("bitwise_or", [a, b], a | b)
        case("bitwise_xor", [a, b], a ^ b)
        case("bitwise_not", [edges], ~edges)
        case("square", [edges], edges * edges)
        by = np.array([v for v in [0, 1, 3, info.bits - 1, info.bits, info.bits + 1, info.max, info.min]], dtype)
        width = info.bits

        def shifted(x, n, up):
            x, n = int(x), int(n)
            if up:
                return (x << n) % (1 << width) if 0 <= n < width else 0
            return x >> n if 0 <= n < width else (-1 if x < 0 else 0)

        for op, up in (("left_shift", True), ("right_shift", False)):
            values = [[shifted(x, n, up) for n in by] for x in edges]
            values = [[v - (1 << width) if v > info.max else v for v in row] for row in values]
            case(op, [a, by], np.array(values, dtype))
        divisors = np.array([v for v in [1, 2, 3, info.max, info.min, -1, -3] if v and v >= info.min], dtype)
        case("floor_mod", [a, divisors], np.array([[int(x) % int(d) for d in divisors] for x in edges], dtype))
        fault("floor_mod", [edges, np.zeros((), dtype)], 1)
        case("floor_mod", [np.zeros((0,), dtype), np.zeros((), dtype)], np.zeros((0,), dtype))
        x = rng.integers(info.min, info.max, (2, 3), dtype=dtype, endpoint=True)
        case("clip", [x, dtype(1), dtype(5)], np.minimum(np.maximum(x, dtype(1)), dtype(5)))
        case("clip", [x, dtype(5), dtype(1)], np.full_like(x, 1))
    for a, b in PAIRS:
        a, b = rng.integers(0, 2, a).astype(bool), rng.integers(0, 2, b).astype(bool)
        case("logical_xor", [a, b], a ^ b)


def bounds(case):
    for dtype in FLOATS.values():
        x = np.array(EDGES, dtype)
        for low, high in ((-1, 2), (-math.inf, 0.5), (2, -2), (math.nan, 1)):
            case("clip", [x, dtype(low), dtype(high)], np.minimum(np.maximum(x, dtype(low)), dtype(high)))
        x, low = draw(dtype, (2, 3)), draw(dtype, (3,))
        high = (np.abs(draw(dtype, (2, 1))) + 2).astype(dtype)
        case("clip", [x, low, high], np.minimum(np.maximum(x, low), high))


def axes_of(shape):
    axes = [None, *range(-1, len(shape))] if shape else [None]
    return axes + ([[0, -1]] if len(shape) >= 3 else [])


def along(axis):
    return tuple(axis) if isinstance(axis, list) else axis


def reductions(case):
    for name, dtype in {**FLOATS, **INTEGERS}.items():
        close = {"f32": 4e-6, "f64": 1e-14}.get(name, 0.0)
        for shape in ((), (4,), (2, 3), (2, 3, 2), (3, 0)):
            x = draw(dtype, shape) if name in FLOATS else rng.integers(0, 5, shape).astype(dtype)
            for axis in axes_of(shape):
                for keep in (0, 1):
                    at = {} if axis is None else {"axis": axis}
                    if keep:
                        at["keepdims"] = 1
                    to = {"axis": along(axis), "keepdims": bool(keep)}
                    case("prod", [x], np.prod(x, dtype=dtype, **to), close, **at)
                    case("count_nonzero", [x], np.asarray(np.count_nonzero(x, **to)).astype(np.int32), **at)
                    if name not in FLOATS:
                        continue
                    wide = x.astype(np.float64)
                    for ddof in (0, 1):
                        more = {**at, "ddof": ddof} if ddof else at
                        case("var", [x], np.var(wide, ddof=ddof, **to).astype(dtype), close, **more)
                        case("std", [x], np.std(wide, ddof=ddof, **to).astype(dtype), close, **more)
                    with_sum = np.log(np.sum(np.exp(wide), **to)).astype(dtype)
                    case("logsumexp", [x], with_sum, close, **at)
                    for p in (1, 2, 3, 1.5):
                        value = np.sum(np.abs(wide) ** p, **to) ** (1 / p)
                        case("norm", [x], value.astype(dtype), close, **at, **({} if p == 2 else {"ord": p}))
                    if x.size:
                        value = np.max(np.abs(x), **to)
                        case("norm", [x], np.asarray(value), ord="inf", **at)
    for shape in ((), (4,), (2, 3), (2, 3, 2), (3, 0)):
        x = rng.integers(0, 4, shape) > 0
        for axis in axes_of(shape):
            at = {} if axis is None else {"axis": axis}
            for op, f in (("all", np.all), ("any", np.any)):
                case(op, [x], np.asarray(f(x, axis=along(axis))), **at)
                case(op, [~x], np.asarray(f(~x, axis=along(axis), keepdims=True)), keepdims=1, **at)
            case("count_nonzero", [x], np.asarray(np.count_nonzero(x, axis=along(axis))).astype(np.int32), **at)
    for dtype in FLOATS.values():
        extreme = np.array([[1000, 1000], [-1000, -2000], [math.inf, 1], [-math.inf, -math.inf], [math.nan, 0]], dtype)
        case("logsumexp", [extreme], special.logsumexp(extreme, axis=1).astype(dtype), 1e-6, axis=1)
        zeros = np.array([[0, 2, 3], [0, 0, 5], [math.nan, 0, 1]], dtype)
        case("prod", [zeros], np.prod(zeros, axis=1), axis=1)
        case("count_nonzero", [zeros], np.count_nonzero(zeros, axis=1).astype(np.int32), axis=1)
        x = draw(dtype, (2, 3))
        y = np.sum(np.abs(x) ** 3, axis=1, keepdims=True) ** dtype(1 / 3)
        case("norm_slope", [x, y.astype(dtype)], np.sign(x) * (np.abs(x) / y) ** 2, 1e-5, axis=1, ord=3)
        case("norm_slope", [x, np.ones(1, dtype)], x, 1e-6)
        for p in (1.5, 2, 3):
            case("norm_slope", [x, y.astype(dtype)], (p - 1) * np.abs(x) ** (p - 2) / y.astype(dtype) ** (p - 1), 1e-5,
                 axis=1, ord=p, times=1)
        case("norm_slope", [x, y.astype(dtype)], np.zeros_like(x), axis=1, ord=1, times=1)
        case("norm_slope", [x, np.array([[2], [0]], dtype)], np.array([[0.5] * 3, [0] * 3], dtype), axis=1, times=1)
        for p in (1.5, 2, 4):
            case("norm_slope", [x, y.astype(dtype)], (p - 1) * (p - 2) * np.sign(x) * np.abs(x) ** (p - 3) /
                 y.astype(dtype) ** (p - 1), 1e-5, axis=1, ord=p, times=2)
        for axes, order in (([0], [1, 2, 0]), ([2, 0], [1, 0, 2]), ([-1], [0, 1, 2])):
            whole = np.arange(24, dtype=dtype).reshape(2, 3, 4)
            kept = [n for k, n in enumerate(whole.shape) if k not in [a % 3 for a in axes]]
            last = whole.transpose(order).reshape([*kept, -1])
            case("axes_last", [whole], last, axis=axes)
            case("axes_back", [last], whole, shape=list(whole.shape), axis=axes)


def last_places(case):
    for dtype in (np.int32, np.float64):
        for shape in ((7,), (3, 4), (2, 3, 4)):
            x = rng.integers(0, 3, shape).astype(dtype)
            for axis in [None, *range(len(shape))]:
                for keep in (0, 1):
                    at = {"last": 1, **({} if axis is None else {"axis": axis}), **({"keepdims": 1} if keep else {})}
                    for op, f in (("argmax", np.argmax), ("argmin", np.argmin)):
                        back = f(np.flip(x, axis), axis=axis, keepdims=bool(keep))
                        count = x.size if axis is None else shape[axis]
                        case(op, [x], np.asarray(count - 1 - back).astype(np.int32), **at)
    x = np.array([math.nan, 5, math.nan, 7])
    for op in ("argmax", "argmin"):
        case(op, [x], np.int32(2), last=1)
        case(op, [x], np.int32(0))


def softmaxes(case):
    for name, dtype in FLOATS.items():
        close = 4e-6 if name == "f32" else 1e-14
        for shape in ((4,), (2, 3), (2, 3, 2), (0, 3), (3, 0)):
            x = draw(dtype, shape)
            for axis in axes_of(shape)[1:]:
                at = {} if axis == -1 else {"axis": axis}
                wide = x.astype(np.float64)
                empty = x.size == 0
                case("softmax", [x], x if empty else special.softmax(wide, axis=along(axis)).astype(dtype), close, **at)
                case("log_softmax", [x], x if empty else special.log_softmax(wide, axis=along(axis)).astype(dtype), close,
                     **at)
        x = np.array([[1000, 0, -1000], [0, -math.inf, 0], [math.nan, 0, 0], [-1e30, -1e30, -1e30]], dtype)
        case("softmax", [x], special.softmax(x, axis=-1).astype(dtype), close)
        case("log_softmax", [x], special.log_softmax(x, axis=-1).astype(dtype), close)


def trees(case):
    """Cases that must be equal to the bit. They use their own random numbers, so that other
    families do not change."""
    drawn = np.random.default_rng(43)
    for dtype in (np.int32, np.float32, np.float64):
        for shape in ((1,), (2,), (3,), (4,), (5, 2), (7,), (8, 3), (13, 2, 2), (16,), (3, 0)):
            x = (drawn.normal(size=shape) * 100).astype(dtype)
            case("tree_sum", [x], np.asarray(tree_sum(x)))
    x = np.array([[1e30, -0.0, math.inf], [1, -0.0, 1], [-1e30, -0.0, -math.inf]])
    case("tree_sum", [x], tree_sum(x))


def write(case, fault):
    functions(case)
    bits(case, fault)
    bounds(case)
    reductions(case)
    last_places(case)
    softmaxes(case)
    trees(case)
