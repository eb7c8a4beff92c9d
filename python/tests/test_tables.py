"""Tables are read without a copy if possible, or converted without loss, or refused with the column and the row."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import rmlc
from rmlc._blocks import blocks_of
from rmlc.tables import columns_of, to_arrow

SOURCE = """
node main(x: f64, c: bool, k: i32 when c, v: f32[2]) -> (y: f64, seen: i32 when c, w: f32[2])
  y = (0.0 fby y) + x;
  seen = (0 fby seen) + k;
  w = v + v;
"""
NODE = rmlc.compile(SOURCE).node()
X, C = np.arange(6.0), np.array([True, False, True, True, False, True])
K, V = np.array([1, 2, 3, 4], np.int32), np.arange(12, dtype=np.float32).reshape(6, 2)
EXPECTED = NODE.start().run(x=X, c=C, k=rmlc.Sampled(K, np.flatnonzero(C)), v=V)


def port(dtype: str, shape: tuple[int, ...] = (), always: bool = True, name: str = "x") -> rmlc.Port:
    return rmlc.Port(name, dtype, shape, "base" if always else "base on c", always)


def same(rows: rmlc.Rows) -> None:
    assert np.array_equal(rows.y, EXPECTED.y) and np.array_equal(rows.w, EXPECTED.w)
    assert np.array_equal(rows.seen.at, EXPECTED.seen.at) and np.array_equal(rows.seen.values, EXPECTED.seen.values)


@pytest.fixture
def frame() -> Any:
    pandas = pytest.importorskip("pandas")
    k = pandas.array([1, None, 2, 3, None, 4], dtype="Int64")
    return pandas.DataFrame({"x": X, "unused": "text", "c": C, "k": k, "v[0]": V[:, 0], "v[1]": V[:, 1]})


@pytest.fixture
def table() -> Any:
    arrow = pytest.importorskip("pyarrow")
    v = arrow.FixedSizeListArray.from_arrays(arrow.array(V.ravel()), 2)
    return arrow.table({"x": X, "c": C, "k": arrow.array([1, None, 2, 3, None, 4]), "v": v, "unused": ["text"] * 6})


def test_a_data_frame_runs_as_arrays(frame: Any) -> None:
    same(NODE.start().run(frame))
    frame = frame.drop(columns=["v[0]", "v[1]"])
    frame["v"] = list(V)
    same(NODE.start().run(frame))


def test_an_arrow_table_runs_as_arrays(table: Any) -> None:
    arrow = pytest.importorskip("pyarrow")
    same(NODE.start().run(table))
    same(NODE.start().run(table.to_batches()[0]))
    same(NODE.start().run(arrow.concat_tables([table[:2], table[2:]])))


def test_a_polars_frame_runs_as_arrays(table: Any) -> None:
    polars = pytest.importorskip("polars")
    same(NODE.start().run(polars.from_arrow(table)))


def test_nothing_is_copied_that_lies_right(table: Any) -> None:
    pandas = pytest.importorskip("pandas")
    arrow = pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"x": X, "v": 0})
    assert np.shares_memory(columns_of(frame, [port("f64")])["x"], frame["x"].to_numpy())
    given = columns_of(arrow.table({"x": arrow.array(X)}), [port("f64")])["x"]
    assert np.shares_memory(given, X)
    flat = V.ravel()
    lists = arrow.FixedSizeListArray.from_arrays(arrow.array(flat), 2)
    given = columns_of(arrow.table({"x": lists}), [port("f32", (2,))])["x"]
    assert given.ctypes.data == flat.ctypes.data and given.shape == (6, 2)
    assert np.array_equal(columns_of(arrow.table({"x": lists[2:5]}), [port("f32", (2,))])["x"], V[2:5])


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
@pytest.mark.parametrize(("dtype", "values", "bad"), [
    ("i8", np.array([-128, 127]), np.array([0, 128])),
    ("u8", np.array([0, 255]), np.array([0, -1])),
    ("i32", np.array([1.0, -5.0]), np.array([1.0, 1.5])),
    ("u64", np.array([0.0, 2.0**63]), np.array([0.0, 2.0**64])),
    ("i64", np.array([0.0, -(2.0**63)]), np.array([0.0, 2.0**63])),
    ("i64", np.array([0.0, 1.0]), np.array([0.0, np.nan])),
    ("f32", np.array([1, 2**24]), np.array([1, 2**24 + 1])),
    ("f64", np.array([1, 2**53]), np.array([1, 2**63 - 1])),
    ("f32", np.array([0.1, np.inf]), np.array([0.1, 1e39])),
    ("bool", np.array([0, 1]), np.array([0, 2])),
])
def test_widths(kind: str, dtype: str, values: Any, bad: Any) -> None:
    module = pytest.importorskip(kind)
    make = module.DataFrame if kind == "pandas" else module.table
    given = columns_of(make({"x": values}), [port(dtype)])["x"]
    assert given.dtype == port(dtype).numpy_dtype
    assert np.array_equal(given, values.astype(given.dtype))
    with pytest.raises(ValueError, match="x: row 1: "):
        columns_of(make({"x": bad}), [port(dtype)])


def test_missing_values() -> None:
    pandas = pytest.importorskip("pandas")
    arrow = pytest.importorskip("pyarrow")
    floats = [1.0, None, 3.0]
    for table in (pandas.DataFrame({"x": pandas.array(floats, dtype="Float64")}),
                  pandas.DataFrame({"x": pandas.array([1.0, None, 3.0], dtype="object")}),
                  arrow.table({"x": floats})):
        with pytest.raises(ValueError, match="x: row 1: no value"):
            columns_of(table, [port("f64")])
        given = columns_of(table, [port("f64", always=False)])["x"]
        assert list(given.mask) == [False, True, False] and given[2] == 3
    for table in (pandas.DataFrame({"x": [1.0, np.nan]}), arrow.table({"x": np.array([1.0, np.nan])})):
        given = columns_of(table, [port("f64")])["x"]
        assert np.isnan(given[1])
        assert not np.ma.getmaskarray(columns_of(table, [port("f64", always=False)])["x"]).any()
    partly = pandas.DataFrame({"x[0]": pandas.array([1, None]), "x[1]": [1, 2]})
    with pytest.raises(ValueError, match=r"x\[0\]: row 1: no value, but other elements"):
        columns_of(partly, [port("i64", (2,), always=False)])


def test_matrices_in_columns() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({f"x[{i},{j}]": [10 * i + j, -1] for j in range(3) for i in range(2)})
    assert columns_of(frame, [port("i64", (2, 3))])["x"][0].tolist() == [[0, 1, 2], [10, 11, 12]]


def test_wrong_columns(frame: Any) -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match=r"no column 'k', 'v\[1\]'; did you mean 'K'"):
        columns_of(frame.rename(columns={"k": "K", "v[1]": "v1"}), NODE.inputs)
    with pytest.raises(TypeError, match="x: .*expected f64, got"):
        columns_of(frame.assign(x="text"), NODE.inputs)
    with pytest.raises(TypeError, match="x: expected f64, got datetime64"):
        columns_of(frame.assign(x=pandas.Timestamp(0)), NODE.inputs)
    with pytest.raises(TypeError, match="c: expected bool, got float64"):
        columns_of(frame.assign(c=1.0), NODE.inputs)
    with pytest.raises(ValueError, match="several columns of this name"):
        columns_of(pandas.concat([frame, frame[["x"]]], axis=1), NODE.inputs)
    with pytest.raises(TypeError, match="inputs: expected a mapping or a table"):
        NODE.start().run(X)
    with pytest.raises(TypeError, match="inputs: expected a mapping of arrays"):
        NODE.start().run("rows.csv")


def test_structured_arrays() -> None:
    table = np.zeros(3, [("x", "f8"), ("v", "f4", 2)])
    table["x"], table["v"] = X[:3], V[:3]
    given = columns_of(table, [port("f64"), port("f32", (2,), name="v")])
    assert np.array_equal(given["x"], X[:3]) and np.array_equal(given["v"], V[:3])


def test_rows_as_tables() -> None:
    pandas = pytest.importorskip("pandas")
    instance = NODE.start()
    instance.run(x=X[:2], c=C[:2], k=rmlc.Sampled(K[:1], [0]), v=V[:2])
    frame = instance.run(x=X[2:], c=C[2:], k=rmlc.Sampled(K[1:], [0, 1, 3]), v=V[2:]).to_pandas()
    assert list(frame.columns) == ["y", "seen", "w[0]", "w[1]"] and list(frame.index) == [2, 3, 4, 5]
    assert frame["seen"].dtype == "Int32" and frame["seen"].isna().tolist() == [False, False, True, False]
    assert frame["seen"].dropna().tolist() == EXPECTED.seen.values[1:].tolist()
    assert np.array_equal(frame[["w[0]", "w[1]"]].to_numpy(), EXPECTED.w[2:])
    assert isinstance(EXPECTED.to_pandas(), pandas.DataFrame)


def test_rows_as_arrow() -> None:
    pytest.importorskip("pyarrow")
    table = to_arrow(EXPECTED)
    assert table.column_names == ["cycle", "y", "seen", "w"]
    assert table.column("w").to_pylist() == EXPECTED.w.tolist()
    assert table.column("seen").to_pylist() == [1, None, 3, 6, None, 10]
    assert table.column("y").chunk(0).to_numpy().ctypes.data == EXPECTED.y.ctypes.data


def rows_of() -> Any:
    k = iter(K.tolist())
    return [{"x": float(x), "c": bool(c), "k": next(k) if c else None, "v": v} for x, c, v in zip(X, C, V)]


@pytest.mark.parametrize("block", [1, 4, 100])
def test_streams_of_anything(block: int, frame: Any, table: Any, tmp_path: pathlib.Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    from rmlc.progress import join

    file = tmp_path / "t.parquet"
    parquet.write_table(table, file)
    blocks = [{"x": X[k : k + 3], "c": C[k : k + 3], "v": V[k : k + 3],
               "k": [1, None, 2, 3, None, 4][k : k + 3]} for k in (0, 3)]
    for reader in (frame, table, rmlc.tables.parquet(file, 4), iter([frame[:4], frame[4:]]), rows_of(), iter(rows_of()),
                   [tuple(row.values()) for row in rows_of()], table.to_batches(2), blocks):
        same(join(NODE.start().stream(reader, block)))


def test_a_parquet_file_is_read_by_batches_of_the_columns_needed(table: Any, tmp_path: pathlib.Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(table, tmp_path / "t.parquet")
    batches = list(rmlc.tables.parquet(tmp_path / "t.parquet", 4).batches(NODE.inputs))
    assert [len(batch) for batch in batches] == [4, 2]
    assert set(batches[0].schema.names) == {"x", "c", "k", "v"}
    same(NODE.start().run(rmlc.tables.parquet(tmp_path / "t.parquet")))
    with pytest.raises(FileNotFoundError):
        rmlc.tables.parquet(tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="batch"):
        rmlc.tables.parquet(tmp_path / "t.parquet", 0)


def test_rows_are_asked_for_when_they_are_needed() -> None:
    asked: list[int] = []

    def endless() -> Any:
        while True:
            asked.append(len(asked))
            yield {"x": float(asked[-1])}

    stream = rmlc.compile("node main(x: f64) -> (y: f64) y = x;").node().start().stream(endless(), 3)
    assert next(stream).y.tolist() == [0, 1, 2] and asked == [0, 1, 2]


@pytest.mark.parametrize(("row", "text"), [
    ({"y": 1.0}, "row 1: no input 'y'"), ({}, "row 1: x: missing"), ({"x": "1"}, "row 1: x: expected f64"),
    ((1.0, 2.0), r"row 1: expected a value for each of the 1 inputs \(x\), got 2 values"),
])
def test_wrong_rows(row: Any, text: str) -> None:
    stream = rmlc.compile("node main(x: f64) -> (y: f64) y = x;").node().start().stream([{"x": 1.0}, row])
    with pytest.raises(TypeError, match=text):
        list(stream)


def test_what_is_no_stream() -> None:
    with pytest.raises(TypeError, match="a mapping, which is one block"):
        blocks_of({"x": X}, NODE.inputs, 4)
    with pytest.raises(ValueError, match="block: expected"):
        blocks_of([], NODE.inputs, 0)
    with pytest.raises(TypeError, match="got an? *int|got int|got 5"):
        blocks_of(5, NODE.inputs, 4)


# ---- missing values ------------------------------------------------------------------------------

HOLD = rmlc.compile("""
node main(measured: bool, t: f64 when measured, dry: bool, h: i32 when not dry, v: f32[2] when measured, b: f64)
  -> (held: f64, humid: i32, w: f32[2] when measured, z: f64)
  held = merge measured t ((0.0 fby held) when not measured);
  humid = merge dry (-1 when dry) h;
  w = v;
  z = b;
