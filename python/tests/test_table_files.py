"""Parquet and Arrow files as inputs of the command, which reads them with this Python and its PyArrow."""

from __future__ import annotations

import datetime
import os
import pathlib
import sys
from typing import Any

import pytest
from conftest import Command

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

PROGRAM = """
node main(at: f64, known: bool, kind: i32 when known, has: bool, x: f64 when has, full: bool, v: f32[2] when full,
          m: i32[2, 2], w: i32[2], n: i64)
  -> (seconds: f64, kind_of: i32 when known, y: f64 when has, s: f32 when full, total: i32, count: i64)
  seconds = at;
  kind_of = kind;
  y = x;
  s = sum(v);
  total = sum(m) + sum(w);
  count = n;
"""
OPTIONS = ("--missing", "absent", "--time", "at=%Y-%m-%dT%H:%M:%S", "--classes", "kind=kinds.txt", "--keep", "utc",
           "--keep", "a.b")
# f32 0.1 as an f64; the third and fourth rows lack values.
ROWS = """utc,a.b,seconds,kind_of,y,s,total,count
2026-05-01T08:00:00Z,0,1777622400,0,1.5,3,10,1
2026-05-01T08:01:00.5Z,1,1777622460.25,1,0.10000000149011612,7,12,2
2026-05-01T08:02:00Z,2,1777622520,,,,14,3
2026-05-01T08:03:00.5Z,3,1777622580.25,0,nan,11,16,4
2026-05-01T08:04:00Z,4,1777622640,2,inf,15,18,9223372036854775807
"""


def table() -> Any:
    begin = datetime.datetime(2026, 5, 1, 8)
    minutes = [begin + datetime.timedelta(minutes=k) for k in range(5)]
    return pa.table({
        "at": pa.array([each + datetime.timedelta(milliseconds=250 * (k % 2)) for k, each in enumerate(minutes)],
                       pa.timestamp("us")),
        "utc": pa.array([each + datetime.timedelta(milliseconds=500 * (k % 2)) for k, each in enumerate(minutes)],
                        pa.timestamp("ns", "UTC")),
        "kind": pa.array(["a", "b", None, "a", "b, c"]).dictionary_encode(),
        "x": pa.array([1.5, 0.1, None, float("nan"), float("inf")], pa.float32()),
        "v": pa.array([[1.0, 2.0], [3.0, 4.0], None, [5.0, 6.0], [7.0, 8.0]], pa.list_(pa.float32(), 2)),
        "m": pa.array([[[1, 2], [3, 4]]] * 5, pa.list_(pa.list_(pa.int32()))),
        "w[0]": pa.array(range(5)), "w[1]": pa.array(range(5)), "a.b": pa.array(range(5)),
        "n": pa.array([1, 2, 3, 4, 2**63 - 1], pa.int64()),
        "parts": pa.array([{"p": 1}] * 5), "bytes": pa.array([b"x"] * 5),
    })


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"])
    (tmp_path / "main.rml").write_text(PROGRAM)
    (tmp_path / "kinds.txt").write_text("a\nb\nb, c\n")
    (tmp_path / "pyarrow.py").write_text("raise SystemExit(5)\n")  # is not imported from the current folder
    parquet.write_table(table(), tmp_path / "t.parquet", row_group_size=2)
    feather.write_feather(table(), tmp_path / "t.feather", compression="zstd")
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as file, pa.ipc.new_stream(file, table().schema) as writer:
        writer.write_table(table(), max_chunksize=2)
    return tmp_path


def test_rows(folder: pathlib.Path, command: Command) -> None:
    for suffix in ("parquet", "feather", "arrow"):
        done = command("run", "main.rml", "--input", f"t.{suffix}", *OPTIONS, cwd=folder)
        assert (done.returncode, done.stderr, done.stdout) == (0, "", ROWS), suffix


def test_no_rows(folder: pathlib.Path, command: Command) -> None:
    parquet.write_table(table().slice(0, 0), folder / "t.parquet")
    done = command("run", "main.rml", "--input", "t.parquet", *OPTIONS, cwd=folder)
    assert (done.returncode, done.stdout) == (0, ROWS.partition("\n")[0] + "\n"), done.stderr


