"""The inputs of a run: a column of values for each input of the node."""

from __future__ import annotations

from collections.abc import Mapping

from ._arrays import as_array, column, has_cycles, numpy, whole
from ._missing import check_mode, flags, readable, settle
from ._ports import NUMPY_NAMES
from ._sampled import Sampled
from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from ._node import Node


def columns(node: Node, inputs: Any, named: Mapping[str, Any], missing: str = "error") -> dict[str, Any]:
    """Returns the given columns by name: those of the mapping or table, and those of the named arguments."""
    check_mode(missing)
    if inputs is None:
        return dict(named)
    if isinstance(inputs, Mapping):
        given = dict(inputs)
    else:
        from .tables import columns_of

        ports = [port for port in readable(node.inputs, missing) if port.name not in named]
        given = columns_of(inputs, ports, flags(node.inputs, missing))
    twice = given.keys() & named.keys()
    if twice:
        raise TypeError(f"{min(twice)}: given twice, in the table or mapping and by name; remove one of the two")
    return {**given, **named}


def gather(node: Node, inputs: Mapping[str, Any], cycles: int | None, copy: bool,
           missing: str = "error") -> tuple[list[Any], list[Any], int]:
    """Returns for each input its values over cycles, for each input where it is present, and the number of cycles."""
    check_mode(missing)
    np, ports, given = numpy(), node.inputs, dict(inputs)
    unknown = [name for name in given if all(name != port.name for port in ports)]
    if unknown:
        raise TypeError(f"no input '{unknown[0]}'; the inputs are: {', '.join(port.name for port in ports)}")
    if not ports and cycles is None:
        raise TypeError("the number of cycles is unknown, because the node has no inputs: give `cycles=`")
    if cycles is not None:
        cycles = whole(cycles, "cycles", 0, 2**63 - 1)
    values: dict[str, tuple[Any, Any]] = {}
    given = {name: value for name, value in given.items() if value is not None}
    derived = flags(ports, missing, given)
    for port in ports:
        if port.always and port.name not in given and port.name not in derived:
            raise TypeError(f"{port.name}: missing; this input is present in every cycle, so give its values")
    # Inputs with a length come first, because they determine the number of cycles.
    count = cycles
    later = []
    for port in readable(ports, missing):
        value = given.get(port.name)
        if value is None:
            later.append(port)
            continue
        if not isinstance(value, (Sampled, list, tuple)) and hasattr(value, "__array__"):
            if not isinstance(value, np.ma.MaskedArray):
                value = given[port.name] = as_array(value, port.name, f"cycles of {port.type}")
        if isinstance(value, Sampled) or not has_cycles(value):
            later.append(port)
            continue
        values[port.name] = column(value, port, count, copy)
        count = len(values[port.name][0])
    for port in later:
        value = given.get(port.name)
        if value is not None:
            values[port.name] = column(value, port, count, copy)
            continue
        if count is None:
            raise TypeError(f"{port.name}: the number of cycles is unknown, as no input has a length: give `cycles=`")
        dtype = np.uint16 if port.dtype == "bf16" else NUMPY_NAMES[port.dtype]
        values[port.name] = np.zeros((count, *port.shape), dtype), np.zeros(count, bool)
    if missing != "error":
        settle(ports, values, given, missing)
    return [values[p.name][0] for p in ports], [values[p.name][1] for p in ports], count or 0
