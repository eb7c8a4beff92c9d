"""Cases of the operators that move, find, order and contract elements, for make_expected.py.

The values are those of NumPy. Functions that it lacks (ONNX's gathers and scatters, adjoints) are
written out element by element. The script has its own generator of random numbers, so that its
cases do not change others.
"""
import itertools

import numpy as np

rng = np.random.default_rng(7411)
INDEX = 2  # RML_FAULT_INDEX
MODES = ["constant", "edge", "reflect", "symmetric", "wrap"]


def padded(x, before, after, mode, value=0):
    """np.pad after negative widths have cropped; widths beyond the extent continue the
    pattern."""
    def position(s, n):
        if 0 <= s < n:
            return s
        if mode == "constant":
            return None
        if mode == "edge":
            return min(max(s, 0), n - 1)
        if mode == "wrap":
            return s % n
        if mode == "reflect":
            if n == 1:
                return 0
            s %= 2 * n - 2
            return s if s < n else 2 * n - 2 - s
        s %= 2 * n
        return s if s < n else 2 * n - 1 - s
    shape = [n + b + a for n, b, a in zip(x.shape, before, after)]
    y = np.empty(shape, x.dtype)
    for at in np.ndindex(*shape):
        source = [position(k - b, n) for k, b, n in zip(at, before, x.shape)]
        y[at] = value if None in source else x[tuple(source)]
    return y


def adjoint(f, shape, dy):
    """For each element, the sum of dy over all places to which f copies it; f acts on
    integers."""
    ids = np.arange(1, int(np.prod(shape)) + 1).reshape(shape)
    moved = f(ids)
    flat = np.zeros(ids.size + 1, dy.dtype)
    np.add.at(flat, moved.reshape(-1), dy.reshape(-1))
    return flat[1:].reshape(shape)


def moves(case, draw):
    x = draw("f32", (5,))
    for mode in MODES:  # the modes that np.pad itself defines
        case("pad", [x], np.pad(x, (2, 3), mode=mode), before=2, after=3, mode=mode)
        m = draw("i32", (3, 4))
        case("pad", [m], np.pad(m, ((1, 2), (0, 3)), mode=mode), before=[1, 0], after=[2, 3], mode=mode)
        for n, before, after in ((3, 7, 8), (1, 3, 2), (4, -1, 2), (4, 3, -2), (4, -2, -2), (2, 5, 0), (3, 5, -4)):
            y = draw("f64", (n,))
            case("pad", [y], padded(y, [before], [after], mode), before=before, after=after, mode=mode)
            dy = draw("f64", (n + before + after,))
            case("sum_pad", [dy], adjoint(lambda i: padded(i, [before], [after], mode), (n,), dy), shape=[n],
                 before=before, after=after, mode=mode)
        y = draw("f64", (2, 3, 2))
        dy = draw("f64", (4, 6, 3))
        case("sum_pad", [dy], adjoint(lambda i: padded(i, [1, 2, 0], [1, 1, 1], mode), (2, 3, 2), dy),
             shape=[2, 3, 2], before=[1, 2], after=[1, 1, 1], mode=mode)
    for dtype, value in (("f64", 2.5), ("f32", -1e30), ("i8", -3), ("u8", 255), ("bool", 1), ("i64", 1 << 40)):
        y = draw(dtype, (2, 3))
        case("pad", [y], np.pad(y, 1, constant_values=np.asarray(value, y.dtype)), before=1, after=1, value=value)
    for dtype in ("bool", "i8", "i16", "f32", "f64"):
        for shape in ((), (3,), (2, 3), (2, 1, 3), (0, 2)):
            y = draw(dtype, shape)
            for reps in (2, [2, 1], [1, 3], [2, 1, 3], [1] * len(shape), [0]):
                out = np.tile(y, reps)
                case("tile", [y], out, reps=reps)
                if dtype == "f64":
                    dy = draw(dtype, out.shape)
                    case("sum_tile", [dy], adjoint(lambda i: np.tile(i, reps), shape, dy), shape=list(shape), reps=reps)
            for axis in [None] + list(range(-len(shape), len(shape))):
                at = {} if axis is None else {"axis": axis}
                case("repeat", [y], np.repeat(y, 3, axis=axis), repeats=3, **at)
                case("roll", [y], np.roll(y, -2, axis=axis), shift=-2, **at)
                case("flip", [y], np.flip(y, axis=axis), **at)
                if dtype == "f64":
                    dy = draw(dtype, np.repeat(y, 2, axis=axis).shape)
                    case("sum_repeat", [dy], adjoint(lambda i: np.repeat(i, 2, axis=axis), shape, dy),
                         shape=list(shape), repeats=2, **at)
        y = draw(dtype, (3, 4))
        case("roll", [y], np.roll(y, (1, -5), axis=(0, 1)), shift=[1, -5], axis=[0, 1])
        case("roll", [y], np.roll(y, (1, 1), axis=(0, 0)), shift=1, axis=[0, 0])
        case("flip", [y], np.flip(y, (0, 1)), axis=[0, 1])
        y = draw(dtype, (2, 3, 4))
        for k, a, b in ((0, 0, 1), (1, 1, 2), (-1, 0, 2), (2, -1, 0), (9, 1, 2), (-9, 1, 2)):
            out = np.diagonal(y, k, a, b)
            case("diagonal", [y], out, offset=k, axis1=a, axis2=b)
            if dtype == "f64":
                dy = draw(dtype, out.shape)
                case("sum_diagonal", [dy], adjoint(lambda i: np.diagonal(i, k, a, b), (2, 3, 4), dy),
                     shape=[2, 3, 4], offset=k, axis1=a, axis2=b)
        for k in (-2, 0, 1):
            for shape in ((3,), (2, 3), (0,)):
                y = draw(dtype, shape)
                case("diag", [y], np.diag(y, k), k=k)
                if dtype == "f64":
                    dy = draw(dtype, np.diag(y, k).shape)
                    case("sum_diag", [dy], adjoint(lambda i: np.diag(i, k), shape, dy), shape=list(shape), k=k)
    case("eye", [], np.eye(3, dtype=np.float32), n=3)
    case("eye", [], np.eye(2, 4, -1, dtype=np.int8), n=2, m=4, k=-1)
    case("eye", [], np.eye(0, dtype=np.float64), n=0)