def test_one_column_with_nulls(folder: pathlib.Path, command: Command) -> None:
    (folder / "one.rml").write_text("node main(there: bool, x: f64 when there) -> (y: f64 when there)\n  y = x;\n")
    feather.write_feather(pa.table({"x": pa.array([1.0, None, 2.0, None])}), folder / "x.feather")
    done = command("run", "one.rml", "--input", "x.feather", "--missing", "absent", cwd=folder)
    assert (done.returncode, done.stdout) == (0, 'y\n1\n""\n2\n""\n'), done.stderr


def test_batches_of_a_large_table(folder: pathlib.Path, command: Command) -> None:
    (folder / "sum.rml").write_text("node main(x: i64) -> (y: i64)\n  y = (0 fby y) + x;\n")
    feather.write_feather(pa.table({"x": pa.array(range(20_000), pa.int64())}), folder / "x.feather", compression="lz4")
    done = command("run", "sum.rml", "--input", "x.feather", cwd=folder)
    assert done.stdout.splitlines()[-1] == str(sum(range(20_000))), done.stderr


@pytest.mark.parametrize(("column", "values", "words"), [
    ("x", [{"p": 1}], "t.arrow: column 'x' is struct<p: int64>, which is neither a number, a Boolean, a text nor a time"),
    ("x", [[1.0]], "t.arrow: column 'x': its lists have other axes than the input"),
    ("x", [datetime.timedelta(1)], "t.arrow: column 'x' is duration"),
    ("x", ["warm"], "t.arrow:2:1: cycle 0: column 'x': 'warm' is not an f64"),
    ("z", [1.0], "t.arrow:1: no column 'x'"),
    ("v", [[1.0, 2.0, 3.0]], "t.arrow: column 'v': cycle 0: a list of 3 elements, not 2"),
])
def test_columns_that_do_not_fit(folder: pathlib.Path, command: Command, column: str, values: list[Any],
                                 words: str) -> None:
    kind = "f64[2]" if column == "v" else "f64"
    (folder / "one.rml").write_text(f"node main({'v' if column == 'v' else 'x'}: {kind}) -> (y: f64)\n"
                                    f"  y = {'v[0]' if column == 'v' else 'x'};\n")
    wrong = pa.table({column: pa.array(values)})
    with pa.OSFile(str(folder / "t.arrow"), "wb") as file, pa.ipc.new_file(file, wrong.schema) as writer:
        writer.write_table(wrong)
    done = command("run", "one.rml", "--input", "t.arrow", cwd=folder)
    assert done.returncode == 1 and words in done.stderr, done.stderr


def test_two_columns_of_one_name(folder: pathlib.Path, command: Command) -> None:
    (folder / "one.rml").write_text("node main(x: f64) -> (y: f64)\n  y = x;\n")
    for name, status in (("x", 1), ("z", 0)):
        both = pa.table([pa.array([1.0]), pa.array([2.0]), pa.array([3.0])], names=[name, name, "x" if name == "z" else "w"])
        feather.write_feather(both, folder / "x.feather")
        done = command("run", "one.rml", "--input", "x.feather", cwd=folder)
        assert done.returncode == status and ("several columns are named 'x'" in done.stderr) == bool(status), done.stderr


def test_damaged_files(folder: pathlib.Path, command: Command) -> None:
    for suffix in ("parquet", "feather", "arrow"):
        whole = (folder / f"t.{suffix}").read_bytes()
        for cut in (8, len(whole) * 2 // 3):
            (folder / f"cut.{suffix}").write_bytes(whole[:cut])
            done = command("run", "main.rml", "--input", f"cut.{suffix}", *OPTIONS, cwd=folder)
            assert done.returncode == 1 and done.stderr.startswith(f"cut.{suffix}: "), (suffix, cut, done.stderr)
            assert "Traceback" not in done.stderr
