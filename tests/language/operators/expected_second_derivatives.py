#!/usr/bin/env python3
"""Writes second_derivatives.rml, its inputs and its expected rows: products of Hessians with a
vector, also at zeros and ties.

The expected values are computed by hyper-dual numbers, a + b e + c f + d e f with e e = f f = 0
(Fike and Alonso, 2011). The last part of f(x + e i + f v) is row i of the Hessian times v,
exactly, even where elements are 0.

    expected_second_derivatives.py
"""
import pathlib

HERE = pathlib.Path(__file__).resolve().parent


class Dual:
    def __init__(self, a, b=0.0, c=0.0, d=0.0):
        self.parts = (a, b, c, d)

    def function(self, value, first, second):
        _, b, c, d = self.parts
        return Dual(value, first * b, first * c, first * d + second * b * c)

    def __add__(self, o):
        return Dual(*(p + q for p, q in zip(self.parts, dual(o).parts)))

    def __mul__(self, o):
        a, b, c, d = self.parts
        p, q, r, s = dual(o).parts
        return Dual(a * p, a * q + b * p, a * r + c * p, a * s + b * r + c * q + d * p)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return -1.0 * self

    def __sub__(self, o):
        return self + -dual(o)

    def __abs__(self):
        a = self.parts[0]
        return self.function(abs(a), (a > 0) - (a < 0), 0.0)

    def power(self, p):
        a = self.parts[0]
        return self.function(a**p, p * a ** (p - 1), p * (p - 1) * a ** (p - 2) if p != 2 else 2.0)


def dual(x):
    return x if isinstance(x, Dual) else Dual(x)


def product(xs):
    result = Dual(1.0)
    for x in xs:
        result = result * x
    return result


def total(xs):
    return sum(xs, Dual(0.0))


def running(xs, exclusive):
    return [product(xs[: k if exclusive else k + 1]) for k in range(len(xs))]


def weighted(xs):
    return total((k + 1.0) * x for k, x in enumerate(xs))


def huber(x):
    a = abs(x)
    return 0.5 * x * x if a.parts[0] <= 1 else a - 0.5


def length(xs, p):
    """The norm; it is 0 without derivatives if all elements are 0."""
    if all(x.parts[0] == 0 for x in xs):
        return Dual(0.0)
    # For an element that is 0, |x|^p and its first derivative are 0, and the second is 2 if p is
    # 2.
    powers = [(x * x if p == 2 else Dual(0.0)) if x.parts[0] == 0 else abs(x).power(p) for x in xs]
    return total(powers).power(1.0 / p)


def ordered(xs):
    return sorted(xs, key=lambda x: x.parts[0])


def scattered(x, updates, places, combine):
    y = list(x)
    for place, update in zip(places, updates):
        y[place] = combine(y[place], update)
    return y


def larger(a, b):
    return a if a.parts[0] >= b.parts[0] else b


def pooled(xs, p):
    return [length(xs[:2], p), length(xs[2:], p)]


