"""Tables as inputs and outputs: pandas DataFrames, PyArrow tables, other tables with Arrow's interface, Parquet files.

Polars is an example of a package with Arrow's interface. A column contains the values of the input with its name. A
tensor is a column of arrays or lists, or a column for each of its elements: "x[0]", "x[1]", and "x[0,1]" for a matrix.
Columns that match no input are not read.

Tables have few types, so numbers are converted if that loses nothing: integers to any type that can represent them,
integral floats to integers, and 0 and 1 to bool. Floats are also rounded to narrower floats. Booleans are not converted
to numbers. A value that is NA, None or NaT, or null in Arrow, is absent. This is possible only for inputs that may be
absent. A NaN in a column of floats is a NaN; `convert_dtypes` of pandas converts it to NA.
"""

from __future__ import annotations

import difflib
import importlib
import itertools
import math
import os
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ._arrays import describe, numpy
from ._ports import Port
from ._sampled import Sampled

if TYPE_CHECKING:
    from ._node import Path
    from ._rows import Rows

# The values of a column, with zeros where they are missing, and where that is (None: nowhere).
Column = tuple[Any, Any]


def required(name: str) -> Any:
    """Imports a module of an optional package. Its ImportError says how to install the package."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"this needs the package {package}: pip install {package}") from error


# ---- from tables to inputs -----------------------------------------------------------------------


def columns_of(table: Any, ports: Sequence[Port], optional: Container[str] = ()) -> dict[str, Any]:
    """Returns the inputs of a table, with a row for each cycle: arrays of the ports' types, masked where absent.

    optional: the inputs that the table may lack.

    An array is not copied if its type and layout are those of the port. Raises TypeError for a column that is missing
    or of another kind, and ValueError for a value that does not fit. Both messages name the column, and that of a
    ValueError also the row (from 0).
    """
    if isinstance(table, Parquet):
        ports = found_in(table.names, ports, optional)
    source = _source(table, ports)
    ports = found_in(source.names, ports, optional)
    source.check(ports)
    return {port.name: masked(port, *source.read(port)) for port in ports}


def keys_of(table: Any, name: str) -> Any:
    """Returns the column of keys as an array. Raises TypeError if it is missing, ValueError for a row without a key."""
    if isinstance(table, Parquet):
        source: _Source = _Arrow(table.columns([name]))
    else:
        source = _source(table, [])
    source.check_names([name])
    values, missing = source.keys(name)
    if missing is not None and missing.any():
        raise ValueError(f"{name}: row {int(missing.argmax())}: no value; give a key for every row")
    return values


def no_columns(missing: list[str], names: list[str]) -> str:
    """Returns the message for missing columns, which lists the columns of the table."""
    text = f"the table has no column {', '.join(map(repr, missing[:20]))}" + (", …" if len(missing) > 20 else "")
    shown = ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "")
    return text + did_you_mean(missing[:20], names) + f" (its columns are: {shown})"


def did_you_mean(wrong: Iterable[str], names: Iterable[str]) -> str:
    """Returns "; did you mean 'x'?" with the most similar names, or an empty text if there are none."""
    by_case = {name.casefold(): name for name in names}
    near = [by_case[found] for each in wrong
            for found in difflib.get_close_matches(str(each).casefold(), list(by_case), 1)]
    return f"; did you mean {', '.join(map(repr, dict.fromkeys(near)))}?" if near else ""


def masked(port: Port, values: Any, missing: Any) -> Any:
    np = numpy()
    if port.always:
        if missing is not None and missing.any():
            raise ValueError(f"{port.name}: row {int(missing.argmax())}: no value, but this input is present in every "
                             "cycle; fill the column, or declare the input with `when` and a condition")
        return values
    mask = np.zeros(values.shape, bool)
    if missing is not None:
        mask[missing] = True
    return np.ma.MaskedArray(values, mask)


def element_names(port: Port) -> list[str]:
    """Returns the names of the columns of a tensor's elements, "x[0,0]", "x[0,1]", …, or the name of a scalar."""
    if not port.shape:
        return [port.name]
    return [f"{port.name}[{','.join(map(str, at))}]" for at in itertools.product(*map(range, port.shape))]


