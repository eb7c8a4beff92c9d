"""Writes the rows of a Parquet or Arrow file to standard output, as CSV.

The runtime runs it: python3 -c TEXT FILE [COLUMN SHAPE]…. The header has every column of the file. The given columns are
read; the cells of the others are empty. SHAPE is the shape of the input, such as 2,3; it is empty for scalars and texts.

Exit status 3: the file cannot be read; standard error has the reason. Exit status 4: there is no PyArrow.
"""

import sys

# The modules of Python and PyArrow are not those of the current folder.
sys.path = [folder for folder in sys.path if folder]


def stop(status, reason):
    sys.stderr.write(" ".join((str(reason) or type(reason).__name__).split()))
    sys.exit(status)


try:
    import pyarrow
    import pyarrow.compute as compute
    import pyarrow.csv
    import pyarrow.parquet
    from pyarrow import types
except ImportError as error:
    stop(4, error)

ROWS = 8192  # rows that are converted together


def open_batches(path, names):
    """Returns the schema of the file, and an iterator of its batches. A Parquet file is read for these columns only."""
    with open(path, "rb") as file:
        magic = file.read(6)
    if magic[:4] == b"PAR1":
        file = pyarrow.parquet.ParquetFile(path)
        read = [field.name for field in file.schema_arrow if wanted_shape(field.name, names) is not None]
        return file.schema_arrow, file.iter_batches(ROWS, columns=read)
    if magic[:4] == b"FEA1":
        stop(3, "a Feather file of version 1; write it again with pyarrow.feather.write_feather, which writes version 2")
    if magic == b"ARROW1":
        reader = pyarrow.ipc.open_file(pyarrow.memory_map(path))
        return reader.schema, (reader.get_batch(k) for k in range(reader.num_record_batches))
    reader = pyarrow.ipc.open_stream(pyarrow.memory_map(path))
    return reader.schema, reader


def wanted_shape(name, wanted):
    """Returns the shape of the values of a column; None if it is not wanted. The elements of a tensor may be columns."""
    whole = name.partition("[")[0]
    return wanted.get(name, [] if wanted.get(whole) else None)


def is_list(kind):
    return types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)


def is_cell(kind):
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_string, types.is_large_string,
             types.is_decimal, types.is_timestamp, types.is_date, types.is_time, types.is_null)
    return any(test(kind) for test in tests) or str(kind) == "string_view"


def plain(values):
    """Returns the values without an extension type and without a dictionary."""
    if isinstance(values, pyarrow.ExtensionArray):
        return plain(values.storage)
    return plain(values.dictionary_decode()) if types.is_dictionary(values.type) else values


def cells(values):
    """Returns scalars in a type that is written as the text of a cell."""
    kind = values.type
    if types.is_float16(kind) or types.is_float32(kind):
        return values.cast(pyarrow.float64())  # with all digits, an input of f64 gets the same number
    if types.is_timestamp(kind):
        text = compute.replace_substring(values.cast(pyarrow.string()), " ", "T", max_replacements=1)
        for zeros, rest in ((r"(\.\d*?)0+(Z|[+-]\d+)?$", r"\1\2"), (r"\.(Z|[+-]\d+)?$", r"\1")):
            text = compute.replace_substring_regex(text, zeros, rest)  # the unit of the type says nothing about the time
        return text
    if types.is_date(kind) or types.is_time(kind) or types.is_decimal(kind) or str(kind) == "string_view":
        return values.cast(pyarrow.string())
    return values


def columns_of(name, values, shape, row):
    """Yields name and cells of a column: one pair for scalars, one for each element of tensors. row: the first row."""
    values = plain(values)
    if not is_list(values.type):
        if not is_cell(values.type):
            stop(3, f"column '{name}' is {values.type}, which is neither a number, a Boolean, a text nor a time; convert it")
        yield name, cells(values)
        return
    yield from ((f"{name}[{','.join(map(str, at))}]", each) for at, each in elements(name, values, shape, row))


def elements(name, values, shape, row):
    """Yields index and cells of each element of tensors, in row-major order."""
    values = plain(values)
    if not is_list(values.type) or not shape:
        if is_list(values.type) or shape or not is_cell(values.type):
            stop(3, f"column '{name}': its lists have other axes than the input, or no numbers")
        yield (), cells(values)
        return
    lengths = compute.list_value_length(values)
    wrong = compute.index(compute.fill_null(compute.not_equal(lengths, shape[0]), False), True).as_py()
    if wrong >= 0:
        stop(3, f"column '{name}': cycle {row + wrong}: a list of {lengths[wrong]} elements, not {shape[0]}")
    for k in range(shape[0]):
        for at, each in elements(name, compute.list_element(values, k), shape[1:], row):
            yield (k, *at), each


def main():
    path, given = sys.argv[1], sys.argv[2:]
    wanted = {name: [int(extent) for extent in shape.split(",") if extent] for name, shape in zip(given[::2], given[1::2])}
    schema, batches = open_batches(path, wanted)
    for name in schema.names:
        if wanted_shape(name, wanted) is not None and schema.names.count(name) > 1:
            stop(3, f"several columns are named '{name}'; rename all but one")

    def table_of(batch, row):
        found = []
        for field in schema:
            shape = wanted_shape(field.name, wanted)
            if shape is None:
                found.append((field.name, pyarrow.nulls(batch.num_rows)))
            else:
                found += columns_of(field.name, batch.column(batch.schema.get_field_index(field.name)), shape, row)
        return pyarrow.RecordBatch.from_arrays([each for _, each in found], [name for name, _ in found])

    out = sys.stdout.buffer
    empty = pyarrow.RecordBatch.from_arrays([pyarrow.nulls(0, field.type) for field in schema], schema=schema)
    first = table_of(empty, 0)
    out.write((",".join('"' + name.replace('"', '""') + '"' for name in first.schema.names) + "\n").encode())
    row = 0
    with pyarrow.csv.CSVWriter(out, first.schema, write_options=pyarrow.csv.WriteOptions(include_header=False)) as writer:
        for batch in batches:
            for begin in range(0, batch.num_rows, ROWS):
                part = batch.slice(begin, ROWS)
                writer.write(table_of(part, row))
                row += part.num_rows
    out.flush()


try:
    main()
except BrokenPipeError:  # the run needs no more rows
    sys.exit(0)
except (pyarrow.ArrowException, OSError, ValueError, MemoryError, UnicodeError) as error:
    stop(3, error)
