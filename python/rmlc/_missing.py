"""Missing values of inputs, which `missing=` of a run interprets like `--missing` of the command.

A value is missing where a table has NA, None, NaT or null, where an array is masked, where a list has None, and where a
`Sampled` has no value. With "absent", NaN is missing as well in a stream that may be absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._arrays import describe, numpy
from ._ports import Port

MODES = ("error", "absent", "nan")
FLOATS = ("bf16", "f16", "f32", "f64")

# An array of values over cycles, and where they are present (None: in every cycle).
Values = tuple[Any, Any]


def check_mode(missing: Any) -> None:
    if not isinstance(missing, str):
        raise TypeError(f"missing: expected 'error', 'absent' or 'nan', got {describe(missing)}; give an input of this "
                        "name in a mapping: run({'missing': …})")
    if missing not in MODES:
        raise ValueError(f"missing: expected 'error', 'absent' or 'nan', got {missing!r}")


def sampler(port: Port) -> tuple[str, bool] | None:
    """Returns the flag of a port, and whether the port is present where the flag is true.

    The flag is the Boolean input that the clock of the port names. None if no single input is the whole clock.
    """
    base, on, flag = port.clock.partition(" on ")
    if base != "base" or not on or " on " in flag:
        return None
    name = flag.removeprefix("not ")
    return name, name == flag


def flags(ports: Sequence[Port], missing: str, given: Iterable[str] | None = None) -> dict[str, list[Port]]:
    """Returns the flags that may follow from other inputs, each with the inputs that it is the flag of.

    given: the inputs that have values. A flag follows only from these.
    """
    if missing != "absent":
        return {}
    known = None if given is None else set(given)
    found: dict[str, list[Port]] = {}
    scalars = {port.name for port in ports if port.always and port.dtype == "bool" and port.shape == ()}
    for port in ports:
        clock = sampler(port)
        if clock is not None and clock[0] in scalars and (known is None or port.name in known):
            found.setdefault(clock[0], []).append(port)
    return found


def readable(ports: Sequence[Port], missing: str) -> list[Port]:
    """Returns the ports as their columns are read: those whose missing values get a value afterwards may be absent."""
    of_cells = flags(ports, missing)
    return [port._replace(always=False) if port.name in of_cells or missing == "nan" and port.dtype in FLOATS else port
            for port in ports]


def settle(ports: Sequence[Port], values: dict[str, Values], given: Mapping[str, Any], missing: str) -> None:
    """Decides what missing values mean. `values` has the inputs as `readable` accepts them."""
    if missing == "absent":
        for port in ports:
            if not port.always and port.dtype in FLOATS:
                values[port.name] = _without_nan(port, *values[port.name])
        for name, sampled in flags(ports, missing, given).items():
            values[name] = _derived(name, sampled, values)
    elif missing == "nan":
        for port in ports:
            if port.dtype in FLOATS:
                values[port.name] = _with_nan(port, values, given)
    for port in ports:
        if not port.always:
            continue
        array, present = values[port.name]
        if present is not None and not present.all():
            raise ValueError(f"{port.name}: cycle {int((~present).argmax())}: no value, but this input is present in "
                             "every cycle")
        values[port.name] = array, None


def _is_nan(port: Port, array: Any) -> Any:
    return (array & 0x7FFF) > 0x7F80 if port.dtype == "bf16" and array.dtype.kind == "u" else array != array


def _without_nan(port: Port, array: Any, present: Any) -> Values:
    np = numpy()
    nan = _is_nan(port, array)
    axes = tuple(range(1, nan.ndim))
    whole, some = nan.all(axis=axes) & (nan.size > 0), nan.any(axis=axes)
    if present is not None:
        some = some & present
    if (some & ~whole).any():
        raise ValueError(f"{port.name}: cycle {int((some & ~whole).argmax())}: only some elements of the value are "
                         "NaN; make all of them NaN or none")
    if not whole.any():
        return array, present
    return array, ~whole if present is None else present & ~whole


def _derived(name: str, sampled: Sequence[Port], values: Mapping[str, Values]) -> Values:
    """Returns the flag: the given values, and elsewhere the presence of the inputs whose flag it is."""
    np = numpy()
    array, present = values[name]
    unknown = np.zeros(len(array), bool) if present is None else ~present
    if not unknown.any():
        return array, None
    truths = []
    for port in sampled:
        there = values[port.name][1]
        there = np.ones(len(array), bool) if there is None else there
        clock = sampler(port)
        truths.append(there if clock is not None and clock[1] else ~there)
    for port, truth in zip(sampled[1:], truths[1:]):
        against = unknown & (truth != truths[0])
        if against.any():
            raise ValueError(f"{name}: cycle {int(against.argmax())}: by {sampled[0].name} ({sampled[0].type}) it is "
                             f"{bool(truths[0][against.argmax()])}, by {port.name} ({port.type}) it is not; give the "
                             "values of this flag, or give each input a flag of its own")
    return np.where(unknown, truths[0], array), None


def _with_nan(port: Port, values: Mapping[str, Values], given: Mapping[str, Any]) -> Values:
    """Returns a stream of floats with NaN where a value is due and missing."""
    np = numpy()
    array, present = values[port.name]
    if present is None:
        return array, present
    due = np.ones(len(array), bool) if port.always else np.zeros(len(array), bool)
    clock = sampler(port)
    if clock is not None and given.get(clock[0]) is not None:
        flag = values[clock[0]][0]
        due = flag if clock[1] else ~flag
    missing = due & ~present
    if missing.any():
        array = array.copy()
        array[missing] = 0x7FC0 if array.dtype.kind == "u" else np.nan
    return array, present | missing