class _Source:
    """A table: the names of its columns, and methods to read a column as values and where they are missing."""

    def __init__(self, names: Iterable[Any]) -> None:
        self.names = [name for name in names if isinstance(name, str)]
        self._known = set(self.names)

    def __len__(self) -> int:
        raise NotImplementedError

    def raw(self, name: str, port: Port) -> Column:
        raise NotImplementedError

    def keys(self, name: str) -> Column:
        raise NotImplementedError

    def check_names(self, names: Sequence[str]) -> None:
        """Raises TypeError for a column that is missing, and ValueError for a name that occurs twice."""
        if missing := [name for name in names if name not in self._known]:
            raise TypeError(no_columns(missing, self.names))
        for name in names:
            if self.names.count(name) > 1:
                raise ValueError(f"{name}: the table has several columns of this name; rename all but one")

    def columns_for(self, port: Port) -> list[str]:
        """Returns the name of the port's column, or the names of the columns of its elements."""
        return [port.name] if port.name in self._known else element_names(port)

    def check(self, ports: Sequence[Port]) -> None:
        """Raises TypeError if columns are missing."""
        missing: list[str] = []
        for port in ports:
            absent = [name for name in self.columns_for(port) if name not in self._known]
            # If all columns of a tensor are missing, the message needs only the name of the tensor.
            missing += [port.name] if absent and len(absent) == len(self.columns_for(port)) else absent
        if missing:
            raise TypeError(no_columns(missing, self.names))

    def read(self, port: Port) -> Column:
        np = numpy()
        names = self.columns_for(port)
        self.check_names(names)
        if names == [port.name]:
            values, missing = self.raw(port.name, port)
            return _exact(values, port, port.name), missing
        element = Port(port.name, port.dtype, (), port.clock, port.always)
        values = np.zeros((len(self), *port.shape), port.numpy_dtype)
        flat = values.reshape(len(self), len(names))
        absent = np.zeros((len(self), len(names)), bool)
        for k, name in enumerate(names):
            column, missing = self.raw(name, element)
            if column.ndim != 1:
                raise TypeError(f"{name}: expected a number in each row, got arrays of shape {list(column.shape[1:])}")
            flat[:, k] = _exact(column, element, name)
            if missing is not None:
                absent[:, k] = missing
        partly = absent.any(axis=1) & ~absent.all(axis=1)
        if partly.any():
            row = int(partly.argmax())
            raise ValueError(f"{names[int(absent[row].argmax())]}: row {row}: no value, but other elements of "
                             f"{port.name} have one in this row; give all of them or none")
        return values, absent.all(axis=1) if absent.any() else None


class _Pandas(_Source):
    def __init__(self, frame: Any) -> None:
        super().__init__(frame.columns)
        self._frame = frame

    def __len__(self) -> int:
        return len(self._frame)

    def raw(self, name: str, port: Port) -> Column:
        np = numpy()
        series = self._frame[name]
        kept = series.dtype if isinstance(series.dtype, np.dtype) else getattr(series.dtype, "numpy_dtype", None)
        if kept is None or kept.kind not in "biufmM":
            return _of_objects(series.to_numpy(dtype=object), port, name)
        if kept.kind in "mM":
            raise TypeError(f"{name}: expected {port.dtype}, got {series.dtype}; convert it to numbers, for instance "
                            "to seconds: `(t - pandas.Timestamp(0)) / pandas.Timedelta(seconds=1)`")
        if isinstance(series.dtype, np.dtype):
            return series.to_numpy(), None
        missing = series.isna().to_numpy()
        if not missing.any():
            return series.to_numpy(dtype=kept), None
        return series.to_numpy(dtype=kept, na_value=kept.type(0)), missing


    def keys(self, name: str) -> Column:
        np = numpy()
        series = self._frame[name]
        missing = series.isna().to_numpy()
        kept = series.dtype if isinstance(series.dtype, np.dtype) else getattr(series.dtype, "numpy_dtype", None)
        if missing.any() or kept is None or kept.kind not in "biufmM":
            return series.to_numpy(dtype=object), missing
        return series.to_numpy(dtype=kept), missing


