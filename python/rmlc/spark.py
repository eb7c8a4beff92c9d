"""Keyed streams on Apache Spark: a separate state for each key of a column, on many machines.

    found = rmlc.spark.apply(df, node, key="machine", order_by="hour")

The output rows of a key have the same bits as those of `rmlc run --key`. For a DataFrame, one task orders and runs all
rows of a key. For a streaming DataFrame, a task orders and runs the rows of one micro-batch. Between two micro-batches,
the state of a key is in Spark's state store, in the format of `--save`. Spark restores it if a worker is lost.

This module needs PySpark and PyArrow, and pandas for streams. rmlc must be installed on all machines of the cluster.
The files that a node imports are sent with it.
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
# Spark has no unsigned integers, and only floats of 32 and 64 bits.
_TYPES = {"bool": "Boolean", "i8": "Byte", "u8": "Short", "i16": "Short", "u16": "Integer", "i32": "Integer",
          "u32": "Long", "i64": "Long", "f16": "Float", "bf16": "Float", "f32": "Float", "f64": "Double"}


def apply(df: Any, node: Node, *, key: str, order_by: str | Iterable[str] | None = None, keep: Iterable[str] = (),
          seed: int = 0, params: Path | None = None, map: Iterable[str] = (), partial: bool = False, cast_params: bool = False,
          horizon: int = 0, late: str = "error") -> Any:
    """Runs a node over the rows of each key of a DataFrame, with a separate state for each key. Returns a DataFrame.

    df: a DataFrame of Spark with a column for each input of the node. A tensor is a column of arrays, or columns
    "x[0]", "x[1]", …. A value is null where the input is absent.
    node: a compiled node.
    key: the column with the key of each row: texts, Booleans or integers.
    order_by: the columns that order the rows of a key. Two rows of a key must differ in these columns.
    keep: further columns to copy from each input row to its output row.
    seed: like `--seed`. The random numbers of a key use the seed of `--key-seed`.
    params, map, partial, cast_params: a file with the initial parameters of every key, like `--load-params`, `--map`,
    `--partial`, `--cast-params`.
    horizon: the longest allowed segment, in cycles.
    late: the treatment of late rows. A row is late if an earlier micro-batch contained a row of the same key that does
    not precede it in the order. "error" ends the query, "drop" leaves out late rows and repeated rows, and "accept"
    takes late rows in the order in which they come.

    The columns of the result are the key, the columns of `order_by`, the columns of `keep`, and the outputs. A value is
    null where an output is absent, and tensors are arrays. Unsigned integers become the next larger type of Spark, u64
    becomes decimal(20,0), and f16 and bf16 become float. A streaming result is written in output mode "append". Rows
    that wait for later ones stay in the state store until then.

    Errors that the schema shows raise TypeError or ValueError before Spark runs, and the message names the column.
    Errors in a row end the job, and the message names key and row. Raises ImportError without PySpark.
    """
    types = required("pyspark.sql.types")
    if not all(hasattr(df, each) for each in ("isStreaming", "mapInArrow", "schema")):
        raise TypeError(f"df: expected a DataFrame of Spark, got {describe(df)}")
    if not isinstance(node, Node):
        raise TypeError(f"node: expected a rmlc.Node, got {describe(node)}; `module.node()` compiles one")
    if late not in _LATE:
        raise ValueError(f"late: expected 'error', 'drop' or 'accept', got {late!r}")
    refuse_key(node, key)
    columns = _Columns(df)
    columns.check(key, "key", _KEYS, "a key is a text, a Boolean or an integer")
    order, kept = _carried(columns, node, key, order_by, keep)
    inputs = names_of(columns.names, node.inputs)
    # With tables without rows, check the types of the input columns, and whether the outputs can be columns.
    columns_of(_arrow_schema([columns.field(name, name) for name in inputs]).empty_table(), node.inputs)
    for port in node.outputs:
        arrow_array(port, np.zeros((0, *port.shape), port.numpy_dtype), None)
    schema = types.StructType([*(columns.field(name, name) for name in (key, *kept)),
                               *(_field(port, types) for port in node.outputs)])
    file = "" if params is None else os.path.abspath(params)
    job = Job(program=portable(node, [file] if file else []), key=key, order=tuple(order), kept=tuple(kept),
              inputs=tuple(inputs), schema=_arrow_schema(schema), seed=whole(seed, "seed", 0, 2**64 - 1),
              params=file, map=tuple(map), partial=partial, cast_params=cast_params,
              horizon=whole(horizon, "horizon", 0, 2**63 - 1), late=late)
    # Check the file of parameters and that the node can save its state here, so that the error occurs before the job.
    instance = job.start("")
    if df.isStreaming:
        instance.save()
    return _planned(df, job, columns, schema)


def _planned(df: Any, job: Job, columns: _Columns, schema: Any) -> Any:
    names = ["key", *(f"c{k}" for k in range(len(job.kept))), *(f"v{k}" for k in range(len(job.inputs)))]
    chosen = df.select(*(df[_quoted(column)].alias(name)
                         for column, name in zip((job.key, *job.kept, *job.inputs), names, strict=True)))
    if not df.isStreaming:
        # Spark's own grouping, `groupBy(…).applyInPandas`, takes milliseconds per key, needs memory for all its rows,
        # and has no integers that may be null. A sorted partition has none of these limits.
        ordered = chosen.repartition("key").sortWithinPartitions("key", *names[1 : 1 + len(job.order)])
        return ordered.mapInArrow(job.run, schema)
    # The stateful operator supports only pandas, so rows are encoded as bytes for it.
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
    """Returns the Arrow type in which Spark passes a column. Raises TypeError for types that rows cannot contain."""
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
    raise TypeError(f"{name}: a column of {kind.simpleString()} cannot be an input or be kept; possible are numbers, "
                    "texts, Booleans, dates, timestamps, binaries and arrays of them")


class _Columns:
    """The columns of a DataFrame."""

    def __init__(self, df: Any) -> None:
        self._fields = list(df.schema.fields)
        self.names = [field.name for field in self._fields]

    def field(self, name: str, argument: str) -> Any:
        """Returns the column of a name. Raises TypeError if there is none, and ValueError if there are several."""
        found = [field for field in self._fields if field.name == name]
        if not found:
            raise TypeError(f"{argument}: {no_columns([name], self.names)}")
        if len(found) > 1:
            raise ValueError(f"{argument}: the table has several columns '{name}'; rename all but one")
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
            raise TypeError(f"{argument}: expected names of columns, each a str, got {describe(each)}")
    return given


def _carried(columns: _Columns, node: Node, key: str, order_by: str | Iterable[str] | None,
             keep: Iterable[str]) -> tuple[list[str], list[str]]:
    """Returns the columns that order the rows, and all columns that rows carry to the output."""
    order = _names(order_by, "order_by")
    if not order:
        raise TypeError("order_by: missing; rows of a Spark DataFrame have no order, so name a column, for instance a "
                        "time or a number, that orders the rows of a key")
    taken = {key: "the key", **{port.name: "an output of the node" for port in node.outputs}}
    kept = []
    for argument, names in (("order_by", order), ("keep", _names(keep, "keep"))):
        for name in names:
            columns.field(name, argument)
            if name in taken:
                raise ValueError(f"{argument}: '{name}' is {taken[name]}; rename a column by `withColumnRenamed`")
            taken[name] = "in the result already"
            kept.append(name)
    for name in order:
        columns.check(name, "order_by", _ORDERED, "only numbers, texts, Booleans, dates and timestamps have an order")
    return order, kept