def indices(shape, bound, dtype=np.int32):
    return rng.integers(-bound, bound, shape).astype(dtype)


def elements_places(x, i, axis):
    """For each index of i, the place that it refers to, in row-major order of i."""
    for at in np.ndindex(*i.shape):
        place = list(at)
        place[axis] = int(i[at])
        yield at, tuple(place)


def tuple_places(x, i, batch_dims):
    for at in np.ndindex(*i.shape[:-1]):
        yield at, at[:batch_dims] + tuple(int(k) for k in i[at])


def combined(reduction, a, b):
    with np.errstate(all="ignore"):
        return {"none": lambda: b, "add": lambda: a + b, "mul": lambda: a * b, "min": lambda: np.minimum(a, b),
                "max": lambda: np.maximum(a, b)}[reduction]()


def scattered(x, updates, places, reduction):
    y = x.copy()
    for at, place in places:
        y[place] = combined(reduction, y[place], updates[at])
    return y


def gathers(case, fault, draw):
    for dtype, index in (("bool", np.int8), ("i8", np.int64), ("i16", np.int16), ("f32", np.int32), ("f64", np.int64)):
        x = draw(dtype, (3, 4, 2))
        for axis in (0, 1, 2, -1, -3):
            for shape in ((), (5,), (2, 3), (0,)):
                i = indices(shape, x.shape[axis], index)
                out = np.take(x, i, axis=axis)
                case("take", [x, i], out, axis=axis)
                if dtype == "f64":
                    dy = draw(dtype, out.shape)
                    case("sum_take", [dy, i], adjoint(lambda k: np.take(k, i, axis=axis), x.shape, dy),
                         shape=list(x.shape), axis=axis)
            i = indices([2, 3, 2][:axis % 3] + [7] + [2, 3, 2][axis % 3 + 1:], x.shape[axis], index)
            expected = np.array([x[p] for _, p in elements_places(x, i, axis)], x.dtype).reshape(i.shape)
            case("gather_elements", [x, i], expected, axis=axis)
            full = [1 if k != axis % 3 and k % 2 == 0 else n for k, n in enumerate(x.shape)]
            i = indices(full, x.shape[axis], index)
            case("take_along_axis", [x, i], np.take_along_axis(x, i.astype(np.int64), axis), axis=axis)
        i = indices((4,), x.size, index)
        case("take", [x, i], np.take(x, i))
        for batch, shape, bounds in ((0, (2, 2), (3, 4)), (0, (3, 1), (3,)), (0, (2, 2, 3), (3, 4, 2)), (1, (3, 2, 1), (4,)),
                                     (1, (3, 2), (4, 2)), (2, (3, 4, 1), (2,)), (0, (2, 0), ())):
            i = np.stack([indices(shape[:-1], b, index) for b in bounds], -1) if bounds else np.zeros(shape, index)
            out = np.array([x[p] for _, p in tuple_places(x, i, batch)], x.dtype)
            case("gather_nd", [x, i], out.reshape(shape[:-1] + x.shape[batch + shape[-1]:]), batch_dims=batch)
    u = np.array([200, 0], np.uint8)  # indices of type u8 are never negative
    case("take", [np.arange(201, dtype=np.int32), u], np.array([200, 0], np.int32), axis=0)
    x = draw("f32", (3, 2))
    for wrong in (3, -4):
        fault("take", [x, np.int32(wrong)], INDEX, axis=0)
        fault("take", [x, np.int32(2 * wrong)], INDEX)
        fault("sum_take", [x[0], np.int32(wrong)], INDEX, axis=0, shape=[3, 2])
        fault("gather_elements", [x, np.array([[wrong]])], INDEX, axis=0)
        fault("take_along_axis", [x, np.array([[wrong, 0]])], INDEX, axis=0)
        fault("gather_nd", [x, np.array([[wrong]])], INDEX)
        fault("scatter_elements", [x, np.array([[wrong]]), x[:1, :1]], INDEX)
        fault("scatter_nd", [x, np.array([[wrong]]), x[:1]], INDEX)
    fault("take", [np.zeros((0, 2), np.float32), np.int32(0)], INDEX, axis=0)