class _Structured(_Source):
    def __init__(self, array: Any) -> None:
        super().__init__(array.dtype.names)
        self._array = array

    def __len__(self) -> int:
        return len(self._array)

    def raw(self, name: str, port: Port) -> Column:
        values = self._array[name]
        return _of_objects(values, port, name) if values.dtype.kind == "O" else (values, None)

    def keys(self, name: str) -> Column:
        return self._array[name], None


class _Arrow(_Source):
    def __init__(self, table: Any) -> None:
        super().__init__(table.column_names)
        self._table = table

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def raw(self, name: str, port: Port) -> Column:
        return _of_arrow(self._column(name), port, name)

    def keys(self, name: str) -> Column:
        arrow, np = required("pyarrow"), numpy()
        array = self._column(name)
        if arrow.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        missing = array.is_null().to_numpy(zero_copy_only=False)
        if missing.any() or not (arrow.types.is_integer(array.type) or arrow.types.is_boolean(array.type)):
            return np.array(array.to_pylist(), object), missing
        return array.to_numpy(zero_copy_only=False), missing

    def _column(self, name: str) -> Any:
        chunked = self._table.column(self._table.column_names.index(name))
        return chunked.chunk(0) if chunked.num_chunks == 1 else chunked.combine_chunks()


def names_of(names: Iterable[str], ports: Sequence[Port]) -> list[str]:
    """Returns the columns, among the `names` of a table, from which the ports are read. TypeError if one is missing."""
    source = _Source(names)
    source.check(ports)
    return [name for port in ports for name in source.columns_for(port)]


def found_in(names: Container[str], ports: Sequence[Port], optional: Container[str]) -> list[Port]:
    """Returns the ports without the optional ones that have no column."""
    return [port for port in ports if port.name not in optional or port.name in names]


def is_table(value: Any) -> bool:
    """Returns whether `columns_of` can read the value."""
    return (isinstance(value, Parquet) or is_pandas(value) or hasattr(value, "__arrow_c_stream__")
            or hasattr(value, "__arrow_c_array__") and hasattr(value, "schema")
            or getattr(getattr(value, "dtype", None), "names", None) is not None)


def is_pandas(value: Any) -> bool:
    return type(value).__name__ == "DataFrame" and hasattr(value, "iloc") and hasattr(value, "columns")


def _source(table: Any, ports: Sequence[Port]) -> _Source:
    if isinstance(table, Parquet):
        return _Arrow(table.table(ports))
    if is_pandas(table):
        return _Pandas(table)
    if getattr(getattr(table, "dtype", None), "names", None) is not None:
        return _Structured(table)
    if is_table(table):
        arrow = required("pyarrow")
        if isinstance(table, arrow.RecordBatch):
            return _Arrow(arrow.Table.from_batches([table]))
        return _Arrow(table if isinstance(table, arrow.Table) else arrow.table(table))
    if hasattr(table, "dtype"):
        raise TypeError(f"inputs: expected a mapping or a table, got {describe(table)}; give an array by name: "
                        f"run({ports[0].name if ports else 'x'}=…)")
    raise TypeError("inputs: expected a mapping of arrays by name, a pandas DataFrame, a PyArrow table or batch, or a "
                    f"Parquet file (rmlc.tables.parquet), got {describe(table)}")


def slices_of(table: Any, ports: Sequence[Port], block: int) -> Iterator[Any]:
    """Yields a table in parts of `block` rows."""
    source = _source(table, ports)
    whole = source._table if isinstance(source, _Arrow) else table
    return (whole[k : k + block] for k in range(0, len(whole), block))


