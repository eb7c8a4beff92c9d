"""Draws rows for the inputs of a node and writes them as a chronogram."""

import math
import struct

FRACTION_BITS = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}
LARGEST_EXPONENT = {"f16": 15, "bf16": 127, "f32": 127, "f64": 1023}
ELEMENTS = 40_000  # limit of the elements in all rows together


def write_rows(path, ports, rng):
    """Writes some tens of cycles; fewer if tensors are large."""
    cycles = max(4, min(40, ELEMENTS // max(1, sum(port.elements for port in ports))))
    extreme = rng.choice([0, 0.003, 0.2])
    cells = {port.name: [] for port in ports}
    for _ in range(cycles):
        present = {}
        for port in ports:
            text = cell(port, rng, extreme) if is_present(port, present, rng, extreme) else "."
            present[port.name] = text
            cells[port.name].append(text)
    path.write_text("".join(f"{name} | {' '.join(row)}\n" for name, row in cells.items()) or "\n")


def is_present(port, present, rng, extreme):
    """True if the clock of the port ticks (`base on c on not s`); rarely the opposite, which
    is a fault."""
    ticks = all(present.get(name.removeprefix("not ")) == ("F" if name.startswith("not ") else "T")
                for name in port.clock.split(" on ")[1:])  # fmt: skip
    return not ticks if port.clock != "base" and rng.random() < extreme / 10 else ticks


def cell(port, rng, extreme):
    texts = [element(port.dtype, rng, extreme) for _ in range(port.elements)]
    return nested(texts, port.shape) if port.shape else texts[0]


def nested(texts, shape):
    """Tensors as in chronograms: `[a,b;c,d]` for matrices, `[[…],[…]]` for more axes, `[]` if
    there are no elements."""
    if len(shape) == 1 or not texts:
        return "[" + ",".join(texts) + "]"
    size = len(texts) // shape[0]
    parts = [nested(texts[k * size : (k + 1) * size], shape[1:]) for k in range(shape[0])]
    return "[" + (";".join(part[1:-1] for part in parts) if len(shape) == 2 else ",".join(parts)) + "]"


def element(dtype, rng, extreme):
    wild = rng.random() < extreme
    if dtype == "bool":
        return rng.choice("FT")
    if dtype in FRACTION_BITS:
        return repr(extreme_float(dtype, rng) if wild else rounded(dtype, ordinary_float(rng)))
    low, high = limits(dtype)
    return str(extreme_integer(low, high, rng) if wild else rng.randint(max(low, -4), 5))


def limits(dtype):
    bits = int(dtype[1:])
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if dtype[0] == "i" else (0, 2**bits - 1)


def extreme_integer(low, high, rng):
    return rng.choice([low, low + 1, high, high - 1, rng.randint(low, high)])


def ordinary_float(rng):
    return rng.choice([rng.randint(-4, 4) / 4, rng.gauss(0, 2)])


def extreme_float(dtype, rng):
    exponent, bits = LARGEST_EXPONENT[dtype], FRACTION_BITS[dtype]
    largest = math.ldexp(2 - 2.0**-bits, exponent)
    least = math.ldexp(1, 1 - exponent)
    sign = rng.choice([1, -1])
    return sign * rng.choice([
        math.inf, math.nan, 0.0, largest, least, math.ldexp(least, -bits), math.ldexp(1, bits + 1), 2.0**31, 2.0**63,
        rounded(dtype, math.ldexp(rng.random(), rng.randint(-exponent, exponent))),
    ] if dtype != "f16" else [math.inf, math.nan, 0.0, largest, least, math.ldexp(least, -bits), 2048.0])  # fmt: skip


def rounded(dtype, value):
    """Rounds to the type, and writes the result exactly as text."""
    if dtype == "f64":
        return value
    if dtype == "bf16":
        return struct.unpack("<f", struct.pack("<I", struct.unpack("<I", struct.pack("<f", value))[0] & 0xFFFF0000))[0]
    code = {"f16": "<e", "f32": "<f"}[dtype]
    return struct.unpack(code, struct.pack(code, value))[0]