def scatters(case, draw):
    for reduction in ("none", "add", "mul", "min", "max"):
        at = {"reduction": reduction}
        for dtype in ("i8", "i64", "f32", "f64") + (("bool",) if reduction == "none" else ()):
            x = draw(dtype, (3, 4, 2))
            for axis, shape in ((0, (2, 3, 2)), (1, (3, 6, 2)), (-1, (3, 4, 5)), (0, (0, 4, 2))):
                i = indices(shape, x.shape[axis])
                u = draw(dtype, shape)
                case("scatter_elements", [x, i, u], scattered(x, u, elements_places(x, i, axis), reduction), axis=axis, **at)
            for batch, shape, bounds in ((0, (5, 2), (3, 4)), (0, (4, 1), (3,)), (1, (3, 3, 1), (4,)), (0, (2, 3), (3, 4, 2))):
                i = np.stack([indices(shape[:-1], b) for b in bounds], -1)
                u = draw(dtype, shape[:-1] + x.shape[batch + shape[-1]:])
                case("scatter_nd", [x, i, u], scattered(x, u, tuple_places(x, i, batch), reduction), batch_dims=batch, **at)
        # The gradient: the effect on the result of each value that was written to a place.
        x, u = draw("f64", (3, 4)), draw("f64", (5, 4))
        x[1, 1] = u[2, 2] = 0
        i = indices((5, 4), 3)
        i[:, 1] = [1, 1, -2, 0, 0]
        dy = draw("f64", (3, 4))
        y = scattered(x, u, elements_places(x, i, 0), reduction)
        met = {place: [] for place in np.ndindex(3, 4)}
        for k, (row, column) in elements_places(x, i, 0):
            met[row % 3, column].append(k)
        dx, du = np.zeros_like(x), np.zeros_like(u)
        for place, updates in met.items():
            values = [x[place]] + [u[k] for k in updates]
            if reduction == "none":
                share = [0.0] * (len(values) - 1) + [1.0]
            elif reduction == "add":
                share = [1.0] * len(values)
            elif reduction == "mul":
                share = [float(np.prod(values[:k] + values[k + 1:])) for k in range(len(values))]
            else:
                share = [float(v == y[place]) for v in values]
                share = [s / sum(share) for s in share]
            dx[place] = share[0] * dy[place]
            for k, s in zip(updates, share[1:]):
                du[k] = s * dy[place]
        for by, expected in enumerate((dx, du)):
            case("scatter_elements_gradient", [x, i, u, y, dy], expected, 1e-12, axis=0, by=by, **at)
        if reduction == "add":  # a sum is linear in the updates, so it has a derivative
            case("scatter_elements_tangent", [x, i, u, y, dy], dy, axis=0, by=0, **at)
            case("scatter_elements_tangent", [x, i, u, y, u], y - x, 1e-12, axis=0, by=1, **at)
            case("scatter_curvature", [x], np.zeros_like(x), **at)
        tuples, rows = indices((4, 1), 3), draw("f64", (4, 4))
        y = scattered(x, rows, tuple_places(x, tuples, 0), reduction)
        # As scatter_elements with every index repeated along the row.
        spread = np.repeat(tuples, 4, axis=1)
        case("scatter_nd_gradient", [x, tuples, rows, y, y], gradient_of_rows(x, spread, rows, y, reduction), 1e-12,
             by=1, **at)
        if reduction == "add":
            case("scatter_nd_tangent", [x, tuples, rows, y, rows], y - x, 1e-12, by=1, **at)