# ---- values ------------------------------------------------------------------------------------


def is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _of_objects(values: Any, port: Port, name: str) -> Column:
    """Reads a column of Python objects, which are numbers or arrays."""
    np = numpy()
    is_float = port.dtype in ("bf16", "f16", "f32", "f64")

    def stands_for_nothing(value: Any) -> bool:
        # pandas uses a NaN for a missing value in a column of integers, Booleans or arrays.
        return is_missing(value) or (not (is_float and not port.shape) and isinstance(value, float)
                                      and math.isnan(value))

    missing = np.fromiter(map(stands_for_nothing, values), bool, len(values))
    there = [(row, value) for row, value in enumerate(values) if not missing[row]]
    elements = [np.asarray(value) if port.shape else value for _, value in there]
    for (row, value), element in zip(there, elements):
        number = (element.dtype.kind in "biuf" if port.shape
                  else isinstance(value, (bool, int, float, np.number, np.bool_)))
        if not number:
            raise TypeError(f"{name}: row {row}: expected {port.dtype}, got {describe(value)}")
        if port.shape and element.shape != port.shape:
            raise ValueError(f"{name}: row {row}: expected {port.dtype}{list(port.shape)}, got {describe(element)}")
        is_bool = element.dtype.kind == "b" if port.shape else isinstance(value, (bool, np.bool_))
        if is_bool != (port.dtype == "bool"):
            raise TypeError(f"{name}: row {row}: expected {port.dtype}, got {describe(value)}")
    found = np.array(elements) if elements else np.zeros((0, *port.shape), port.numpy_dtype)
    if found.dtype.kind == "O":
        raise ValueError(f"{name}: a number is out of the range of all types of 64 bits")
    if len(there) == len(values):
        return found, None
    spread = np.zeros((len(values), *port.shape), found.dtype)
    spread[~missing] = found
    return spread, missing


def _of_arrow(array: Any, port: Port, name: str) -> Column:
    arrow = required("pyarrow")
    shape = port.shape
    kind = array.type
    if isinstance(kind, arrow.BaseExtensionType):
        if getattr(kind, "permutation", None) is not None and list(kind.permutation) != sorted(kind.permutation):
            raise TypeError(f"{name}: tensors with permuted axes are not supported; store the axes in their own order")
        if tuple(getattr(kind, "shape", shape)) != shape:
            raise ValueError(f"{name}: expected {port.dtype}{list(shape)}, got tensors of shape {list(kind.shape)}")
        if hasattr(kind, "shape"):
            shape = (math.prod(shape),)
        array = array.storage
    values, missing = _of_nested(array, shape, port, name)
    return values.reshape(len(array), *port.shape), missing


def _of_nested(array: Any, shape: tuple[int, ...], port: Port, name: str) -> Column:
    """Reads numbers in nested lists. `shape` contains the lengths of the lists at each level."""
    arrow, np = required("pyarrow"), numpy()
    if arrow.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if arrow.types.is_null(array.type):
        return np.zeros((len(array), *shape), port.numpy_dtype), np.ones(len(array), bool)
    missing = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    types = arrow.types
    if not shape:
        if not (types.is_integer(array.type) or types.is_floating(array.type) or types.is_boolean(array.type)):
            raise TypeError(f"{name}: expected {port.dtype}, got {array.type}")
        if missing is not None:
            array = array.fill_null(False if types.is_boolean(array.type) else 0)
        return array.to_numpy(zero_copy_only=False), missing
    if not (types.is_fixed_size_list(array.type) or types.is_list(array.type) or types.is_large_list(array.type)):
        raise TypeError(f"{name}: expected lists of {list(shape)}, got {array.type}")
    if missing is None or not types.is_fixed_size_list(array.type):
        lengths = required("pyarrow.compute").list_value_length(array)
        lengths = lengths.fill_null(shape[0]).to_numpy(zero_copy_only=False)
    else:
        lengths = np.full(len(array), array.type.list_size)
    wrong = lengths != shape[0]
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"{name}: row {row}: expected {port.dtype}{list(port.shape)}, got a list of {lengths[row]} "
                         f"elements instead of {shape[0]}")
    inner, gaps = _of_nested(array.flatten(), shape[1:], port, name)
    there = len(array) if missing is None else int((~missing).sum())
    inner = inner.reshape(there, *shape)
    if gaps is not None and gaps.any():
        raise ValueError(f"{name}: only some elements of a value are null; give all elements of a value or none")
    if missing is None:
        return inner, None
    values = np.zeros((len(array), *shape), inner.dtype)
    values[~missing] = inner
    return values, missing


