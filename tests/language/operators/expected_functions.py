"""Writes the chronograms of further_functions.rml, bits.rml and reductions.rml, by NumPy and
SciPy."""
import pathlib
import sys

import numpy as np
from scipy import special

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent.parent / "figures"))
from chronogram import write  # noqa: E402

random = np.random.default_rng(5)
ROWS, COLUMNS, CYCLES = 5, 8, 3  # more elements than are unrolled


def floats():
    return np.round(random.uniform(-2, 2, (ROWS, COLUMNS)), 2)


def softplus(x):
    return np.logaddexp(0, x)


FUNCTIONS = {
    "log1p": lambda x: np.log1p(np.abs(x)), "expm1": np.expm1, "log2": lambda x: np.log2(np.abs(x) + 1),
    "log10": lambda x: np.log10(np.abs(x) + 1), "exp2": np.exp2, "tan": np.tan, "asin": lambda x: np.arcsin(x / 2),
    "acos": lambda x: np.arccos(x / 2), "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "asinh": np.arcsinh,
    "acosh": lambda x: np.arccosh(np.abs(x) + 1), "atanh": lambda x: np.arctanh(x / 4), "erf": special.erf,
    "erfc": special.erfc, "cbrt": np.cbrt, "softplus": lambda x: softplus(x * 500), "rsqrt": lambda x: 1 / np.sqrt(np.abs(x) + 1),
    "reciprocal": lambda x: 1 / (x + 3), "square": np.square, "trunc": np.trunc,
}


def functions():
    xs = [floats() for _ in range(CYCLES)]
    ys = [floats() for _ in range(CYCLES)]
    # The first inputs give 1 / 0 and 0 / 0, which are infinity and NaN.
    xs[0][0, 0], ys[0][0, :2] = 0.0, 0.0
    write("further_functions.in.chron", {"x": xs, "y": ys})
    rows = {name: [f(x) for x in xs] for name, f in FUNCTIONS.items()}
    both = list(zip(xs, ys))
    rows |= {
        "atan2": [np.arctan2(x, y) for x, y in both],
        "hypot": [np.hypot(x, y) for x, y in both],
        "copysign": [np.copysign(x, y) for x, y in both],
        "floor_mod": [np.remainder(x, y + 3) for x, y in both],
        "clip": [np.clip(x, -1.0, y[0] + 2) for x, y in both],
    }
    with np.errstate(all="ignore"):
        quotients = [x / y for x, y in both]
    rows |= {"isnan": [np.isnan(q) for q in quotients], "isinf": [np.isinf(q) for q in quotients],
             "isfinite": [np.isfinite(q) for q in quotients]}
    write("further_functions.out.chron", rows)


def bits():
    for name, dtype in (("i32", np.int32), ("u8", np.uint8), ("i64", np.int64)):
        info = np.iinfo(dtype)
        a = random.integers(info.min, info.max, (CYCLES, 24), dtype=dtype, endpoint=True)
        b = random.integers(-4 if info.min else 0, info.bits + 4, (CYCLES, 24)).astype(dtype)
        divisors = np.where(b == 0, 3, b).astype(dtype)
        write(f"bits_{name}.in.chron", {"a": list(a), "b": list(b), "d": list(divisors)})
        within = (b >= 0) & (b < info.bits)
        n = np.where(within, b, 0)
        write(f"bits_{name}.out.chron", {
            "both": list(a & b), "one": list(a | b), "either": list(a ^ b), "others": list(~a),
            "up": list(np.where(within, a << n, 0).astype(dtype)),
            "down": list(np.where(within, a >> n, np.where(a < 0, -1, 0)).astype(dtype)),
            "rest": list(np.remainder(a, divisors)), "squared": list(a * a),
            "bounded": list(np.minimum(np.maximum(a, dtype(3)), dtype(90))),
        })


def reductions():
    xs = [floats() for _ in range(CYCLES)]
    xs[1][2, 3] = xs[1][4, 4] = xs[1][4, 5] = 0
    write("reductions.in.chron", {"x": xs})
    each = {
        "p": lambda x: np.prod(x, axis=1), "p_all": np.prod, "a": lambda x: np.all(x != 0, axis=0),
        "o": lambda x: np.any(x > 1.9, axis=1, keepdims=True), "every": lambda x: np.all(x > -3), "n": np.count_nonzero,
        "n_0": lambda x: np.count_nonzero(x > 0, axis=0).astype(np.int32),
        "v": lambda x: np.var(x, axis=0), "v_1": lambda x: np.var(x, axis=1, ddof=1, keepdims=True), "s": np.std,
        "l": lambda x: special.logsumexp(500 * x, axis=1), "l_all": special.logsumexp,
        "norm_2": np.linalg.norm, "norm_1": lambda x: np.linalg.norm(x, 1, axis=1),
        "norm_3": lambda x: np.linalg.norm(x, 3, axis=0, keepdims=True),
        "norm_inf": lambda x: np.linalg.norm(x, np.inf, axis=1),
        "soft": lambda x: special.softmax(x, axis=-1), "soft_0": lambda x: special.softmax(300 * x, axis=0),
        "log_soft": lambda x: special.log_softmax(300 * x, axis=1),
        "first": lambda x: np.argmax(np.trunc(x), axis=1).astype(np.int32),
        "last": lambda x: (COLUMNS - 1 - np.argmax(np.trunc(x)[:, ::-1], axis=1)).astype(np.int32),
    }
    write("reductions.out.chron", {name: [f(x) for x in xs] for name, f in each.items()})


functions()
bits()
reductions()
