"""The work of one worker of a cluster on rows of many keys. This module does not depend on a cluster system.

Rows arrive as Arrow batches. Their columns are the key, the carried columns and the inputs of the node. The carried
columns go with each row to the output: first the columns that order the rows, then the kept ones. Either all rows of a
key arrive in succession (`run`), or the state of the key is passed in and returned with some of its rows (`advance`).
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import pickle
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ._errors import RunError
from ._instance import Instance, UndeterminedWarning
from ._keyed import key_seed
from ._node import Node
from ._portable import Portable
from ._ports import Port
from ._rows import Rows
from .tables import Column, arrow_array, columns_of, dense, masked, required

# The carried values of one row: the values that order it, then the kept ones.
Carried = tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Job:
    """The description of the work for a worker. It is pickled. A process compiles its node once."""

    program: Portable
    key: str
    order: tuple[str, ...]
    kept: tuple[str, ...]  # names of the carried columns; the first ones are those of `order`
    inputs: tuple[str, ...]  # names of the columns with inputs
    schema: Any  # the Arrow schema of the result: the key, the carried columns, the outputs
    seed: int
    params: str
    map: tuple[str, ...]
    partial: bool
    cast_params: bool
    horizon: int
    late: str

    def __getstate__(self) -> dict[str, Any]:
        # The cached properties are computed again in each process.
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @functools.cached_property
    def _root(self) -> str:
        return self.program.unpack()

    @functools.cached_property
    def node(self) -> Node:
        return self.program.node(self._root)

    def start(self, key: Any) -> Instance:
        """Returns an instance for a new key."""
        params = self._root + self.params if self.params else None
        return Instance(self.node, seed=key_seed(key, self.seed), params=params, map=self.map, partial=self.partial,
                        cast_params=self.cast_params, horizon=self.horizon)

    # ---- whole keys, one after the other ----

    def run(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Computes record batches, and yields the results as batches of `schema`.

        All rows of a key are in succession and in order.
        """
        running: _Running | None = None
        for batch in batches:
            keys, carried, rows = self._read(batch)
            found = _Found(self)
            begin = 0
            for key, group in itertools.groupby(keys):
                end = begin + sum(1 for _ in group)
                if running is None or running.key != key:
                    if running is not None:
                        found.add(running.key, *running.finish())
                    running = _Running(self, key)
                found.add(key, *running.take(carried[begin:end], rows[begin:end]))
                begin = end
            yield from found.batches()
        if running is not None:
            found = _Found(self)
            found.add(running.key, *running.finish())
            yield from found.batches()

    # ---- some rows of a key at a time, with its state stored elsewhere ----

    def encode(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Encodes rows as bytes, with the columns "key", "carried" and "row". pandas passes bytes on unchanged."""
        arrow = required("pyarrow")
        for batch in batches:
            _, carried, rows = self._read(batch)
            size = rows.dtype.itemsize
            data = rows.tobytes()
            pieces = [data[k : k + size] for k in range(0, len(data), size)]
            yield arrow.record_batch({
                "key": batch.column(0),
                "carried": arrow.array([pickle.dumps(each) for each in carried], arrow.binary()),
                "row": arrow.array(pieces, arrow.binary())})

    def advance(self, key: Any, carried: Iterable[bytes], rows: Iterable[bytes],
                state: tuple[bytes, bytes] | None) -> tuple[bytes, bytes, tuple[bytes, bytes]]:
        """Computes some rows of one key, given in any order, from its state, if it has one.

        Returns the carried values and the rows of the result, both for `decode`, and the new state.
        """
        running = _Running(self, key, state)
        pairs = list(zip(map(bytes, carried), map(bytes, rows)))
        if self.late == "drop":
            pairs = list(dict.fromkeys(pairs))  # a row that was delivered twice counts once
        given = [pickle.loads(each) for each, _ in pairs]
        places = sorted(range(len(given)), key=lambda k: given[k][: len(self.order)])
        places = running.in_time(given, places)
        data = b"".join(pairs[k][1] for k in places)
        found, left = running.take([given[k] for k in places], np.frombuffer(data, _dtype_of(self.node.inputs)))
        return pickle.dumps(found), left.tobytes(), running.state()

    def decode(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Converts the results of `advance`, with the columns "key", "carried" and "rows", to batches of `schema`."""
        for batch in batches:
            found = _Found(self)
            for key, carried, rows in zip(*(column.to_pylist() for column in batch.columns)):
                found.add(key, pickle.loads(carried), np.frombuffer(rows, _dtype_of(self.node.outputs)))
            yield from found.batches()

    # ---- both ----

    def _read(self, batch: Any) -> tuple[list[Any], list[Carried], Any]:
        """Returns the keys, the carried values, and the inputs as a structured array. A ValueError names key and row."""
        table = required("pyarrow").Table.from_batches([batch])
        keys = table.column(0).to_pylist()
        # The schema has times in UTC. Local times would be ambiguous where clocks are put back.
        columns = [column.cast(self.schema.field(1 + k).type).to_pylist()
                   for k, column in enumerate(table.columns[1 : 1 + len(self.kept)])]
        carried: list[Carried] = list(zip(*columns))
        for name, values in zip(self.order, columns):
            for k, value in enumerate(values):
                if value is None or value != value:
                    raise ValueError(f"{name}: {value} cannot order rows ({self.key} {keys[k]!r}); "
                                     "give every row a value")
        for k, key in enumerate(keys):
            if key is None or key == "":
                raise ValueError(f"{self.key}: {'null' if key is None else 'an empty text'} is not a key "
                                 f"({self.place(carried[k])}); give every row a key")
        inputs = table.select(range(1 + len(self.kept), table.num_columns)).rename_columns(list(self.inputs))
        ports = self.node.inputs
        try:
            given = columns_of(inputs, ports)
        except (TypeError, ValueError):
            # To name the row in the message, check the rows one by one.
            for k, key in enumerate(keys):
                try:
                    columns_of(inputs.slice(k, 1), ports)
                except (TypeError, ValueError) as error:
                    text = str(error).replace("row 0: ", "")
                    raise type(error)(f"{text} ({self.key} {key!r}, {self.place(carried[k])})") from None
            raise
        values = [(np.ma.getdata(given[port.name]), _missing(given[port.name])) for port in ports]
        return keys, carried, _packed(ports, len(keys), values)

    def place(self, carried: Carried) -> str:
        """Describes the place of a row by the values that order it: "hour 7"."""
        return ", ".join(f"{name} {value}" for name, value in zip(self.order, carried))


class _Running:
    """A running key: its instance, and the carried values of the rows that are not known yet."""

    def __init__(self, job: Job, key: Any, state: tuple[bytes, bytes] | None = None) -> None:
        self.job, self.key = job, key
        self.last: Carried | None = None  # the values that order the last row
        self.waiting: list[Carried] = []
        if state is None:
            self.instance = job.start(key)
            return
        try:
            self.instance = Instance(job.node, load=bytes(state[0]), horizon=job.horizon)
        except RunError as error:
            raise RunError(f"{job.key} {key!r}: {error}") from None
        self.last, self.waiting = pickle.loads(bytes(state[1]))

    def state(self) -> tuple[bytes, bytes]:
        return self.instance.save(), pickle.dumps((self.last, self.waiting))

    def in_time(self, carried: Sequence[Carried], places: list[int]) -> list[int]:
        """Returns the places of the rows that are not late, or of all rows if late rows are accepted.

        Raises ValueError for a late row if `late` is "error".
        """
        count = len(self.job.order)
        if self.last is None or self.job.late == "accept":
            self.last = None
            return places
        in_time = [k for k in places if carried[k][:count] > self.last]
        if len(in_time) < len(places) and self.job.late == "error":
            raise ValueError(
                f"{self.job.key} {self.key!r}: the row at {self.job.place(carried[places[0]])} came after the row at "
                f"{self.job.place(self.last)} had been computed; late='drop' leaves such rows out, late='accept' takes "
                "them in the order in which they come")
        return in_time

    def take(self, carried: list[Carried], rows: Any) -> tuple[list[Carried], Any]:
        """Computes rows in their order. Returns the carried values and the rows that became known."""
        job = self.job
        for each in carried:
            now = each[: len(job.order)]
            if now == self.last:
                raise ValueError(f"{job.key} {self.key!r}: there are several rows at {job.place(now)}, so their order "
                                 "is not defined; add a column to `order_by` in which they differ")
            self.last = now
        first = self.instance.cycle - len(self.waiting)
        self.waiting += carried
        try:
            inputs = {port.name: masked(port, values, missing)
                      for port, values, missing in _unpacked(job.node.inputs, rows)}
            found = self.instance.run(inputs, cycles=len(carried))
        except RunError as error:
            at = len(self.waiting) if error.cycle is None else error.cycle - first
            place = f", {job.place(self.waiting[at])}" if 0 <= at < len(self.waiting) else ""
            raise RunError(f"{error} ({job.key} {self.key!r}{place})") from None
        return self._leave(found)

    def finish(self) -> tuple[list[Carried], Any]:
        """Ends the rows of the key, and returns the remaining ones. Warns if some stay unknown."""
        taken, unknown, why = self.instance._finish()
        if unknown:
            warnings.warn(f"{self.job.key} {self.key!r}: {why}", UndeterminedWarning, stacklevel=2)
        return self._leave(self.instance._rows(taken))

    def _leave(self, found: Rows) -> tuple[list[Carried], Any]:
        left, self.waiting = self.waiting[: len(found)], self.waiting[len(found) :]
        ports = self.job.node.outputs
        return left, _packed(ports, len(found), [dense(found, port) for port in ports])


class _Found:
    """Collects the result rows of several keys."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._keys: list[Any] = []
        self._carried: list[Carried] = []
        self._rows: list[Any] = []

    def add(self, key: Any, carried: list[Carried], rows: Any) -> None:
        self._keys += [key] * len(carried)
        self._carried += carried
        self._rows.append(rows)

    def batches(self) -> Iterator[Any]:
        """Yields one batch, or none if there are no rows."""
        if not self._keys:
            return
        arrow, schema, ports = required("pyarrow"), self._job.schema, self._job.node.outputs
        rows = np.concatenate(self._rows)
        plain = [self._keys, *zip(*self._carried)]
        arrays = [arrow.array(column, field.type) for column, field in zip(plain, schema)]
        for (port, values, missing), field in zip(_unpacked(ports, rows), list(schema)[len(arrays) :], strict=True):
            values = values.astype(np.float32) if values.dtype == np.float16 else values
            arrays.append(arrow_array(port, values, missing).cast(field.type))
        yield arrow.record_batch(arrays, schema=schema)


# ---- values of ports as structured arrays: a field for each value, and a field for its presence ----


def _dtype_of(ports: Sequence[Port]) -> np.dtype[Any]:
    fields: list[Any] = [("here", np.bool_)]  # a column that ensures that a row is never empty
    for k, port in enumerate(ports):
        fields.append((f"v{k}", port.numpy_dtype, port.shape))
        if not port.always:
            fields.append((f"p{k}", np.bool_))
    return np.dtype(fields)


def _missing(values: Any) -> Any:
    """Returns the rows in which an array is masked, or None if it has no mask."""
    if not isinstance(values, np.ma.MaskedArray):
        return None
    return np.ma.getmaskarray(values).any(axis=tuple(range(1, values.ndim)))


def _packed(ports: Sequence[Port], count: int, columns: Sequence[Column]) -> Any:
    rows = np.zeros(count, _dtype_of(ports))
    for k, (port, (values, missing)) in enumerate(zip(ports, columns)):
        rows[f"v{k}"] = values
        if not port.always:
            rows[f"p{k}"] = True if missing is None else ~missing
    return rows


def _unpacked(ports: Sequence[Port], rows: Any) -> Iterator[tuple[Port, Any, Any]]:
    """Yields each port, its values, and where these are missing (None: nowhere)."""
    for k, port in enumerate(ports):
        yield port, np.require(rows[f"v{k}"], requirements=["C", "A"]), None if port.always else ~rows[f"p{k}"]
