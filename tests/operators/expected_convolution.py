"""Convolutions and pooling for make_expected.py, by the formulas of their definitions.

Operands are padded completely with zeros (or with nothing, for maxima), and every window is a
slice of them. Adjoints are computed from the matrix of the linear map.
"""
import itertools
import math

import numpy as np

FLOATS = ["f32", "f64"]
NUMBERS = ["i8", "u8", "i16", "i32", "i64", *FLOATS]
TYPES = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f32": np.float32,
         "f64": np.float64}
rng = np.random.default_rng(20240301)


def draw(dtype, shape):
    if dtype in FLOATS:
        return (np.round(rng.normal(size=shape) * 8) / 4).astype(TYPES[dtype])
    return rng.integers(0, 6, shape).astype(TYPES[dtype])


def per_axis(value, axes, otherwise):
    if value is None:
        value = otherwise
    return [value] * axes if isinstance(value, int) else list(value) * (axes if len(value) == 1 else 1)


class Windows:
    """Padding at the begin and end of each axis, strides, dilations, and the numbers of
    windows."""

    def __init__(self, extents, sizes, strides=None, padding=None, dilations=None, same=0, ceil_mode=0, pools=False):
        axes = len(extents)
        self.extents, self.sizes = list(extents), per_axis(sizes, axes, 1)
        self.strides = per_axis(strides, axes, self.sizes if pools else 1)
        self.dilations = per_axis(dilations, axes, 1)
        if isinstance(padding, list) and len(padding) == 2 * axes and axes * 2 != 1:
            self.begin, self.end = padding[:axes], padding[axes:]
        else:
            self.begin = self.end = per_axis(padding, axes, 0)
        reach = [(k - 1) * d + 1 for k, d in zip(self.sizes, self.dilations)]
        if same:
            self.counts = [math.ceil(n / s) for n, s in zip(self.extents, self.strides)]
            total = [max((c - 1) * s + r - n, 0) for c, s, r, n in zip(self.counts, self.strides, reach, self.extents)]
            less, more = [t // 2 for t in total], [t - t // 2 for t in total]
            self.begin, self.end = (less, more) if same == 1 else (more, less)
        else:
            self.counts = []
            for n, b, e, r, s in zip(self.extents, self.begin, self.end, reach, self.strides):
                whole = (n + b + e - r) / s
                count = (math.ceil(whole) if ceil_mode else math.floor(whole)) + 1
                if ceil_mode and (count - 1) * s >= n + b:
                    count -= 1
                self.counts.append(count)

    def places(self):
        return itertools.product(*map(range, self.counts))

    def taps(self, place):
        """Positions of a window's elements, row-major; None for padding."""
        for tap in itertools.product(*map(range, self.sizes)):
            at = tuple(o * s - b + k * d for o, s, b, k, d in zip(place, self.strides, self.begin, tap, self.dilations))
            yield tap, at if all(0 <= i < n for i, n in zip(at, self.extents)) else None


def conv(x, w, groups=1, **a):
    windows = Windows(x.shape[2:], w.shape[2:], **a)
    y = np.zeros((x.shape[0], w.shape[0], *windows.counts), x.dtype)
    out, inner = w.shape[0] // groups, w.shape[1]
    for place in windows.places():
        for tap, at in windows.taps(place):
            if at is None:
                continue
            for o in range(w.shape[0]):
                g = o // out
                for c in range(inner):
                    y[(slice(None), o, *place)] += x[(slice(None), g * inner + c, *at)] * w[(o, c, *tap)]
    return y


def adjoint(forward, shape, dtype, g):
    """Applies the transpose of a linear map, from its matrix, to g."""
    n = int(np.prod(shape))
    wide = np.float64 if np.dtype(dtype).kind == "f" else dtype
    result = np.zeros(n, wide)
    for k in range(n):
        unit = np.zeros(n, wide)
        unit[k] = 1
        result[k] = np.sum(forward(unit.reshape(shape)) * g.astype(wide), dtype=wide)
    return result.reshape(shape).astype(dtype)


# Each case is (x, w, attributes).
CONVOLUTIONS = [
    ((1, 1, 5), (1, 1, 3), {}),
    ((2, 3, 7), (4, 3, 3), {"strides": 2, "padding": 1}),
    ((1, 2, 6), (2, 2, 2), {"dilations": 3, "padding": [1, 2]}),
    ((2, 3, 5, 6), (4, 3, 3, 2), {}),
    ((1, 4, 6, 5), (6, 2, 3, 3), {"groups": 2, "padding": [1, 2, 0, 1], "strides": [2, 1]}),
    ((1, 3, 5, 5), (3, 1, 3, 3), {"groups": 3, "same": 1, "strides": 2}),
    ((1, 2, 6, 4), (3, 2, 2, 3), {"same": 2, "dilations": [2, 1]}),
    ((2, 2, 4, 4), (2, 2, 1, 1), {"strides": 3}),
    ((1, 2, 3, 4, 5), (2, 2, 2, 3, 2), {"strides": [1, 1, 2], "padding": 1}),
    ((0, 2, 4, 4), (2, 2, 3, 3), {}),
    ((2, 0, 4, 4), (2, 0, 3, 3), {}),
]


def convolutions(case):
    for dtype in NUMBERS:
        close = 0.0 if dtype not in FLOATS else 1e-4 if dtype == "f32" else 1e-12
        for x_shape, w_shape, a in CONVOLUTIONS if dtype in FLOATS else CONVOLUTIONS[:5]:
            x, w = draw(dtype, x_shape), draw(dtype, w_shape)
            y = conv(x, w, **a)
            case("conv", [x, w], y, close, **a)
            if dtype not in ("f32", "f64", "i32"):
                continue
            g = draw(dtype, y.shape)
            case("conv_input_gradient", [g, w], adjoint(lambda v: conv(v, w, **a), x_shape, x.dtype, g), close,
                 shape=list(x_shape), **a)
            case("conv_weight_gradient", [x, g], adjoint(lambda v: conv(x, v, **a), w_shape, x.dtype, g), close,
                 shape=list(w_shape), **a)


# Each case is (x, w, attributes, extents of the result).
TRANSPOSED = [
    ((1, 1, 3), (1, 1, 2), {}, [4]),
    ((2, 3, 4), (3, 2, 3), {"strides": 2, "output_padding": 1}, [10]),
    ((1, 2, 3, 3), (2, 2, 3, 3), {"strides": [3, 2], "padding": [1, 0, 1, 2]}, [7, 5]),
    ((1, 4, 2, 3), (4, 3, 2, 2), {"groups": 2, "dilations": 2, "strides": 2, "output_padding": [1, 0]}, [6, 7]),
    ((1, 1, 3, 3), (1, 2, 3, 3), {"strides": 2, "same": 1}, [6, 6]),
    ((1, 1, 3, 3), (1, 2, 3, 3), {"strides": 2, "same": 2}, [6, 6]),
    ((1, 2, 2, 2, 2), (2, 1, 2, 2, 2), {"strides": 2}, [4, 4, 4]),
]


def transposed(case):
    for dtype in ("i32", *FLOATS):
        close = 0.0 if dtype == "i32" else 1e-4 if dtype == "f32" else 1e-12
        for x_shape, w_shape, a, extents in TRANSPOSED:
            x, w = draw(dtype, x_shape), draw(dtype, w_shape)
            forward = {k: v for k, v in a.items() if k != "output_padding"}
            shape = (x_shape[0], w_shape[1] * a.get("groups", 1), *extents)
            case("conv_transpose", [x, w], adjoint(lambda v: conv(v, w, **forward), shape, x.dtype, x), close, **a)


def each_channel(x, windows, f):
    """Calls f(values of a window, their positions among all elements of x) for every window."""
    result = []
    positions = np.arange(x.size).reshape(x.shape)
    for n, c in itertools.product(range(x.shape[0]), range(x.shape[1])):
        for place in windows.places():
            inside = [at for _, at in windows.taps(place) if at is not None]
            result.append(f(x[(n, c)], inside, positions[(n, c)], place))
    return np.array(result).reshape((*x.shape[:2], *windows.counts))


def first_maximum(values):
    for k, v in enumerate(values):
        if v != v:
            return k
    return max(range(len(values)), key=lambda k: (values[k], -k))


def maximum_places(x, windows):
    return each_channel(x, windows, lambda v, inside, at, _: at[inside[first_maximum([v[i] for i in inside])]])


def divisor(windows, place, inside, include):
    if not include:
        return len(inside)
    count = 1
    for o, s, b, e, n, k, d in zip(place, windows.strides, windows.begin, windows.end, windows.extents, windows.sizes,
                                   windows.dilations):
        count *= sum(1 for j in range(k) if o * s - b + j * d < n + e)
    return count


def sum_pool(x, windows):
    return each_channel(x, windows, lambda v, inside, _, place: sum((v[i] for i in inside), x.dtype.type(0)))


def average_pool(x, windows, include=0):
    return each_channel(x, windows, lambda v, inside, _, place: x.dtype.type(
        sum((v[i] for i in inside), x.dtype.type(0)) / x.dtype.type(divisor(windows, place, inside, include))))


POOLS = [
    ((1, 2, 6), {"window": 2}),
    ((2, 1, 7), {"window": [3], "strides": 2, "padding": 1}),
    ((1, 1, 6), {"window": 2, "strides": 3, "ceil_mode": 1}),
    ((2, 3, 4, 6), {"window": 2}),
    ((1, 2, 5, 6), {"window": [3, 2], "strides": [1, 2], "padding": [1, 0, 0, 1]}),
    ((1, 2, 5, 5), {"window": 3, "strides": 2, "ceil_mode": 1, "padding": 1}),
    ((1, 1, 5, 7), {"window": 2, "strides": 1, "dilations": [2, 3]}),
    ((1, 1, 5, 4), {"window": 3, "strides": 2, "same": 1}),
    ((1, 1, 5, 4), {"window": [2, 3], "strides": 2, "same": 2}),
    ((1, 1, 4, 4), {"window": 3, "strides": 2, "padding": [1, 0, 1, 0], "ceil_mode": 1}),
    ((1, 2, 3, 4, 4), {"window": [2, 2, 3], "strides": [1, 2, 1]}),
    ((0, 2, 4), {"window": 2}),
    ((2, 0, 4, 4), {"window": 2}),
]


def pools(case):
    for dtype in NUMBERS:
        few = dtype not in ("f32", "f64", "i32")
        close = 0.0 if dtype not in FLOATS else 1e-4 if dtype == "f32" else 1e-12
        for shape, a in POOLS[3:5] if few else POOLS:
            x = draw(dtype, shape)
            settings = dict(a)
            windows = Windows(shape[2:], settings.pop("window"), pools=True, **settings)
            places = maximum_places(x, windows).astype(np.int64)
            case("max_pool", [x], x.reshape(-1)[places], **a)
            case("max_pool_indices", [x], places, **a)
            v, g = draw(dtype, shape), draw(dtype, places.shape)
            case("max_pool_select", [x, v], v.reshape(-1)[places], **a)
            scattered = np.zeros(x.size, x.dtype)
            np.add.at(scattered, places.reshape(-1), g.reshape(-1))
            case("max_pool_gradient", [x, g], scattered.reshape(shape), close, **a)
            case("sum_pool", [x], sum_pool(x, windows).astype(x.dtype), close, **a)
            if few:
                continue
            case("sum_pool_gradient", [g], adjoint(lambda u: sum_pool(u, windows), shape, x.dtype, g), close,
                 shape=list(shape), **a)
            for include in (0, 1) if dtype in FLOATS else ():
                more = {**a, "count_include_pad": include}
                case("average_pool", [x], average_pool(x, windows, include).astype(x.dtype), close, **more)
                case("average_pool_gradient", [g],
                     adjoint(lambda u: average_pool(u, windows, include), shape, x.dtype, g), close, shape=list(shape),
                     **more)
    for dtype in FLOATS:
        x = np.array([[[1, math.nan, 3, math.nan, -math.inf, -math.inf, 2, 2, -0.0, 0.0]]], TYPES[dtype])
        case("max_pool", [x], np.array([[[math.nan, math.nan, -math.inf, 2, -0.0]]], TYPES[dtype]), window=2)
        case("max_pool_indices", [x], np.array([[[1, 3, 4, 6, 8]]]), window=2)


def columns(case):
    for dtype in NUMBERS:
        for shape, a in [((1, 1, 5), {"window": 2}), ((2, 2, 4, 5), {"window": [2, 3], "padding": [1, 0, 0, 1]}),
                         ((1, 2, 5, 5), {"window": 2, "strides": 2, "dilations": [1, 2]}),
                         ((1, 1, 5, 4), {"window": 3, "same": 1, "strides": 2}),
                         ((1, 2, 2, 3, 3), {"window": 2}), ((0, 1, 4), {"window": 3})]:
            x = draw(dtype, shape)
            settings = dict(a)
            windows = Windows(shape[2:], per_axis(settings.pop("window"), len(shape) - 2, 1), **settings)
            entries = []
            for n, c in itertools.product(range(shape[0]), range(shape[1])):
                per_window = [[0 if at is None else x[(n, c, *at)] for _, at in windows.taps(p)]
                              for p in windows.places()]
                entries.append(np.array(per_window, x.dtype).T)
            count = int(np.prod(windows.counts))
            y = np.array(entries, x.dtype).reshape(shape[0], -1 if shape[0] else shape[1] * 3, count)
            case("im2col", [x], y, **a)
            back = np.zeros(shape, x.dtype)
            g = draw(dtype, y.shape)
            rows = iter(g.reshape(-1, int(np.prod(windows.sizes)), count)) if g.size else iter(())
            for n, c in itertools.product(range(shape[0]), range(shape[1])):
                entry = next(rows)
                for o, p in enumerate(windows.places()):
                    for k, (_, at) in enumerate(windows.taps(p)):
                        if at is not None:
                            back[(n, c, *at)] += entry[k, o]
            case("col2im", [g], back, 0.0 if dtype not in FLOATS else 1e-6, shape=list(shape), **a)


def write(case):
    for section in (convolutions, transposed, pools, columns):
        section(case)
