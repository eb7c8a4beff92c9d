"""Chronograms with exactly the characters that the command `rmlc trace` writes (docs/language.md, "Chronograms").

A chronogram has a line for each stream and a column for each cycle, aligned to the right. `.` means absent, and `?`
means not determined.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ._arrays import as_float32, numpy
from ._sampled import Sampled

if TYPE_CHECKING:
    from ._node import Node
    from ._ports import Port
    from ._rows import Rows

ABSENT, UNDETERMINED = ".", "?"


def number_text(value: Any) -> str:
    """Writes a NumPy scalar or a Python number with the fewest characters that give the same bits when read.

    The shorter one of the fixed and the scientific form is used; if they have equal length, the fixed form. 16-bit
    floats are written like the f32 of the same value.
    """
    np = numpy()
    if isinstance(value, (bool, np.bool_)):
        return "T" if value else "F"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    size = abs(value)
    if size == 0:
        return sign + "0"
    if isinstance(size, np.float16):
        size = np.float32(size)
    narrow = isinstance(size, np.float32)
    digits, exponent = _digits(np.format_float_scientific(size, trim="-") if narrow else repr(float(size)))
    # An exponent takes four characters, a decimal point one, which a single digit does not need.
    single = len(digits) == 1
    if not -(len(digits) + 3) + single <= exponent <= 5 - single:
        power = exponent + len(digits) - 1
        return f"{sign}{digits[0]}{'' if single else '.'}{digits[1:]}e{'-' if power < 0 else '+'}{abs(power):02d}"
    if exponent >= 0:
        return sign + str(int(size))  # writes all digits of an integer
    if len(digits) > -exponent:
        return sign + digits[:exponent] + "." + digits[exponent:]
    return sign + "0." + digits.rjust(-exponent, "0")


def _digits(text: str) -> tuple[str, int]:
    """Returns the significant digits of a decimal number, and the power of ten of the last digit."""
    mantissa, _, power = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    exponent = int(power or 0) - len(fraction)
    digits = (whole + fraction).lstrip("0")
    short = digits.rstrip("0")
    return short, exponent + len(digits) - len(short)


def value_text(value: Any) -> str:
    """Writes a scalar or a tensor: `2.5`, `[1,2;3,4]`, `[[1,2;3,4],[5,6;7,8]]`."""
    np = numpy()
    array = np.asarray(value)
    if array.ndim == 0:
        return number_text(array[()])
    return _tensor_text(array) if array.size else "[]"


def _tensor_text(array: Any) -> str:
    if array.ndim == 1:
        return "[" + ",".join(map(number_text, array)) + "]"
    if array.ndim == 2:
        return "[" + ";".join(",".join(map(number_text, row)) for row in array) + "]"
    return "[" + ",".join(map(_tensor_text, array)) + "]"


def _input_cells(values: Any, present: Any, port: Port) -> list[str]:
    if port.dtype == "bf16":
        values = as_float32(values)
    if port.always or present is None:
        return [value_text(value) for value in values]
    return [value_text(value) if there else ABSENT for value, there in zip(values, present)]


def _output_cells(parts: Iterable[Rows], name: str, count: int) -> list[str]:
    cells = [UNDETERMINED] * count
    for rows in parts:
        column = rows[name]
        if isinstance(column, Sampled):
            cells[rows.cycles.start : rows.cycles.stop] = [ABSENT] * len(rows)
            for cycle, value in column:
                cells[int(cycle)] = value_text(value)
        else:
            cells[rows.cycles.start : rows.cycles.stop] = map(value_text, column)
    return cells


def layout(streams: Sequence[tuple[str, list[str]]]) -> str:
    """Writes names and cells as lines with aligned columns."""
    widest = max((len(name) for name, _ in streams), default=0)
    widths = [max(map(len, column)) for column in zip(*(cells for _, cells in streams))]
    return "".join(f"{name:<{widest}} |" + "".join(f" {cell:>{width}}" for cell, width in zip(cells, widths)) + "\n"
                   for name, cells in streams)


def input_text(node: Node, values: Sequence[Any], present: Sequence[Any]) -> str:
    """Writes the inputs of a run as a chronogram that a command can read."""
    return layout([(port.name, _input_cells(column, there, port))
                   for port, column, there in zip(node.inputs, values, present)])


def chronogram_text(node: Node, values: Sequence[Any], present: Sequence[Any], count: int,
                    parts: Sequence[Rows]) -> str:
    """Writes the chronogram of a run from cycle 0: its inputs, watched variables and outputs.

    values, present: the values of each input over `count` cycles, and where they are present, as the run read them.
    parts: the rows that the run returned. In all other rows, the outputs are written as not determined.
    """
    streams = [(port.name, _input_cells(column, there, port))
               for port, column, there in zip(node.inputs, values, present)]
    outputs = node.outputs[: len(node.outputs) - len(node.watched)]
    own = {port.name for port in outputs}
    shown = {name for name, _ in streams}
    for port in [*(each for each in node.watched if each.name not in own), *outputs]:
        if port.name not in shown:
            shown.add(port.name)
            streams.append((port.name, _output_cells(parts, port.name, count)))
    return layout(streams)