def _exact(values: Any, port: Port, name: str) -> Any:
    """Returns the same numbers in the type of the port, C-contiguous. The result is `values` itself if possible."""
    np = numpy()
    wanted = port.numpy_dtype
    if values.shape[1:] != port.shape:
        raise ValueError(f"{name}: expected {port.dtype}{list(port.shape)} in each row, got {describe(values)}")
    if values.dtype == wanted:
        return np.require(values, requirements=["C", "A"])
    have, want = values.dtype.kind, wanted.kind
    if have not in "biuf" or (have == "b") != (want == "b") and not (have in "iu" and want == "b"):
        raise TypeError(f"{name}: expected {port.dtype}, got {values.dtype}")
    if have == "f" and want == "b":
        raise TypeError(f"{name}: expected {port.dtype}, got {values.dtype}")
    with np.errstate(all="ignore"):
        converted = np.ascontiguousarray(values.astype(wanted))
        if have == "f" and want == "f":
            wrong = np.isinf(converted) & ~np.isinf(values)
        elif want in "iu":
            info = np.iinfo(wanted)
            # The largest integer may have no exact float, but the next integer has one.
            above = float(info.max) + 1.0 if have == "f" else None
            in_range = (values >= info.min) & (values < above if above is not None else values <= info.max)
            wrong = ~in_range | (values != np.trunc(values) if have == "f" else False)
        else:
            wrong = converted.astype(values.dtype) != values
            if want == "f":
                # A float beyond 2^63 may be converted back to any integer.
                wrong |= ~(np.abs(converted.astype(np.float64)) < 2.0 ** (64 if have == "u" else 63))
    if wrong.any():
        at = np.unravel_index(int(wrong.argmax()), wrong.shape)
        hint = ""
        if values[at] != values[at]:
            hint = "; if it means a missing value, convert it to NA by `convert_dtypes()`"
        elif want == "f" and have in "iu":
            hint = " exactly"
        raise ValueError(f"{name}: row {int(at[0])}: {port.dtype} cannot represent {values[at]}{hint}")
    return converted


# ---- from rows to tables -------------------------------------------------------------------------


def dense(rows: Rows, port: Port) -> Column:
    """Returns a value for every row, with zeros where the stream is absent, and where that is (None: nowhere)."""
    np = numpy()
    column = rows[port.name]
    if not isinstance(column, Sampled):
        return column, None
    values = column.dense(fill=0)
    missing = np.ones(len(rows), bool)
    missing[np.asarray(column.at, np.int64) - rows.cycles.start] = False
    return values, missing


def rows_to_pandas(rows: Rows, ports: Sequence[Port]) -> Any:
    """Returns a pandas DataFrame whose index, "cycle", contains the cycles of the rows.

    A scalar is a column of its name. The elements of a tensor are columns "x[0]", "x[0,1]". A stream that is present in
    every cycle has its NumPy type. Any other stream has a pandas type with NA ("Float32", "Int64", "boolean"; f16
    becomes "Float32").
    """
    pandas, np = required("pandas"), numpy()
    wrap = {"b": pandas.arrays.BooleanArray, "i": pandas.arrays.IntegerArray, "u": pandas.arrays.IntegerArray,
            "f": pandas.arrays.FloatingArray}
    columns: dict[str, Any] = {}
    for port in ports:
        values, missing = dense(rows, port)
        if missing is not None and values.dtype == np.float16:
            values = values.astype(np.float32)
        flat = values.reshape(len(rows), math.prod(port.shape))
        for k, name in enumerate(element_names(port)):
            one = np.ascontiguousarray(flat[:, k])
            columns[name] = one if missing is None else wrap[one.dtype.kind](one, missing.copy())
    index = pandas.RangeIndex(rows.cycles.start, rows.cycles.stop, name="cycle")
    return pandas.DataFrame(columns, index=index)


