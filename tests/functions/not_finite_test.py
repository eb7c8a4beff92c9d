"""`inf` and `nan` in programs must behave as in NumPy, if the compiler folds them, if either
engine computes them, and if the simplifier sees only one of two operands.

Run by ctest: not_finite_test.py RMLC
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

RMLC = sys.argv[1]
VALUES = ["0.0", "-0.0", "1.0", "-2.5", "3.0e38", "1.0e-30", "inf", "-inf", "nan"]
INFIX = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "%": np.fmod, "==": np.equal,
         "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
# Of two equal zeros, the language's extrema return the first one; NumPy may return either.
BINARY = {"maximum": lambda a, b: a if a == b else np.maximum(a, b),
          "minimum": lambda a, b: a if a == b else np.minimum(a, b), "pow": np.power, "atan2": np.arctan2}
UNARY = {"-": np.negative, "abs": np.abs, "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "tanh": np.tanh,
         "sign": np.sign, "floor": np.floor, "round": np.round, "sin": np.sin, "isnan": np.isnan, "isinf": np.isinf,
         "isfinite": np.isfinite}
# Expressions of a stream x that the simplifier must not change.
KEPT = {"x * 0.0": lambda x: x * 0, "0.0 * x": lambda x: 0 * x, "x + 0.0": lambda x: x + 0, "x - x": lambda x: x - x,
        "x / x": lambda x: x / x, "0.0 / x": lambda x: 0 / x, "x - inf": lambda x: x - np.inf,
        "x / inf": lambda x: x / np.inf, "x == x": lambda x: x == x, "x != x": lambda x: x != x,
        "x <= x": lambda x: x <= x, "not (x < nan)": lambda x: np.isfinite(np.zeros_like(x)),
        "not (x < inf)": lambda x: ~(x < np.inf), "x < nan or x >= nan": lambda x: np.isnan(np.zeros_like(x)),
        "if x < nan then x else -inf": lambda x: np.full_like(x, -np.inf),
        "if x <= inf then 1.0 else 2.0": lambda x: np.where(x <= np.inf, 1, 2),
        "minimum(x, inf)": lambda x: np.minimum(x, np.inf), "maximum(x, -inf)": lambda x: np.maximum(x, -np.inf),
        "maximum(x, nan)": lambda x: np.full_like(x, np.nan), "sum([x, inf])": lambda x: x + np.inf,
        "max([x, -inf])": lambda x: x, "log(softmax([x, -inf]))[0]": lambda x: np.where(np.isfinite(x), 0, np.nan),
        "exp(-inf) * x": lambda x: 0 * x, "matmul([[x]], [[inf]])[0, 0]": lambda x: x * np.inf}


def operations():
    """Expressions of a column `a` and a row `b`, and functions of their elements."""
    for sign, function in INFIX.items():
        yield f"a {sign} b", np.vectorize(function)
    for name, function in BINARY.items():
        yield f"{name}(a, b)", np.vectorize(function)
    for name, function in UNARY.items():
        yield f"{name}(a)", lambda a, _, of=function: of(a)


def computed(dtype, values):
    """The equations of the operations, and the values of all elements."""
    equations, wanted = [], []
    for i, (text, function) in enumerate(operations()):
        result = function(values[:, None], values[None, :])
        kind = "bool" if result.dtype == bool else dtype
        equations.append((f"c{i}: {kind}[{len(values)}, {result.shape[1]}]", text))
        wanted += [(text, w) for w in result.ravel()]
    return equations, wanted


def node(name, inputs, equations):
    outputs = ", ".join(case for case, _ in equations)
    lines = "".join(f"  {case.split(':')[0]} = {text};\n" for case, text in equations)
    return f"node {name}({inputs}) -> ({outputs})\n{lines}"


def rows(source, name, text, *options):
    done = subprocess.run([RMLC, "run", source, "--node", name, *options], input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name} {options}: {done.stderr[:2000]}")
    return [line.split(",") for line in done.stdout.splitlines()[1:]]


def same(got, wanted, dtype):
    if isinstance(wanted, (bool, np.bool_)):
        return got == str(bool(wanted)).lower()
    number, close = np.float64(got), 1e-6 if dtype == "f32" else 1e-13
    if np.isnan(wanted) or np.isinf(wanted) or wanted == 0:
        return np.isnan(number) if np.isnan(wanted) else number == wanted and np.signbit(number) == np.signbit(wanted)
    return np.isclose(number, wanted, rtol=close, atol=0)


def main():
    problems = []
    np.seterr(all="ignore")
    n, written = len(VALUES), ", ".join(VALUES)
    with tempfile.TemporaryDirectory() as place:
        for dtype, number in (("f32", np.float32), ("f64", np.float64)):
            values = np.array(VALUES, number)
            equations, wanted = computed(dtype, values)
            literals = [(f"a: {dtype}[{n}, 1]", f"reshape([{n}, 1], [{written}])"), (f"b: {dtype}[{n}]", f"[{written}]")]
            inputs = [(f"a: {dtype}[{n}, 1]", f"reshape([{n}, 1], v)"), (f"b: {dtype}[{n}]", "v")]
            kept = [(f"k{i}: {'bool' if of(values).dtype == bool else dtype}", text) for i, (text, of) in
                    enumerate(KEPT.items())]
            source = pathlib.Path(place) / f"{dtype}.rml"
            source.write_text(node("folded", "", literals + equations) +
                              node("computed", f"v: {dtype}[{n}]", inputs + equations) +
                              node("kept", f"x: {dtype}", kept))
            row = ",".join(f"v[{i}]" for i in range(n)) + "\n" + ",".join(VALUES) + "\n"
            for options in (["-O2"], ["-O0"], ["--engine", "reference"]):
                for name, text in (("folded", ""), ("computed", row)):
                    [got] = rows(source, name, text, "--cycles", "1", *options)
                    problems += [f"{dtype} {name} {options}: an element of {of} is {g}, not {w}"
                                 for g, (of, w) in zip(got[-len(wanted):], wanted, strict=True) if not same(g, w, dtype)]
                table = rows(source, "kept", "x\n" + "\n".join(VALUES) + "\n", *options)
                for i, (text, of) in enumerate(KEPT.items()):
                    problems += [f"{dtype} kept {options}: {text} of {v} is {row[i]}, not {w}"
                                 for row, v, w in zip(table, VALUES, of(values), strict=True)
                                 if not same(row[i], w, dtype)]
    sys.exit("\n".join(problems) or 0)


main()
