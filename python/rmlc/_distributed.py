"""Rows of many keys on many machines: what a worker does with the rows of the keys that it is given.

Rows come as Arrow batches, whose columns are the key, what goes along with each row ("carried": what it is ordered by,
then what is kept), and the node's inputs. A key's rows come one behind the other (`run`), or its state is handed in and
out with them (`advance`). Nothing here knows whose workers they are.
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

# Of one row: what it is ordered by, then what is kept.
Carried = tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Job:
    """All that a worker is told. It is pickled; what it makes of it is made once in a process."""

    program: Portable
    key: str
    order: tuple[str, ...]
    kept: tuple[str, ...]  # names of what is carried; begins with `order`
    inputs: tuple[str, ...]  # names of the columns of inputs
    schema: Any  # of Arrow: the key, what is carried, the outputs
    seed: int
    params: str
    map: tuple[str, ...]
    partial: bool
    horizon: int
    late: str

    def __getstate__(self) -> dict[str, Any]:
        # Each process makes for itself what is made of it.
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @functools.cached_property
    def _root(self) -> str:
        return self.program.unpack()

    @functools.cached_property
    def node(self) -> Node:
        return self.program.node(self._root)

    def start(self, key: Any) -> Instance:
        """The instance of a key that is new."""
        params = self._root + self.params if self.params else None
        return Instance(self.node, seed=key_seed(key, self.seed), params=params, map=self.map, partial=self.partial,
                        horizon=self.horizon)

    # ---- whole keys, one behind the other ----

    def run(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Record batches of rows, in which keys do not come again, their rows in order, as batches of `schema`."""
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

    # ---- a key now and then, its state kept elsewhere ----

    def encode(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The same rows as batches of bytes, which pandas passes on as they are: "key", "carried" and "row"."""
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
        """Rows of one key in any order, and its state, if it has one: what leaves, for `decode`, and the state then."""
        running = _Running(self, key, state)
        pairs = list(zip(map(bytes, carried), map(bytes, rows)))
        if self.late == "drop":
            pairs = list(dict.fromkeys(pairs))  # a row that has been delivered twice is one row
        given = [pickle.loads(each) for each, _ in pairs]
        places = sorted(range(len(given)), key=lambda k: given[k][: len(self.order)])
        places = running.in_time(given, places)
        data = b"".join(pairs[k][1] for k in places)
        found, left = running.take([given[k] for k in places], np.frombuffer(data, _dtype_of(self.node.inputs)))
        return pickle.dumps(found), left.tobytes(), running.state()

    def decode(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Batches of `schema` of what `advance` lets go: "key", "carried" and "rows"."""
        for batch in batches:
            found = _Found(self)
            for key, carried, rows in zip(*(column.to_pylist() for column in batch.columns)):
                found.add(key, pickle.loads(carried), np.frombuffer(rows, _dtype_of(self.node.outputs)))
            yield from found.batches()

    # ---- both ----

    def _read(self, batch: Any) -> tuple[list[Any], list[Carried], Any]:
        """Keys, what is carried, and the values of the inputs as a structured array. ValueError names key and row."""
        table = required("pyarrow").Table.from_batches([batch])
        keys = table.column(0).to_pylist()
        # Of Python's times in one zone, clocks that are put back make equal ones: those of the schema are in UTC.
        columns = [column.cast(self.schema.field(1 + k).type).to_pylist()
                   for k, column in enumerate(table.columns[1 : 1 + len(self.kept)])]
        carried: list[Carried] = list(zip(*columns))
        for name, values in zip(self.order, columns):
            for k, value in enumerate(values):
                if value is None or value != value:
                    raise ValueError(f"{name}: {value} has no place in an order ({self.key} {keys[k]!r})")
        for k, key in enumerate(keys):
            if key is None or key == "":
                raise ValueError(f"{self.key}: {'null' if key is None else 'an empty text'} is no key "
                                 f"({self.place(carried[k])})")
        inputs = table.select(range(1 + len(self.kept), table.num_columns)).rename_columns(list(self.inputs))
        ports = self.node.inputs
        try:
            given = columns_of(inputs, ports)
        except (TypeError, ValueError):
            # Which row it is, the message of one that is alone says best.
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
        """Of a row, by what it is ordered by: "hour 7"."""
        return ", ".join(f"{name} {value}" for name, value in zip(self.order, carried))


class _Running:
    """A key that runs: its instance, and what is carried by rows that are not known yet."""

    def __init__(self, job: Job, key: Any, state: tuple[bytes, bytes] | None = None) -> None:
        self.job, self.key = job, key
        self.last: Carried | None = None  # what the last row was ordered by
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
        """Those of these rows that are not late, or all; ValueError if they should be none."""
        count = len(self.job.order)
        if self.last is None or self.job.late == "accept":
            self.last = None
            return places
        in_time = [k for k in places if carried[k][:count] > self.last]
        if len(in_time) < len(places) and self.job.late == "error":
            raise ValueError(
                f"{self.job.key} {self.key!r}: the row at {self.job.place(carried[places[0]])} came when that at "
                f"{self.job.place(self.last)} had been computed; late='drop' leaves such rows out, late='accept' takes "
                "them in the order in which they come")
        return in_time

    def take(self, carried: list[Carried], rows: Any) -> tuple[list[Carried], Any]:
        """Runs rows in their order; returns what has become known, and what is carried by it."""
        job = self.job
        for each in carried:
            now = each[: len(job.order)]
            if now == self.last:
                raise ValueError(f"{job.key} {self.key!r}: there are several rows at {job.place(now)}, which have no "
                                 "order: give `order_by` a further column that tells them apart")
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
        """At the end of the key's rows. Warns of those that stay unknown."""
        taken, unknown, why = self.instance._finish()
        if unknown:
            warnings.warn(f"{self.job.key} {self.key!r}: {why}", UndeterminedWarning, stacklevel=2)
        return self._leave(self.instance._rows(taken))

    def _leave(self, found: Rows) -> tuple[list[Carried], Any]:
        left, self.waiting = self.waiting[: len(found)], self.waiting[len(found) :]
        ports = self.job.node.outputs
        return left, _packed(ports, len(found), [dense(found, port) for port in ports])


class _Found:
    """Rows of several keys, on their way out."""

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
        """One batch, or none if there are no rows."""
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


# ---- values of ports as structured arrays: a field for each, and another that says whether it is there ----


def _dtype_of(ports: Sequence[Port]) -> np.dtype[Any]:
    fields: list[Any] = [("here", np.bool_)]  # so that no row is without bytes
    for k, port in enumerate(ports):
        fields.append((f"v{k}", port.numpy_dtype, port.shape))
        if not port.always:
            fields.append((f"p{k}", np.bool_))
    return np.dtype(fields)


def _missing(values: Any) -> Any:
    """The rows at which an array is masked; None: it has no mask."""
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
    """Ports, their values, and where these are missing (None: nowhere)."""
    for k, port in enumerate(ports):
        yield port, np.require(rows[f"v{k}"], requirements=["C", "A"]), None if port.always else ~rows[f"p{k}"]