def gradient_of_rows(x, i, u, y, reduction):
    du = np.zeros_like(u)
    for at, place in elements_places(x, i, 0):
        same = [k for k, p in elements_places(x, i, 0) if (p[0] % 3, p[1]) == (place[0] % 3, place[1])]
        others = [x[place]] + [u[k] for k in same if k != at]
        if reduction == "none":
            share = float(at == same[-1])
        elif reduction == "add":
            share = 1.0
        elif reduction == "mul":
            share = float(np.prod(others))
        else:
            share = float(u[at] == y[place]) / max(1, sum(v == y[place] for v in others + [u[at]]))
        du[at] = share * y[place]
    return du


def slices(case, fault, draw):
    for dtype in ("bool", "i16", "f32", "f64"):
        x = draw(dtype, (4, 5, 3))
        for starts, sizes in (((1,), (2,)), ((0, 3), (4, 2)), ((3, 0, 1), (1, 5, 2)), ((), ()), ((2, 2), (0, 3))):
            places = tuple(slice(s, s + n) for s, n in zip(starts, sizes))
            i = np.array(starts, np.int32).reshape(len(starts))
            case("dynamic_slice", [x, i], x[places], sizes=list(sizes))
            y, u = x.copy(), draw(dtype, x[places].shape)
            y[places] = u
            case("dynamic_update_slice", [x, u, i], y)
    x = draw("f32", (4, 5))
    for wrong in ([-1, 0], [3, 0], [0, 4]):
        fault("dynamic_slice", [x, np.array(wrong)], INDEX, sizes=[2, 2])
        fault("dynamic_update_slice", [x, x[:2, :2], np.array(wrong)], INDEX)


