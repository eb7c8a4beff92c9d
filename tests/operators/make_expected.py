#!/usr/bin/env python3
"""Writes expected.json: the results of NumPy for the operators of the table.

One case per line: an operator, its operands, its attributes, the result, and a relative tolerance
(0: equal to the bit). The values are those of NumPy. Where the language differs on purpose
(wrapping division, saturating casts, negative integer powers), the rule is implemented here
again, independently of the C++. The random numbers are seeded, so every run writes the same file.
The Philox section computes random draws with its own implementation.
"""
import json
import math
import pathlib

import expected_convolution
import expected_functions
import expected_half
import expected_linalg
import expected_onnx
import expected_transform
import expected_indexing
import numpy as np

rng = np.random.default_rng(20240229)
DTYPES = {"bool": np.bool_, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
          "f32": np.float32, "f64": np.float64}
NAMES = {np.dtype(v): k for k, v in DTYPES.items()}
INTEGERS = ["i8", "u8", "i16", "i32", "i64"]
FLOATS = ["f32", "f64"]
NUMBERS = INTEGERS + FLOATS
PAIRS = [((), ()), ((3,), ()), ((), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((4, 1, 2), (3, 1)),
         ((2, 1, 3, 1), (4, 1, 2)), ((0, 3), (3,)), ((2, 3), (2, 3)), ((2, 2, 1, 2), (1, 3, 2))]
SHAPES = [(), (5,), (2, 3), (2, 3, 2), (2, 1, 3, 2), (0, 3)]
cases = []


def scalar(x, dtype):
    if dtype == "bool":
        return bool(x)
    if dtype in INTEGERS:
        return int(x)
    x = float(x)
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    return x


def tensor(x):
    x = np.asarray(x)
    name = NAMES[x.dtype]
    return [name, list(x.shape), [scalar(v, name) for v in x.reshape(-1)]]


def case(op, operands, result, tolerance=0.0, **attributes):
    cases.append({"op": op, "in": [tensor(x) for x in operands], "attr": attributes, "out": tensor(result),
                  "tol": tolerance})


def fault(op, operands, kind, **attributes):
    cases.append({"op": op, "in": [tensor(x) for x in operands], "attr": attributes, "fault": kind})


def draw(dtype, shape, rng=rng):
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if dtype in INTEGERS:
        info = np.iinfo(DTYPES[dtype])
        small = rng.integers(max(-5, info.min), 6, shape)
        large = rng.integers(info.min, info.max, shape, dtype=DTYPES[dtype], endpoint=True)
        return np.where(rng.random(shape) < 0.7, small, large).astype(DTYPES[dtype])
    return (np.round(rng.normal(size=shape) * 8) / 4).astype(DTYPES[dtype])


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, math.inf, -math.inf, math.nan, 1e30, -1e30, 1e-40, 3e-7]


def truncated_division(a, b):
    quotient = [abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(a.flat, b.flat)]
    return np.array(quotient, dtype=object).reshape(a.shape)


def wrap(values, dtype):
    bits = np.iinfo(DTYPES[dtype]).bits
    low = np.iinfo(DTYPES[dtype]).min
    flat = [((int(v) - low) % (1 << bits)) + low for v in np.asarray(values, dtype=object).flat]
    return np.array(flat, dtype=DTYPES[dtype]).reshape(np.shape(values))


def integer_binary(op, a, b, dtype):
    """Exact arithmetic on Python integers, then wrapped."""
    a, b = np.broadcast_arrays(a, b)
    if op in ("div", "mod"):
        quotient = truncated_division(a, b)
        value = quotient if op == "div" else a.astype(object) - quotient * b.astype(object)
    elif op == "pow":
        flat = []
        for x, y in zip(a.flat, b.flat):
            x, y = int(x), int(y)
            flat.append(pow(x, y, 1 << 64) if y >= 0 else {1: 1, -1: 1 - 2 * (y % 2)}.get(x, 0))
        value = np.array(flat, dtype=object).reshape(a.shape)
    else:
        value = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y}[op](
            a.astype(object), b.astype(object))
    return wrap(value, dtype)


FLOAT_BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "mod": np.fmod, "pow": np.power,
                "minimum": np.minimum, "maximum": np.maximum}
