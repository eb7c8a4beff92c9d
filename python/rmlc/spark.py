"""Keyed streams on Apache Spark: a state for each key of a column, on many machines.

    found = rmlc.spark.apply(df, node, key="machine", order_by="hour")

A key has the rows, to the bit, that `rmlc run --key` gives. Of a DataFrame, one task puts all rows of a key into order
and runs them. Of a streaming DataFrame a task does so with the rows of a micro-batch; between two of these the state of
a key, as `--save` writes it, lies in Spark's state store, from which it is restored where a worker is lost.

Needs PySpark and PyArrow, and pandas for streams; rmlc must be installed on all machines of the cluster. Files that a
node imports travel with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import describe, whole
from ._distributed import Job
from ._keyed import refuse_key
from ._node import Node
from ._portable import portable
from .tables import arrow_array, columns_of, names_of, no_columns, required

if TYPE_CHECKING:
    from ._node import Path
    from ._ports import Port

_KEYS = ("string", "boolean", "tinyint", "smallint", "int", "bigint")
_ORDERED = (*_KEYS, "float", "double", "decimal", "date", "timestamp", "timestamp_ntz")
_LATE = ("error", "drop", "accept")
# Spark has no unsigned integers, and of floats those of 32 and 64 bits.
_TYPES = {"bool": "Boolean", "i8": "Byte", "u8": "Short", "i16": "Short", "u16": "Integer", "i32": "Integer",
          "u32": "Long", "i64": "Long", "f16": "Float", "bf16": "Float", "f32": "Float", "f64": "Double"}


def apply(df: Any, node: Node, *, key: str, order_by: str | Iterable[str] | None = None, keep: Iterable[str] = (),
          seed: int = 0, params: Path | None = None, map: Iterable[str] = (), partial: bool = False, horizon: int = 0,
          late: str = "error") -> Any:
    """A DataFrame of a node's rows, where each key of a column has an instance of the node with a state of its own.

    df: a DataFrame of Spark with a column for each input of the node: an array for a tensor, or "x[0]", "x[1]", …; null
    where an input is absent.  node: a compiled node.  key: the column that says whose row it is: texts, Booleans or
    integers.  order_by: the columns that put the rows of a key into order, in which no two of them are equal.
    keep: further columns that a row of output has from its row of input.  seed: as `--seed`; each key draws by that of
    `--key-seed`.  params, map, partial: a file whose parameters every key begins with, as `--load-params`, `--map`,
    `--partial`.  horizon: the longest segment allowed, in cycles.  late: what becomes of a row that comes in a later
    micro-batch than one of its key that it does not come after: "error" ends the query, "drop" leaves it out, and what is
    the same row twice; "accept" takes it as if it came after.

    The columns of the result are the key, those of order_by, those of keep and the outputs: null where one is absent,
    arrays for tensors. Unsigned integers become the next larger type of Spark, u64 decimal(20,0), f16 and bf16 float. A
    streaming result is written in output mode "append"; rows that wait for later ones stay in the store until then.

    Raises TypeError and ValueError that name the column, before Spark runs anything, for what the schema tells. What
    only a row tells ends the job; the message names key and row. ImportError without PySpark.
    """
    types = required("pyspark.sql.types")
    if not all(hasattr(df, each) for each in ("isStreaming", "mapInArrow", "schema")):
        raise TypeError(f"df: expected a DataFrame of Spark, got {describe(df)}")
    if not isinstance(node, Node):
        raise TypeError(f"node: expected a rmlc.Node, got {describe(node)}; `module.node()` compiles one")
    if late not in _LATE:
        raise ValueError(f"late: 'error', 'drop' or 'accept', not {late!r}")
    refuse_key(node, key)
    columns = _Columns(df)
    columns.check(key, "key", _KEYS, "texts, Booleans and integers are keys")
    order, kept = _carried(columns, node, key, order_by, keep)
    inputs = names_of(columns.names, node.inputs)
    # Of no rows: what is looked at are the types of columns, and whether outputs can be columns.
    columns_of(_arrow_schema([columns.field(name, name) for name in inputs]).empty_table(), node.inputs)
    for port in node.outputs:
        arrow_array(port, np.zeros((0, *port.shape), port.numpy_dtype), None)
    schema = types.StructType([*(columns.field(name, name) for name in (key, *kept)),
                               *(_field(port, types) for port in node.outputs)])
    file = "" if params is None else os.path.abspath(params)
    job = Job(program=portable(node, [file] if file else []), key=key, order=tuple(order), kept=tuple(kept),
              inputs=tuple(inputs), schema=_arrow_schema(schema), seed=whole(seed, "seed", 0, 2**64 - 1),
              params=file, map=tuple(map), partial=partial, horizon=whole(horizon, "horizon", 0, 2**63 - 1), late=late)
    # What is wrong with the file of parameters, or with a node that has no state to be saved, no worker has to tell.
    instance = job.start("")
    if df.isStreaming:
        instance.save()
    return _planned(df, job, columns, schema)


def _planned(df: Any, job: Job, columns: _Columns, schema: Any) -> Any:
    names = ["key", *(f"c{k}" for k in range(len(job.kept))), *(f"v{k}" for k in range(len(job.inputs)))]
    chosen = df.select(*(df[_quoted(column)].alias(name)
                         for column, name in zip((job.key, *job.kept, *job.inputs), names, strict=True)))
    if not df.isStreaming:
        # Spark's own grouping, `groupBy(…).applyInPandas`, takes milliseconds for each key, needs room for all its rows,
        # and has no integers that may be null. A sorted partition has none of these limits.
        ordered = chosen.repartition("key").sortWithinPartitions("key", *names[1 : 1 + len(job.order)])
        return ordered.mapInArrow(job.run, schema)
    # The stateful operator knows pandas alone, so all that it sees of a row is bytes.
    key = f"key {columns.type_of(job.key)}"
    encoded = chosen.mapInArrow(job.encode, f"{key}, carried binary, row binary")

    def advance(of: tuple[Any], frames: Iterable[Any], state: Any) -> Iterator[Any]:
        carried: list[bytes] = []
        rows: list[bytes] = []
        for frame in frames:
            carried.extend(frame["carried"])
            rows.extend(frame["row"])
        one = of[0].item() if hasattr(of[0], "item") else of[0]
        left, found, kept = job.advance(one, carried, rows, state.get if state.exists else None)
        state.update(kept)
        yield required("pandas").DataFrame({"key": [one], "carried": [left], "rows": [found]})

    found = encoded.groupBy("key").applyInPandasWithState(
        advance, f"{key}, carried binary, rows binary", "state binary, waiting binary", "append", "NoTimeout")
    return found.mapInArrow(job.decode, schema)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _field(port: Port, types: Any) -> Any:
    kind = types.DecimalType(20, 0) if port.dtype == "u64" else getattr(types, _TYPES[port.dtype] + "Type")()
    for _ in port.shape:
        kind = types.ArrayType(kind, containsNull=False)
    return types.StructField(port.name, kind, not port.always)


def _arrow_schema(fields: Iterable[Any]) -> Any:
    return required("pyarrow").schema([(field.name, _arrow_type(field.dataType, field.name)) for field in fields])


def _arrow_type(kind: Any, name: str) -> Any:
    """Of the batches in which Spark hands out a column of a type. TypeError for types that are none of data."""
    arrow = required("pyarrow")
    known = {"boolean": arrow.bool_(), "tinyint": arrow.int8(), "smallint": arrow.int16(), "int": arrow.int32(),
             "bigint": arrow.int64(), "float": arrow.float32(), "double": arrow.float64(), "string": arrow.string(),
             "binary": arrow.binary(), "date": arrow.date32(), "timestamp": arrow.timestamp("us", "UTC"),
             "timestamp_ntz": arrow.timestamp("us")}
    if kind.simpleString() in known:
        return known[kind.simpleString()]
    if kind.typeName() == "decimal":
        return arrow.decimal128(kind.precision, kind.scale)
    if kind.typeName() == "array":
        return arrow.list_(_arrow_type(kind.elementType, name))
    raise TypeError(f"{name}: a column of {kind.simpleString()}; numbers, texts, Booleans, dates, timestamps, binaries "
                    "and arrays of them can be inputs, or be kept")


class _Columns:
    """The columns of a DataFrame."""

    def __init__(self, df: Any) -> None:
        self._fields = list(df.schema.fields)
        self.names = [field.name for field in self._fields]

    def field(self, name: str, argument: str) -> Any:
        """The column of a name; TypeError if there is none, ValueError if there are several."""
        found = [field for field in self._fields if field.name == name]
        if not found:
            raise TypeError(f"{argument}: {no_columns([name], self.names)}")
        if len(found) > 1:
            raise ValueError(f"{argument}: the table has several columns '{name}'")
        return found[0]

    def type_of(self, name: str) -> str:
        kind: str = self.field(name, name).dataType.simpleString()
        return kind

    def check(self, name: str, argument: str, kinds: Iterable[str], words: str) -> None:
        self.field(name, argument)
        if self.type_of(name).partition("(")[0] not in kinds:
            raise TypeError(f"{argument}: column '{name}' is {self.type_of(name)}; {words}")


def _names(names: str | Iterable[str] | None, argument: str) -> list[str]:
    given = [names] if isinstance(names, str) else list(names or ())
    for each in given:
        if not isinstance(each, str):
            raise TypeError(f"{argument}: names of columns, each a str, not {describe(each)}")
    return given


def _carried(columns: _Columns, node: Node, key: str, order_by: str | Iterable[str] | None,
             keep: Iterable[str]) -> tuple[list[str], list[str]]:
    """The columns by which rows are ordered, and with them all that goes along with rows."""
    order = _names(order_by, "order_by")
    if not order:
        raise TypeError("order_by: missing; rows of a Spark DataFrame have no order: name the column, a time or a "
                        "number, that puts the rows of a key into theirs")
    taken = {key: "the key", **{port.name: "an output of the node" for port in node.outputs}}
    kept = []
    for argument, names in (("order_by", order), ("keep", _names(keep, "keep"))):
        for name in names:
            columns.field(name, argument)
            if name in taken:
                raise ValueError(f"{argument}: '{name}' is {taken[name]}; `withColumnRenamed` renames a column")
            taken[name] = "in the result already"
            kept.append(name)
    for name in order:
        columns.check(name, "order_by", _ORDERED, "numbers, texts, Booleans, dates and timestamps have an order")
    return order, kept
