"""Divides the input of `Instance.stream` into blocks: tables into parts, Parquet files into batches.

Single rows are collected into blocks. Each row is checked when it arrives, so that a message can name the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from . import _arrays
from ._arrays import describe, numpy
from ._missing import check_mode, flags, readable
from ._ports import Port
from ._sampled import Sampled
from .tables import Parquet, did_you_mean, found_in, is_missing, is_pandas, is_table, masked, slices_of


def blocks_of(reader: Any, given_ports: Sequence[Port], block: int, missing: str = "error") -> Iterator[Any]:
    """Yields the input of `Instance.stream` as blocks for `Instance.run`.

    A table is divided into blocks of `block` rows, a Parquet file into its batches. Each item of another iterable is a
    block or a row. A block is a table, or a mapping of arrays whose first axis is the cycle; it is passed on unchanged.
    A row is a mapping of values by name, or a tuple of values in the order of the inputs. An absent value is None or
    has no entry. `block` rows are collected into one block. For a node with one input, an array alone is a block or a
    value of this input. An item is read only when it is needed.
    """
    check_mode(missing)
    ports, optional = readable(given_ports, missing), flags(given_ports, missing)
    if block < 1:
        raise ValueError(f"block: expected a positive number of rows, got {block}")
    if not ports:
        raise TypeError("reader: the node has no inputs to stream; use run(cycles=…) to compute its rows")
    if isinstance(reader, Parquet):
        return reader.batches(found_in(reader.names, ports, optional))
    if is_pandas(reader):
        return (reader.iloc[k : k + block] for k in range(0, len(reader), block))
    if is_table(reader) and not isinstance(reader, Iterator):
        return slices_of(reader, given_ports, block)
    if isinstance(reader, Mapping) or not isinstance(reader, Iterable):
        given = "a mapping, which is one block; use run() for it" if isinstance(reader, Mapping) else describe(reader)
        raise TypeError(f"reader: expected a table, or an iterator of blocks or rows, got {given}")
    return _gathered(reader, ports, block)


def _gathered(reader: Iterable[Any], ports: Sequence[Port], block: int) -> Iterator[Any]:
    rows = _RowBlock(ports)
    for item in reader:
        if is_table(item):
            whole = True
        else:
            item = _named(item, ports, rows.number)
            whole = _is_block(item, ports)
        if whole:
            if len(rows):
                yield rows.take()
            yield item
        else:
            rows.add(item)
            if len(rows) == block:
                yield rows.take()
    if len(rows):
        yield rows.take()


def _named(item: Any, ports: Sequence[Port], number: int) -> Mapping[str, Any]:
    if isinstance(item, Mapping):
        return item
    if len(ports) == 1 and not isinstance(item, tuple):
        return {ports[0].name: item}
    if not isinstance(item, (tuple, list)):
        raise TypeError(f"row {number}: expected a mapping or a tuple of values, got {describe(item)}")
    if len(item) != len(ports):
        raise TypeError(f"row {number}: expected a value for each of the {len(ports)} inputs "
                        f"({', '.join(port.name for port in ports)}), got {len(item)} values")
    return {port.name: value for port, value in zip(ports, item)}


def _is_block(item: Mapping[str, Any], ports: Sequence[Port]) -> bool:
    """Returns whether a value has an additional first axis, which is the cycle."""
    for port in ports:
        value = item.get(port.name)
        if isinstance(value, Sampled) or value is not None and _axes(value) == len(port.shape) + 1:
            return True
    return False


def _axes(value: Any) -> int:
    """Returns the number of axes of an array or of nested lists. Only the first elements of lists are inspected."""
    if hasattr(value, "ndim"):
        return int(value.ndim)
    depth = 0
    while isinstance(value, (list, tuple)):
        depth += 1
        value = next((each for each in value if each is not None), None)
    return depth + int(getattr(value, "ndim", 0))


class _RowBlock:
    """Collects rows into a block, and checks each row when it is added."""

    def __init__(self, ports: Sequence[Port]) -> None:
        self._ports = ports
        self._names = {port.name for port in ports}
        self.number = 0  # the number of the next row
        self._values: list[list[Any]] = [[] for _ in ports]

    def __len__(self) -> int:
        return len(self._values[0])

    def add(self, row: Mapping[str, Any]) -> None:
        unknown = [name for name in row if name not in self._names]
        if unknown:
            raise TypeError(f"row {self.number}: no input '{unknown[0]}'{did_you_mean(unknown[:1], self._names)} "
                            f"(the inputs are: {', '.join(port.name for port in self._ports)})")
        checked: list[Any] = []
        for port in self._ports:
            value = row.get(port.name)
            if is_missing(value):
                if port.always:
                    raise TypeError(f"row {self.number}: {port.name}: missing; this input is present in every cycle, "
                                    "so give its value")
                checked.append(None)
                continue
            name = f"row {self.number}: {port.name}"
            # Copy the value, because the iterator may use the same array for all rows.
            checked.append(_arrays.tensor(value, name, port.dtype, port.shape).copy() if port.shape
                           else _arrays.scalar(value, name, port.dtype))
        for values, one in zip(self._values, checked):
            values.append(one)
        self.number += 1

    def take(self) -> dict[str, Any]:
        np = numpy()
        taken: dict[str, Any] = {}
        for port, values in zip(self._ports, self._values):
            missing = np.fromiter((value is None for value in values), bool, len(values))
            is_bits = port.dtype == "bf16" and port.shape
            dense = np.zeros((len(values), *port.shape), np.uint16 if is_bits else port.numpy_dtype)
            for k, value in enumerate(values):
                if value is not None:
                    dense[k] = value
            taken[port.name] = masked(port, dense, missing)
        self._values = [[] for _ in self._ports]
        return taken
