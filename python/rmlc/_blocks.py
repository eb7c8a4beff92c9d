"""Blocks of what `Instance.stream` reads: tables cut into parts, Parquet files in batches, and single rows, which are
checked as they come, so that a message names the row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from . import _arrays
from ._arrays import describe, numpy
from ._ports import Port
from ._rows import Sampled
from .tables import Parquet, did_you_mean, is_missing, is_pandas, is_table, masked, slices_of


def blocks_of(reader: Any, ports: Sequence[Port], block: int) -> Iterator[Any]:
    """What `Instance.run` takes, block by block, of what `Instance.stream` is given.

    A table is cut into blocks of `block` rows, a Parquet file into its batches. Of any other iterable an item is a
    block (a table, or a mapping of arrays whose first axis is the cycle), which is handed on as it is, or a row: a
    mapping of values by name (None, or no entry, where one is absent), or a tuple of values in the order of the inputs;
    `block` rows are taken together. Where a node has one input, an array alone is its block or its value. No item is
    asked for before it is needed.
    """
    if block < 1:
        raise ValueError(f"block: expected a number of rows, got {block}")
    if not ports:
        raise TypeError("the node has no inputs that could be streamed: run(cycles=…) computes its rows")
    if isinstance(reader, Parquet):
        return reader.batches(ports)
    if is_pandas(reader):
        return (reader.iloc[k : k + block] for k in range(0, len(reader), block))
    if is_table(reader) and not isinstance(reader, Iterator):
        return slices_of(reader, ports, block)
    if isinstance(reader, Mapping) or not isinstance(reader, Iterable):
        given = "a mapping, which is one block: run() computes it" if isinstance(reader, Mapping) else describe(reader)
        raise TypeError(f"stream reads a table, or an iterator of blocks or rows; got {given}")
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
        raise TypeError(f"row {number}: {len(item)} values, but there are {len(ports)} inputs: "
                        + ", ".join(port.name for port in ports))
    return {port.name: value for port, value in zip(ports, item)}


def _is_block(item: Mapping[str, Any], ports: Sequence[Port]) -> bool:
    """Whether some value has an axis more than the port: the cycles."""
    for port in ports:
        value = item.get(port.name)
        if isinstance(value, Sampled) or value is not None and _axes(value) == len(port.shape) + 1:
            return True
    return False


def _axes(value: Any) -> int:
    """Of an array, or of lists in lists, which are looked into as far as the first element."""
    if hasattr(value, "ndim"):
        return int(value.ndim)
    depth = 0
    while isinstance(value, (list, tuple)):
        depth += 1
        value = next((each for each in value if each is not None), None)
    return depth + int(getattr(value, "ndim", 0))


class _RowBlock:
    """Rows that are gathered to a block, checked as they come."""

    def __init__(self, ports: Sequence[Port]) -> None:
        self._ports = ports
        self._names = {port.name for port in ports}
        self.number = 0  # of the next row
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
                    raise TypeError(f"row {self.number}: {port.name}: missing; it is there at every cycle")
                checked.append(None)
                continue
            name = f"row {self.number}: {port.name}"
            # A copy: the producer of the rows may use one array for all of them.
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