def rows_to_arrow(rows: Rows, ports: Sequence[Port]) -> Any:
    """Returns a PyArrow table with a column "cycle", unless an output has this name, and a column for each output.

    A value is null where an output is absent. Tensors are lists of fixed size. A stream that is present in every cycle
    is not copied, unless it is Boolean.
    """
    arrow, np = required("pyarrow"), numpy()
    columns: dict[str, Any] = {"cycle": arrow.array(np.arange(rows.cycles.start, rows.cycles.stop))}
    for port in ports:
        columns[port.name] = arrow_array(port, *dense(rows, port))
    return arrow.table(columns)


def arrow_array(port: Port, values: Any, missing: Any) -> Any:
    """Returns the values of a port as a PyArrow array. Tensors are lists of fixed size, and missing values are null."""
    arrow = required("pyarrow")
    if 0 in port.shape:
        raise ValueError(f"{port.name}: Arrow has no lists for tensors without elements; leave this output out")
    nulls = None if missing is None or not missing.any() else missing
    array = arrow.array(values.reshape(-1), mask=nulls if not port.shape else None)
    for extent in reversed(port.shape[1:]):
        array = arrow.FixedSizeListArray.from_arrays(array, extent)
    if port.shape:
        mask = None if nulls is None else arrow.array(nulls)
        array = arrow.FixedSizeListArray.from_arrays(array, port.shape[0], mask=mask)
    return array


def to_arrow(rows: Rows) -> Any:
    """Returns rows as a PyArrow table; see `rows_to_arrow`."""
    return rows_to_arrow(rows, rows._ports)


# ---- Parquet -------------------------------------------------------------------------------------


class Parquet:
    """A Parquet file that is read batch by batch. Only the columns that are needed are read."""

    def __init__(self, path: Path, batch: int) -> None:
        if batch < 1:
            raise ValueError(f"batch: expected a positive number of rows, got {batch}")
        self.path, self.batch = os.fspath(path), batch
        self._file = required("pyarrow.parquet").ParquetFile(self.path)
        self.names: list[str] = self._file.schema_arrow.names

    def __len__(self) -> int:
        return int(self._file.metadata.num_rows)

    def batches(self, ports: Sequence[Port]) -> Iterator[Any]:
        """Yields record batches with the columns of these ports."""
        needed = names_of(self.names, ports)  # raises an error now, and not at the first batch
        return self._of(needed)

    def _of(self, names: list[str] | None) -> Iterator[Any]:
        yield from self._file.iter_batches(self.batch, columns=names)

    def table(self, ports: Sequence[Port]) -> Any:
        """Returns all rows of the columns of these ports."""
        return self._file.read(names_of(self.names, ports))

    def columns(self, names: list[str]) -> Any:
        """Returns all rows of the columns with these names that exist."""
        return self._file.read([name for name in names if name in self.names])

    def __iter__(self) -> Iterator[Any]:
        return self._of(None)

    def __repr__(self) -> str:
        return f"<rmlc.tables.Parquet {self.path}: {len(self)} rows, {len(self.names)} columns>"


def parquet(path: Path, batch: int = 65536) -> Parquet:
    """Opens a Parquet file for `Instance.stream` or `Instance.run`.

    `stream` holds `batch` rows in memory at a time, and `run` reads all rows. Only the columns of the node's inputs are
    read. The result is also an iterable of PyArrow record batches. Raises ImportError without PyArrow, and
    FileNotFoundError if there is no such file.
    """
    return Parquet(path, batch)