COMPARE = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
           "ge": np.greater_equal}


def elementwise():
    for k, (sa, sb) in enumerate(PAIRS):
        for dtype in NUMBERS:
            for j, op in enumerate(FLOAT_BINARY):
                if dtype not in ("i32", "f32") and (k + j) % 3 != 0:
                    continue
                a, b = draw(dtype, sa), draw(dtype, sb)
                if op in ("minimum", "maximum"):  # the first of two equal operands is the result, such as of -0 and 0
                    case(op, [a, b], np.where(a == b, a, FLOAT_BINARY[op](a, b)))
                elif dtype in FLOATS:
                    case(op, [a, b], FLOAT_BINARY[op](a, b), 1e-6 if op == "pow" else 0.0)
                else:
                    if op in ("div", "mod"):
                        b = np.where(b == 0, 3, b).astype(b.dtype)
                    case(op, [a, b], integer_binary(op, a, b, dtype))
        for j, (op, f) in enumerate(COMPARE.items()):
            for dtype in NUMBERS[(k + j) % 4::4] + (["bool"] if op in ("eq", "ne") else []):
                a, b = draw(dtype, sa), draw(dtype, sb)
                case(op, [a, b], f(a, b))
        a, b = draw("bool", sa), draw("bool", sb)
        case("logical_and", [a, b], a & b)
        case("logical_or", [a, b], a | b)
        for dtype in ("bool", "i16", "f32"):
            x, y = draw(dtype, sa), draw(dtype, sb)
            c = draw("bool", (3,) if 3 in np.broadcast_shapes(sa, sb)[-1:] else ())
            case("select", [c, x, y], np.where(c, x, y).astype(x.dtype))
    for dtype in INTEGERS:
        info = np.iinfo(DTYPES[dtype])
        edge = np.array([info.min, info.min, info.max, 7 if info.min == 0 else -7, 7], DTYPES[dtype])
        by = np.array([info.max, 1, 2, 2, 3], DTYPES[dtype])
        by[0] = -1 if info.min < 0 else 1
        for op in ("add", "sub", "mul", "div", "mod"):
            case(op, [edge, by], integer_binary(op, edge, by, dtype))
        for op in ("div", "mod"):
            fault(op, [edge, np.zeros((), DTYPES[dtype])], 1)
            case(op, [np.zeros((0,), DTYPES[dtype]), np.zeros((), DTYPES[dtype])], np.zeros((0,), DTYPES[dtype]))
    for dtype in FLOATS:
        s = np.array(SPECIAL, DTYPES[dtype])
        for op in ("add", "mul", "div", "mod", "minimum", "maximum"):
            a, b = np.broadcast_arrays(s[:, None], s[[0, 2, 3, 10, 12]])
            expected = FLOAT_BINARY[op](a, b)
            if op in ("minimum", "maximum"):  # of two equal operands, the first is the result
                expected = np.where(a == b, a, expected)
            case(op, [s[:, None], s[[0, 2, 3, 10, 12]]], expected)
        for op, f in COMPARE.items():
            case(op, [s[:, None], s[[0, 1, 10, 12]]], f(s[:, None], s[[0, 1, 10, 12]]))