def order(x, axis, descending):
    """Sorts stably in both directions, with NaN as the largest."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable").astype(np.int32)
    return np.flip(x.shape[axis] - 1 - np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis).astype(np.int32)


def orders(case, draw):
    for dtype in ("i8", "u8", "i16", "i32", "i64", "f32", "f64"):
        for shape in ((5,), (3, 4), (2, 3, 4), (0, 3), (3, 0), (1,)):
            x = draw(dtype, shape)
            if dtype in ("f32", "f64") and x.size > 3:
                x.reshape(-1)[[0, -1]] = np.nan
                x.reshape(-1)[1:3] = [0.0, -0.0]
            for axis in range(-len(shape), len(shape)):
                for descending in (0, 1):
                    i = order(x, axis, descending)
                    at = {"axis": axis, "descending": descending}
                    case("argsort", [x], i, **at)
                    case("sort", [x], np.take_along_axis(x, i.astype(np.int64), axis), **at)
                    for k in {0, 1, min(2, shape[axis]), shape[axis]}:
                        if k <= shape[axis]:
                            case("argtopk", [x], np.take(i, range(k), axis=axis), k=k, axis=axis, largest=descending)
        a = np.sort(draw(dtype, (9,)))
        v = np.concatenate([a[:4], draw(dtype, (6,))]).reshape(2, 5)
        for right in (0, 1):
            case("searchsorted", [a, v], np.searchsorted(a, v, "right" if right else "left").astype(np.int32), right=right)
        case("searchsorted", [a[:0], v], np.zeros_like(v, np.int32))


def accumulated(x, axis, exclusive, reverse, f, start):
    if axis is None:
        x, axis = x.reshape(-1), 0
    y = np.flip(x, axis) if reverse else x
    y = f(y, axis=axis, dtype=x.dtype)
    if exclusive:
        first = np.full_like(np.take(y, [0], axis=axis), start) if y.shape[axis] else y
        y = np.concatenate([first, np.take(y, range(y.shape[axis] - 1), axis=axis)], axis=axis) if y.shape[axis] else y
    return np.flip(y, axis) if reverse else y


def weighted_sums(x, w, reverse):
    """By the definition: the sum of all earlier elements, each times the weights in between."""
    if reverse:
        return weighted_sums(x[:, ::-1], w[:, ::-1], False)[:, ::-1]
    return np.array([[sum(a[j] * np.prod(b[j + 1:k]) for j in range(k)) for k in range(len(a))] for a, b in zip(x, w)])


def running(case, draw):
    for dtype in ("i8", "u8", "i32", "i64", "f32", "f64"):
        for shape in ((), (4,), (2, 3), (2, 3, 2), (0, 3)):
            x = draw(dtype, shape)
            for axis in [None] + list(range(-len(shape), len(shape))):
                for exclusive, reverse in itertools.product((0, 1), (0, 1)):
                    at = {"exclusive": exclusive, "reverse": reverse}
                    if axis is not None:
                        at["axis"] = axis
                    elif not shape and exclusive:
                        continue
                    case("cumsum", [x], accumulated(x, axis, exclusive, reverse, np.cumsum, 0), **at)
                    case("cumprod", [x], accumulated(x, axis, exclusive, reverse, np.cumprod, 1), **at)
    for exclusive, reverse in itertools.product((0, 1), (0, 1)):
        w, x = draw("f64", (2, 5)), draw("f64", (2, 5))
        w[0, 1] = w[1, 2] = w[1, 3] = 0
        flat = exclusive == 1  # true: the sum runs over all elements; false: along rows
        case("weighted_cumsum", [x, w], weighted_sums(x.reshape(1, -1), w.reshape(1, -1), reverse)[0] if flat else
             weighted_sums(x, w, reverse), 1e-12, reverse=reverse, **({} if flat else {"axis": 1}))


SUBSCRIPTS = [("ij,jk->ik", (2, 3), (3, 4)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)), ("ij,jk", (2, 3), (3, 4)),
              ("ij->ji", (2, 3)), ("ii", (3, 3)), ("ii->i", (3, 3)), ("iij->j", (2, 2, 3)), ("i,i->", (4,), (4,)),
              ("i,j->ij", (2,), (3,)), ("ij->", (2, 3)), ("ij->i", (2, 3)), ("i,i,i->i", (3,), (3,), (3,)),
              ("ab,bc,cd->ad", (2, 3), (3, 2), (2, 4)), ("...ij,...jk->...ik", (2, 1, 2, 3), (4, 3, 2)),
              ("...i->...", (2, 3)), ("i...,i...->...", (2, 3), (2, 1)), ("bi,bj->bji", (2, 3), (2, 2)),
              ("ij,kj->ki", (2, 3), (4, 3)), ("abc,cd->abd", (2, 3, 2), (2, 2)), (",i->i", (), (3,)), ("->", ()),
              ("ij,ij->ij", (2, 3), (2, 3)), ("ij,j->", (2, 3), (3,)), ("i,ij,j->", (2,), (2, 3), (3,)),
              (" i j , j k ", (2, 0), (0, 3)), ("aab,bc->ac", (2, 2, 3), (3, 2)), ("...", (2, 3))]


def wrapped(values, dtype):
    return np.asarray(values).astype(dtype)


def contractions(case, draw):
    for subscripts, *shapes in SUBSCRIPTS:
        for dtype in ("i8", "f64"):
            x = [draw(dtype, s) for s in shapes]
            wide = [v.astype(np.int64) if dtype == "i8" else v for v in x]
            out = np.einsum(subscripts, *wide)
            case("einsum", x, wrapped(out, x[0].dtype), 1e-12 if dtype == "f64" else 0, subscripts=subscripts)
            if dtype == "i8":
                continue
            dy = draw(dtype, out.shape)
            for part in range(len(x)):
                # The operation is linear in each operand, so the derivative by an element is the
                # value at the unit tensor.
                expected = np.zeros_like(x[part])
                for at in np.ndindex(*x[part].shape):
                    unit = np.zeros_like(x[part])
                    unit[at] = 1
                    expected[at] = np.sum(dy * np.einsum(subscripts, *x[:part], unit, *x[part + 1:]))
                case("einsum_adjoint", x + [dy], expected, 1e-12, subscripts=subscripts, parts=[part])
    a, b = draw("f64", (2, 3, 4)), draw("f64", (3, 4, 2))
    for axes in (2, [[1, 2], [0, 1]], [[0], [2]], [[-1, 0], [1, 2]], 0):
        at = {"axes": axes} if isinstance(axes, int) else {"axes": axes[0], "axes_b": axes[1]}
        out = np.tensordot(a, b, axes)
        case("tensordot", [a, b], out, 1e-12, **at)
        dy = draw("f64", out.shape)
        for part in (0, 1):
            expected = np.zeros_like((a, b)[part])
            for k in np.ndindex(*expected.shape):
                unit = np.zeros_like(expected)
                unit[k] = 1
                expected[k] = np.sum(dy * (np.tensordot(unit, b, axes) if part == 0 else np.tensordot(a, unit, axes)))
            case("tensordot_adjoint", [a, b, dy], expected, 1e-12, parts=[part], **at)


def write(case, fault, draw_any):
    """Adds the cases; the functions are those of make_expected.py."""
    def draw(dtype, shape):
        return np.asarray(draw_any(dtype, shape, rng))
    moves(case, draw)
    gathers(case, fault, draw)
    scatters(case, draw)
    slices(case, fault, draw)
    orders(case, draw)
    running(case, draw)
    contractions(case, draw)


def added(case, fault):
    own = np.random.default_rng(11)
    for dtype in (np.int8, np.int64, np.float32, np.float64):
        x = own.integers(-9, 9, (3, 4, 2)).astype(dtype)
        for axis in (0, 1, -1):
            for shape in ((), (5,), (2, 3), (0,)):
                i = own.integers(-x.shape[axis], x.shape[axis], shape).astype(np.int32)
                updates = own.integers(-9, 9, np.take(x, i, axis=axis).shape).astype(dtype)
                out = np.moveaxis(x.copy(), axis, 0)
                at = axis % 3
                moved = updates.reshape(x.shape[:at] + (i.size,) + x.shape[at + 1:])
                np.add.at(out, i.reshape(-1), np.moveaxis(moved, at, 0))
                case("add_at", [x, updates, i], np.moveaxis(out, 0, axis), axis=axis)
        i = own.integers(-x.size, x.size, (7,))
        updates = own.integers(-9, 9, (7,)).astype(dtype)
        out = x.reshape(-1).copy()
        np.add.at(out, i, updates)
        case("add_at", [x, updates, i], out.reshape(x.shape))
    x = np.zeros((3, 2), np.float32)
    for wrong in (3, -4):
        fault("add_at", [x, x[0], np.int32(wrong)], INDEX, axis=0)
    fault("add_at", [x, x[:2], np.array([0, -1])], INDEX, axis=0, from_end=0)
