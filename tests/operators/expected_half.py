"""f16 and bf16: conversions rounded once, to nearest even, from the definition; comparisons;
moves.

A 16-bit float is represented by the equal f64. NumPy has no bf16, so both formats are rounded
here in exact rational arithmetic.
"""
from fractions import Fraction
import math

import numpy as np

FORMATS = {"f16": (10, 15), "bf16": (7, 127)}
PLAIN = {"bool": np.bool_, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
         "f32": np.float32, "f64": np.float64}


def rounded(value, kind):
    """The nearest number of the format; of two equally near ones, the one with an even last
    digit."""
    digits, bias = FORMATS[kind]
    if isinstance(value, float) and (math.isnan(value) or math.isinf(value) or value == 0):
        return value
    exact = Fraction(value)
    size = abs(exact)
    if size == 0:
        return 0.0
    exponent = math.floor(math.log2(size)) if size < 2**1000 else bias + 1
    while Fraction(2) ** exponent > size:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    unit = Fraction(2) ** (max(exponent, 1 - bias) - digits)
    result = round(size / unit) * unit  # numbers halfway between two units are rounded to even
    if result >= Fraction(2) ** (bias + 1):
        return math.copysign(math.inf, value)
    return math.copysign(float(result), value)


def add(cases, tensor):
    rng = np.random.default_rng(16)

    def text(kind, values):
        if kind in FORMATS:
            return [kind, [len(values)], tensor(np.array(values, np.float64))[2]]
        return tensor(np.array(values, PLAIN[kind]))

    def case(op, operands, result, **attributes):
        cases.append({"op": op, "in": operands, "attr": attributes, "out": result, "tol": 0.0})

    floats = [0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, 65504.0, 65519.99, 65520.0, -65536.0, 2.0**-24,
              2.0**-25, 1.5 * 2.0**-25, 2.0**-14, 1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-11 + 2.0**-40,
              1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-8 + 2.0**-50, 1 + 2.0**-8 - 2.0**-50, 3.3895e38, 3.3961e38, 3.4e38, 1e300,
              -1e300, 1e-300, 9.2e-41, 1e-45, 0.1, -2.7, 127.5, 300.7, -40000.0, 5e9]
    floats += [float(x) for x in rng.normal(size=30) * 10.0 ** rng.integers(-8, 9, 30)]
    whole = [0, 1, -1, 100, -128, 127, 255, 2047, 2049, 2051, -2051, 32767, 65519, 65520, 2**24 + 1, 2**31 - 1, -2**31, 2**53 + 1,
             2**62 + 2**54, 2**62 + 2**54 + 1, 2**62 + 2**54 - 1, -2**62 - 2**54 - 1, 2**63 - 1, -2**63, 2**62 + 3 * 2**54]
    for half in FORMATS:
        for kind, dtype in PLAIN.items():
            if kind.startswith("f"):
                source = [float(dtype(x)) for x in floats] if kind == "f64" else [float(np.float32(x)) for x in floats]
            elif kind == "bool":
                source = [False, True]
            else:
                info = np.iinfo(dtype)
                source = [x for x in whole if info.min <= x <= info.max]
            case("cast", [text(kind, source)], text(half, [rounded(x, half) if not isinstance(x, bool) else float(x)
                                                           for x in source]), dtype=half)
        held = [rounded(x, half) for x in floats]
        for kind, dtype in PLAIN.items():
            if kind.startswith("f"):
                back = [float(dtype(x)) for x in held]
            elif kind == "bool":
                back = [x != 0 for x in held]
            else:
                info = np.iinfo(dtype)
                back = [0 if math.isnan(x) else info.max if x >= info.max else info.min if x <= info.min else math.trunc(x)
                        for x in held]
            case("cast", [text(half, held)], text(kind, back), dtype=kind)
        other = "bf16" if half == "f16" else "f16"
        case("cast", [text(half, held)], text(other, [rounded(x, other) for x in held]), dtype=other)
        case("cast_like", [text(half, held), text("f32", [1.0])], text("f32", held))
        a, b = held[:8], [held[k] for k in (1, 2, 2, 4, 4, 5, 6, 3)]
        for op, f in {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
                      "ge": np.greater_equal}.items():
            case(op, [text(half, a), text(half, b)], text("bool", f(np.array(a), np.array(b))))
        case("select", [text("bool", [True, False] * 4), text(half, a), text(half, b)],
             text(half, [x if k % 2 == 0 else y for k, (x, y) in enumerate(zip(a, b))]))
        case("concat", [text(half, a), text(half, b)], text(half, a + b))
        case("slice", [text(half, a)], text(half, a[1:6:2]), starts=1, stops=6, steps=2)
        case("index", [text(half, a), tensor(np.int32(4))], [half, [], tensor(np.float64(a[4]))[2]])
        case("zeros_like", [text(half, a)], text(half, [0.0] * len(a)))
        case("ones_like", [text(half, a)], text(half, [1.0] * len(a)))
        case("transpose", [[half, [2, 4], text(half, a)[2]]],
             [half, [4, 2], tensor(np.array(a).reshape(2, 4).T)[2]])
        case("broadcast_to", [text(half, [a[3]])], text(half, [a[3]] * 3), shape=[3])