def functions():
    exact = {"negate": np.negative, "abs": np.abs, "sign": np.sign}
    rounded = {"floor": np.floor, "ceil": np.ceil, "round": np.round, "sqrt": np.sqrt}
    close = {"exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos, "tanh": np.tanh}
    for shape in SHAPES:
        for dtype in INTEGERS:
            x = draw(dtype, shape)
            case("negate", [x], wrap(-x.astype(object), dtype))
            case("abs", [x], wrap(np.vectorize(abs, otypes=[object])(x.astype(object)) if x.size else x, dtype))
            case("sign", [x], np.sign(x))
            case("relu", [x], np.maximum(x, 0).astype(x.dtype))
        for dtype in FLOATS:
            x = draw(dtype, shape)
            for op, f in {**exact, **rounded}.items():
                case(op, [x], f(x))
            for op, f in close.items():
                case(op, [x], f(x), 1e-6 if dtype == "f32" else 1e-14)
            case("sigmoid", [x], (1 / (1 + np.exp(-x.astype(np.float64)))).astype(x.dtype), 1e-6 if dtype == "f32" else 1e-14)
            case("relu", [x], np.maximum(x, 0).astype(x.dtype))
        x = draw("bool", shape)
        case("logical_not", [x], ~x)
    for dtype in FLOATS:
        s = np.array(SPECIAL, DTYPES[dtype])
        for op, f in {**exact, **rounded}.items():
            case(op, [s], f(s) + (0.0 if op == "sign" else np.array([-0.0], s.dtype)))
        for op, f in close.items():
            if op in ("sin", "cos"):
                continue
            case(op, [s], f(s), 1e-6 if dtype == "f32" else 1e-14)
        case("relu", [s], np.where(s > 0, s, np.where(np.isnan(s), s, 0)).astype(s.dtype))


def to_integer(x, dtype):
    info = np.iinfo(DTYPES[dtype])
    flat = []
    for v in x.flat:
        v = float(v)
        flat.append(0 if math.isnan(v) else info.max if v >= info.max else info.min if v <= info.min else math.trunc(v))
    return np.array(flat, dtype=object).astype(DTYPES[dtype]).reshape(x.shape)


def casts():
    extremes = [127.5, 128.0, -128.9, -129.0, 255.9, 256.0, 32768.0, -32769.0, 2147483648.0, 2147483520.0, -2147483904.0,
                9.2e18, 9.3e18, -9.3e18, -0.9]
    for source in DTYPES:
        for target in DTYPES:
            x = draw(source, (6,))
            if source in FLOATS:
                x = np.concatenate([x, np.array(SPECIAL + extremes, DTYPES[source])])
            if target == "bool":
                expected = x != 0
            elif source in FLOATS and target in INTEGERS:
                expected = to_integer(x, target)
            elif target in INTEGERS:
                expected = wrap(x.astype(object), target)
            else:
                expected = x.astype(DTYPES[target])
            case("cast", [x], expected, dtype=target)
            case("cast_like", [x, np.zeros((1,), DTYPES[target])], expected)


def products():
    pairs = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 2)), ((2, 3), (4, 3, 2)),
             ((2, 1, 2, 3), (3, 3, 2)), ((4, 2, 3), (3,)), ((3,), (4, 3, 2)), ((2, 0), (0, 3)), ((0, 2), (2, 3)), ((1, 1), (1, 1))]
    for dtype in NUMBERS:
        for a, b in pairs:
            x, y = draw(dtype, a), draw(dtype, b)
            if dtype in INTEGERS:
                value = np.matmul(x.astype(object), y.astype(object)) if x.size and y.size else np.matmul(x, y)
                case("matmul", [x, y], wrap(value, dtype))
            else:  # multiples of 1/4 of moderate size: every order of summing is exact
                case("matmul", [x, y], np.matmul(x, y))
        x, y, z = draw(dtype, (3,)), draw(dtype, (4,)), draw(dtype, (3,))
        exact = (lambda v: wrap(v, dtype)) if dtype in INTEGERS else (lambda v: np.asarray(v, DTYPES[dtype]))
        kind = object if dtype in INTEGERS else DTYPES[dtype]
        case("outer", [x, y], exact(np.multiply.outer(x.astype(kind), y.astype(kind))))
        case("dot", [x, z], exact((x.astype(kind) * z.astype(kind)).sum()))
    # This fixes the order of summing: increasing k, beginning with the first product.
    x, y = rng.normal(size=9).astype(np.float32), rng.normal(size=(9, 2)).astype(np.float32)
    total = x[0] * y[0]
    for k in range(1, 9):
        total = total + x[k] * y[k]
    case("matmul", [x, y], total)