""").node()
T = [1.5, None, 2.5, None]
H = [None, 7, 8, None]
W = [[1.0, 2.0], None, [3.0, 4.0], None]
MEASURED, DRY = [value is not None for value in T], [value is None for value in H]
BASE = [0.5, 1.0, 1.5, 2.0]
HELD = HOLD.start().run(
    measured=MEASURED, t=rmlc.Sampled([1.5, 2.5], [0, 2]), dry=DRY, h=rmlc.Sampled(np.array([7, 8], np.int32), [1, 2]),
    v=rmlc.Sampled(np.array([[1, 2], [3, 4]], np.float32), [0, 2]), b=np.array(BASE))


def same_held(rows: rmlc.Rows) -> None:
    assert HELD.held.tolist() == [1.5, 1.5, 2.5, 2.5] and HELD.humid.tolist() == [-1, 7, 8, -1]
    for name in ("held", "humid", "z"):
        assert rows[name].tolist() == HELD[name].tolist()
    assert rows.w.at.tolist() == [0, 2] and rows.w.values.tolist() == [[1, 2], [3, 4]]


def masked_input() -> dict[str, Any]:
    h = np.ma.MaskedArray(np.array([0, 7, 8, 0], np.int32), DRY)
    v = np.ma.MaskedArray(np.array([[1, 2], [0, 0], [3, 4], [0, 0]], np.float32), [[not each] * 2 for each in MEASURED])
    return {"t": T, "h": h, "v": v, "b": np.array(BASE)}


def test_flags_follow_from_missing_values() -> None:
    same_held(HOLD.start().run(masked_input(), missing="absent"))
    same_held(HOLD.start().run({**masked_input(), "t": np.array([1.5, np.nan, 2.5, np.nan])}, missing="absent"))
    same_held(HOLD.start().run({**masked_input(), "t": rmlc.Sampled([1.5, 2.5], [0, 2])}, missing="absent"))
    same_held(HOLD.start().run({**masked_input(), "measured": MEASURED}, missing="absent"))
    with pytest.raises(TypeError, match="measured: missing"):
        HOLD.start().run(masked_input())
    with pytest.raises(ValueError, match=r"measured: cycle 3: by t \(f64 when measured\) it is True, by v .* it is not"):
        HOLD.start().run({**masked_input(), "t": [1.5, None, 2.5, 3.5]}, missing="absent")
    with pytest.raises(TypeError, match="measured: missing"):
        HOLD.start().run({"h": masked_input()["h"], "b": np.array(BASE)}, missing="absent")
    with pytest.raises(ValueError, match="v: cycle 0: only some elements of the value are NaN"):
        v = np.array([[np.nan, 2], [0, 0], [3, 4], [0, 0]], np.float32)
        HOLD.start().run({**masked_input(), "v": v}, missing="absent")
    with pytest.raises(ValueError, match="missing: expected 'error', 'absent' or 'nan', got 'zero'"):
        HOLD.start().run(masked_input(), missing="zero")
    with pytest.raises(TypeError, match="give an input of this name in a mapping"):
        HOLD.start().run(missing=np.zeros(4))


def test_flags_follow_from_the_rows_of_a_stream() -> None:
    rows = [{"t": t, "h": h, "v": w, "b": b} for t, h, w, b in zip(T, H, W, BASE)]
    rows[1]["measured"] = False  # this row gives the flag itself
    del rows[3]["t"]
    parts = list(HOLD.start().stream(rows, block=3, missing="absent"))
    assert np.concatenate([part.held for part in parts]).tolist() == HELD.held.tolist()
    assert np.concatenate([part.humid for part in parts]).tolist() == HELD.humid.tolist()
    with pytest.raises(TypeError, match="row 0: measured: missing"):
        list(HOLD.start().stream(rows))


def test_flags_follow_from_tables(tmp_path: pathlib.Path) -> None:
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    columns = {"t": pandas.array(T, dtype="Float64"), "h": pandas.array(H, dtype="Int64"), "v": W, "b": BASE}
    frame = pandas.DataFrame(columns)
    same_held(HOLD.start().run(frame, missing="absent"))
    same_held(HOLD.start().run(frame.assign(t=[1.5, pandas.NaT, 2.5, pandas.NaT]), missing="absent"))
    same_held(HOLD.start().run(frame.assign(t=[1.5, None, 2.5, None]), missing="absent"))  # floats with NaN
    same_held(HOLD.start().run(frame.assign(measured=MEASURED), missing="absent"))
    same_held(HOLD.start().run(frame, measured=MEASURED, missing="absent"))
    v = arrow.array(W, arrow.list_(arrow.float32(), 2))
    table = arrow.table({"t": arrow.array(T), "h": arrow.array(H), "v": v, "b": BASE})
    same_held(HOLD.start().run(table, missing="absent"))
    file = tmp_path / "rows.parquet"
    pytest.importorskip("pyarrow.parquet").write_table(table, file)
    parquet = rmlc.tables.parquet(file, 3)
    same_held(HOLD.start().run(parquet, missing="absent"))
    for source in (frame, table, parquet):
        parts = list(HOLD.start().stream(source, 3, missing="absent"))
        assert np.concatenate([part.held for part in parts]).tolist() == HELD.held.tolist()
    with pytest.raises(TypeError, match="the table has no column 'measured', 'dry'"):
        HOLD.start().run(frame)
    keyed = HOLD.start(key="key").run(frame.assign(key=["a", "a", "b", "b"]), missing="absent")
    assert np.asarray(keyed.held).tolist() == [1.5, 1.5, 2.5, 2.5]
    lines = {line.split()[0]: line.split()[2:] for line in str(HOLD.trace(frame, missing="absent")).splitlines()}
    assert lines["measured"] == ["T", "F", "T", "F"] and lines["dry"] == ["T", "F", "F", "T"]


def test_missing_floats_are_nan() -> None:
    pandas = pytest.importorskip("pandas")
    given = masked_input()
    rows = HOLD.start().run({**given, "measured": [True] * 4, "dry": DRY, "b": [0.5, None, 1.5, 2.0]}, missing="nan")
    np.testing.assert_array_equal(rows.z, [0.5, np.nan, 1.5, 2.0])
    np.testing.assert_array_equal(rows.held, [1.5, np.nan, 2.5, np.nan])
    np.testing.assert_array_equal(rows.w.dense(), [[1, 2], [np.nan, np.nan], [3, 4], [np.nan, np.nan]])
    rows = HOLD.start().run({**given, "measured": MEASURED, "dry": DRY}, missing="nan")
    np.testing.assert_array_equal(rows.held, HELD.held)
    node = rmlc.compile("node main(x: bf16, n: i32) -> (y: f32, m: i32) y = cast(f32, x); m = n;").node()
    frame = pandas.DataFrame({"x": pandas.array([1.5, None], dtype="Float32"), "n": [1, 2]})
    np.testing.assert_array_equal(node.start().run(frame, missing="nan").y, [1.5, np.nan])
    streamed = list(node.start().stream([{"x": 2.5, "n": 1}, {"n": 2}], missing="nan"))
    np.testing.assert_array_equal(np.concatenate([part.y for part in streamed]), [2.5, np.nan])
    with pytest.raises(ValueError, match="n: row 1: no value"):
        node.start().run(frame.assign(n=pandas.array([1, None], dtype="Int32")), missing="nan")
    with pytest.raises(ValueError, match="x: row 1: no value"):
        node.start().run(frame)