PLACES = [1, 2, 2, 0]
POOL = "dot(reshape([2], spatial.lp_pool(%s, [2], reshape([1, 1, 4], %s))), [1.0, 2.0])"
# name: the expression over x, and the function.
FUNCTIONS = {
    "cubed": ("sum(abs(x) * x * x)", lambda x: total(abs(e) * e * e for e in x)),
    "mae": ("loss.mae(x * x, [4.5, -1.0, 2.0, 0.5])",
            lambda x: 0.25 * total(abs(e * e - t) for e, t in zip(x, [4.5, -1.0, 2.0, 0.5]))),
    "huber": ("loss.huber(1.0, x * x, [1.0, 0.0, 20.0, 0.0])",
              lambda x: 0.25 * total(huber(e * e - t) for e, t in zip(x, [1.0, 0.0, 20.0, 0.0]))),
    "product": ("prod(x)", product),
    "columns": ("dot(prod(reshape([2, 2], x), axis=0), [1.0, 2.0])",
                lambda x: weighted([x[0] * x[2], x[1] * x[3]])),
    "outer_axes": ("dot(prod(reshape([2, 2, 1], x), axis=[2, 0]), [1.0, 2.0])",
                   lambda x: weighted([x[0] * x[2], x[1] * x[3]])),
    "so_far": ("dot(cumprod(x), [1.0, 2.0, 3.0, 4.0])", lambda x: weighted(running(x, False))),
    "before": ("dot(cumprod(x, exclusive=1), [1.0, 2.0, 3.0, 4.0])", lambda x: weighted(running(x, True))),
    "behind": ("dot(cumprod(x, exclusive=1, reverse=1), [4.0, 3.0, 2.0, 1.0])",
               lambda x: weighted(running(x[::-1], True))),
    "added": ('dot(scatter_elements(x * x, [1, 2, 2, 0], x * x, reduction="add"), [1.0, 2.0, 3.0, 4.0])',
              lambda x: weighted(scattered([e * e for e in x], [e * e for e in x], PLACES, lambda a, b: a + b))),
    "put": ("dot(scatter_elements(x * x, [1, 2, 2, 0], x * x * x), [1.0, 2.0, 3.0, 4.0])",
            lambda x: weighted(scattered([e * e for e in x], [e * e * e for e in x], PLACES, lambda a, b: b))),
    "largest": ('dot(scatter_nd(x * x, [[1], [2], [2], [0]], 9.5 - x * x, reduction="max"), [1.0, 2.0, 3.0, 4.0])',
                lambda x: weighted(scattered([e * e for e in x], [-(e * e) + 9.5 for e in x], PLACES, larger))),
    "ordered": ("dot(sort(x * x), [1.0, 2.0, 3.0, 4.0])", lambda x: weighted(ordered([e * e for e in x]))),
    "norm2": ("norm(x)", lambda x: length(x, 2)),
    "norm3": ("norm(x, ord=3)", lambda x: length(x, 3)),
    "pooled2": (POOL % ("2.0", "x * x"), lambda x: weighted(pooled([e * e for e in x], 2))),
    "pooled3": (POOL % ("3.0", "x * x + x"), lambda x: weighted(pooled([e * e + e for e in x], 3))),
    "powers": ("dot(pow(x, [0.0, 1.0, 2.0, 3.0]), [1.0, 2.0, 3.0, 4.0])",
               lambda x: weighted([Dual(1.0), x[1], x[2] * x[2], x[3] * x[3] * x[3]])),
}
X = [[1.0, 2.0, 0.5, -1.0], [2.0, 3.0, 0.0, 0.0], [0.0, 1.0, 2.0, 3.0], [-0.5, 0.0, 1.5, 0.0], [0.0, 0.0, -0.25, 0.0]]
V = [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.3, -0.7, 1.1, 0.5], [1.0, 2.0, -1.0, 0.5], [0.25, 1.0, 2.0, -1.0]]


def hessian_times(f, x, v):
    rows = []
    for i in range(len(x)):
        moved = [Dual(e, float(k == i), w) for k, (e, w) in enumerate(zip(x, v))]
        rows.append(f(moved).parts[3])
    return rows


def text(numbers):
    return "[" + ",".join(repr(0.0 if abs(n) < 1e-14 else float(n)) for n in numbers) + "]"


def program():
    lines = ["-- Hessians times a vector, of what is not smooth everywhere, and at zeros; by differentiating gradients.",
             "--", "-- Expected values, and this file: expected_second_derivatives.py.", "--", "-- tolerance: 1e-12",
             "-- run: main", "import loss;", "import spatial;", ""]
    for name, (expression, _) in FUNCTIONS.items():
        lines += [f"node {name}(x: f64[4]) -> (y)", f"  y = {expression};", f"node along_{name}(x: f64[4], v: f64[4]) -> (d)",
                  f"  _, dx = diff {name}(x, true, 1.0);", "  d = sum(dx * v);"]
    outputs = ", ".join(f"h_{name}: f64[4]" for name in FUNCTIONS)
    lines += ["", f"node main(x: f64[4], v: f64[4]) -> ({outputs})"]
    lines += [f"  _, h_{name}, _ = diff along_{name}(x, v, true, 1.0);" for name in FUNCTIONS]
    return "\n".join(lines) + "\n"


def main():
    (HERE / "second_derivatives.rml").write_text(program())
    rows = {"x": X, "v": V}
    (HERE / "second_derivatives.in.chron").write_text(
        "".join(f"{name} | {' '.join(map(text, row))}\n" for name, row in rows.items()))
    (HERE / "second_derivatives.out.chron").write_text("".join(
        f"h_{name} | {' '.join(text(hessian_times(f, x, v)) for x, v in zip(X, V))}\n"
        for name, (_, f) in FUNCTIONS.items()))


main()