def structure():
    for dtype in ("bool", "i8", "i16", "f32", "f64"):
        for shape in SHAPES:
            x = draw(dtype, shape)
            case("transpose", [x], np.transpose(x))
            if len(shape) >= 2:
                axes = [int(a) for a in rng.permutation(len(shape))]
                case("transpose", [x], np.transpose(x, axes), axes=axes)
                case("transpose", [x], np.transpose(x, np.argsort(axes)), axes=axes, inverse=1)
                case("transpose", [x], np.swapaxes(x, -1, -2), axes=[-1, -2])
                case("slice", [x], x[:, 1:], starts=[0, 1])
                case("slice", [x], x[:, 0:-1:2], starts=[0, 0], stops=[x.shape[0], -1], steps=[1, 2])
                case("concat", [x, x, x[:, :1]], np.concatenate([x, x, x[:, :1]], axis=1), axis=1)
                starts = [0] * len(shape)
                starts[-1] = 2 * shape[-1]
                case("part_starts", [x, x, x], np.array(starts, np.int32), part=2, axis=-1)
            if len(shape) >= 1 and shape[0] > 1:
                case("slice", [x], x[1:-1], starts=1, stops=-1)
                case("slice", [x], x[::-1], steps=-1)
                case("slice", [x], x[-1:0:-2], starts=-1, stops=0, steps=-2)
                turned = np.zeros_like(x)
                turned[::-2] = x[::-2]
                case("place_slice", [x[::-2]], turned, shape=list(shape), steps=-2)
                padded = np.zeros_like(x)
                padded[::2] = x[::2]
                case("place_slice", [x[::2]], padded, shape=list(shape), steps=2)
                case("concat", [x, x[:1]], np.concatenate([x, x[:1]]))
                case("index", [x, np.int32(shape[0] - 1)], x[shape[0] - 1])
                placed = np.zeros_like(x)
                placed[1] = x[0]
                case("place", [x[0], np.int64(1)], placed, shape=list(shape))
                fault("index", [x, np.int32(shape[0])], 2)
                fault("index", [x, np.int32(-1)], 2)
                fault("place", [x[0], np.int32(-1)], 2, shape=list(shape))
            if len(shape) == 4:
                case("index", [x, np.int32(1), np.int32(0), np.int32(2), np.int32(1)], x[1, 0, 2, 1])
                case("squeeze", [x], np.squeeze(x))
                case("squeeze", [x], np.squeeze(x, 1), axis=1)
            case("reshape", [x], np.reshape(x, (x.size,)), shape=[x.size])
            case("reshape", [x], np.reshape(x, (x.size, 1)), shape=[x.size, 1])
            if x.size:
                case("reshape", [x], np.reshape(x, (1, -1)), shape=[1, -1])
            case("array", [x, x, x], np.stack([x, x, x]))
            case("expand_dims", [x], np.expand_dims(x, (0, -1)), axis=[0, -1])
            target = (2,) + shape
            case("broadcast_to", [x], np.broadcast_to(x, target), shape=list(target))
            case("zeros_like", [x], np.zeros_like(x))
            case("param", [x], x)
            if x.ndim == 0 and x.dtype in (np.float32, np.float64):  # a case with one parameter
                case("sum_over_parameters", [x], x)
            case("sum_over_elements", [x], x)  # a case with one element
            case("sum_over_sharers", [x, np.float64(0.5)], x, maps=1)
            case("ones_like", [x], np.ones_like(x))
            case("shape", [x], np.array(shape, np.int32))
            case("size", [x], np.int32(x.size))
            case("as_row", [x], x[None, :] if x.ndim == 1 else x)
            case("as_column", [x], x[:, None] if x.ndim == 1 else x)
        x = draw(dtype, (2, 1, 3))
        case("broadcast_to", [x], np.broadcast_to(x, (4, 2, 5, 3)), shape=[4, 2, 5, 3])
        x = draw(dtype, ()).astype(DTYPES[dtype])
        case("full", [x], np.full((2, 3), x), shape=[2, 3])
    for dtype in INTEGERS:
        i = np.array([[0, 2], [3, 1]], DTYPES[dtype])
        case("one_hot", [i], np.eye(4, 3, dtype=np.float32)[i], depth=3)
    case("one_hot", [np.array(-1, np.int32)], np.zeros(2, np.float32), depth=2)
    case("iota", [], np.arange(5, dtype=np.int32), n=5)
    case("iota", [], np.arange(0, dtype=np.int32), n=0)
    case("zeros", [], np.zeros((2, 3), np.float32), shape=[2, 3])
    case("ones", [], np.ones(3, np.float32), shape=3)
    case("ones", [], np.ones((), np.int64), shape=[])
    case("zeros", [], np.zeros((0, 2), np.uint8), shape=[0, 2])
    case("size", [draw("f32", (2, 3, 4))], np.float64(8), axis=[0, -1])


def reductions():
    for dtype in NUMBERS:
        for shape in SHAPES[:-1]:
            x = draw(dtype, shape)
            axes = [None] + list(range(len(shape))) + ([[0, -1]] if len(shape) >= 3 else [])
            for axis in axes:
                key = tuple(axis) if isinstance(axis, list) else axis
                for keep in (0, 1) if dtype in ("i32", "f64") else (0,):
                    attributes = {} if axis is None else {"axis": axis}
                    if keep:
                        attributes["keepdims"] = 1
                    total = np.sum(x.astype(object), axis=key, keepdims=bool(keep)) if dtype in INTEGERS else None
                    if dtype in INTEGERS:
                        case("sum", [x], wrap(total, dtype), **attributes)
                    else:
                        case("sum", [x], np.sum(x, axis=key, keepdims=bool(keep)), **attributes)
                        case("mean", [x], np.mean(x, axis=key, keepdims=bool(keep)), 1e-6 if dtype == "f32" else 1e-15, **attributes)
                    case("min", [x], np.min(x, axis=key, keepdims=bool(keep)), **attributes)
                    case("max", [x], np.max(x, axis=key, keepdims=bool(keep)), **attributes)
                    if not isinstance(axis, list):
                        case("argmax", [x], np.argmax(x, axis=key, keepdims=bool(keep)).astype(np.int32), **attributes)
                        case("argmin", [x], np.argmin(x, axis=key, keepdims=bool(keep)).astype(np.int32), **attributes)
        x = draw(dtype, (2, 3, 4))
        for target, axes in (((4,), (0, 1)), ((3, 1), (0, 2)), ((), (0, 1, 2)), ((2, 3, 4), ()), ((1, 3, 4), (0,))):
            y = (wrap(x.astype(object).sum(axis=axes), dtype) if dtype in INTEGERS else x.sum(axis=axes)) if axes else x
            case("sum_to", [x], np.reshape(y, target).astype(DTYPES[dtype]), shape=list(target))
    for dtype in FLOATS:
        x = np.array([[1, math.nan, 3], [4, 5, math.nan], [2, 2, 1]], DTYPES[dtype])
        for axis in (0, 1):
            for op, f in {"min": np.min, "max": np.max}.items():
                case(op, [x], f(x, axis=axis), axis=axis)
            for op, f in {"argmin": np.argmin, "argmax": np.argmax}.items():
                case(op, [x], f(x, axis=axis).astype(np.int32), axis=axis)
        empty = np.zeros((0, 3), DTYPES[dtype])
        case("sum", [empty], empty.sum(axis=0), axis=0)
        case("mean", [empty], np.full(3, math.nan, DTYPES[dtype]), axis=0)
        case("max", [empty], empty.max(axis=1), axis=1)


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def words(x):
    return [x & 0xFFFFFFFF, x >> 32]


SEED, KEY, CYCLE = 0x0123456789ABCDEF, 0xFEDCBA9876543210, 41


DERIVED = philox(words(KEY) + [0, 0], words(SEED))[:2]


def block_at(b):
    return philox(words(b) + words(CYCLE), DERIVED)


def blocks(count, per_block):
    return [block_at(b) for b in range(-(-count // per_block))]


def unit(low, high):
    return ((high << 32 | low) >> 11) * 2.0 ** -53


def uniform(dtype, shape, low, high):
    n = int(np.prod(shape))
    if dtype == "f32":
        u = [(w >> 8) * 2.0 ** -24 for b in blocks(n, 4) for w in b]
    else:
        u = [v for b in blocks(n, 2) for v in (unit(b[0], b[1]), unit(b[2], b[3]))]
    return (low + (high - low) * np.array(u[:n])).astype(DTYPES[dtype]).reshape(shape)


def normal(dtype, shape, mean, deviation):
    n = int(np.prod(shape))
    out = []
    for b in blocks(n, 2):
        radius, angle = math.sqrt(-2 * math.log(1 - unit(b[0], b[1]))), 2 * math.pi * unit(b[2], b[3])
        out += [radius * math.cos(angle), radius * math.sin(angle)]
    return (mean + deviation * np.array(out[:n])).astype(DTYPES[dtype]).reshape(shape)


def truncated_normal(dtype, shape, mean, deviation):
    """The first normal within 2 deviations among those in blocks i, i + 2^33, …"""
    out = []
    for i in range(int(np.prod(shape))):
        for block in range(i, 1 << 63, 1 << 33):
            b = block_at(block)
            radius, angle = math.sqrt(-2 * math.log(1 - unit(b[0], b[1]))), 2 * math.pi * unit(b[2], b[3])
            within = [x for x in (radius * math.cos(angle), radius * math.sin(angle)) if abs(x) <= 2]
            if within:
                out.append(within[0])
                break
    return (mean + deviation * np.array(out)).astype(DTYPES[dtype]).reshape(shape)


further = []  # cases that follow the others, so that the order of the others does not change


def random_draws():
    for dtype in FLOATS:
        close = 1e-6 if dtype == "f32" else 1e-12
        for shape in ((), (7,), (3, 5), (2, 3, 2)):
            n = int(np.prod(shape))
            fan_out, fan_in = (shape[0], n // shape[0]) if len(shape) > 1 else (n, n)
            at = {"shape": list(shape)}
            case("uniform", [], uniform(dtype, shape, 0, 1), **at)
            case("uniform", [], uniform(dtype, shape, -2, 3), close, low=-2, high=3, **at)
            case("normal", [], normal(dtype, shape, 0, 1), close, **at)
            case("normal", [], normal(dtype, shape, 10, 0.5), close, mean=10, std=0.5, **at)
            g, h = math.sqrt(6 / (fan_in + fan_out)), math.sqrt(6 / fan_in)
            case("glorot_uniform", [], uniform(dtype, shape, -g, g), close * 10, **at)
            case("he_uniform", [], uniform(dtype, shape, -h, h), close * 10, **at)
            further.append(("bernoulli", (uniform(dtype, shape, 0, 1) < 0.3).astype(DTYPES[dtype]), close, {"p": 0.3, **at}))
            further.append(("truncated_normal", truncated_normal(dtype, shape, 1, 0.5), close, {"mean": 1, "std": 0.5, **at}))
            limit = math.sqrt(3 / fan_in)
            further.append(("lecun_uniform", uniform(dtype, shape, -limit, limit), close * 10, at))
            further.append(("lecun_normal", normal(dtype, shape, 0, math.sqrt(1 / fan_in)), close, at))
            case("glorot_normal", [], normal(dtype, shape, 0, math.sqrt(2 / (fan_in + fan_out))), close, **at)
            case("he_normal", [], normal(dtype, shape, 0, math.sqrt(2 / fan_in)), close, **at)
        for shape in ((3, 3), (2, 5), (6, 2), (3, 2, 2), (5,)):
            m = normal(dtype, shape, 0, 1).astype(np.float64).reshape(shape[0] if len(shape) > 1 else 1, -1)
            wide = m.shape[0] <= m.shape[1]
            q, r = np.linalg.qr(m.T if wide else m)
            q = q * np.sign(np.diag(r))
            case("orthogonal", [], (q.T if wide else q).reshape(shape).astype(DTYPES[dtype]),
                 3e-5 if dtype == "f32" else 1e-10, shape=list(shape))


with np.errstate(all="ignore"):
    for section in (elementwise, functions, casts, products, structure, reductions, random_draws):
        section()
    expected_functions.write(case, fault)
    expected_linalg.add(case, fault)
    expected_half.add(cases, tensor)
    expected_transform.add(case, fault)
    expected_convolution.write(case)
    expected_indexing.write(case, fault, draw)
    expected_onnx.write(case)
    expected_indexing.added(case, fault)
for op, value, tolerance, attributes in further:
    case(op, [], value, tolerance, **attributes)
path = pathlib.Path(__file__).with_name("expected.json")
path.write_text("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
print(len(cases), "cases,", path.stat().st_size, "bytes")
