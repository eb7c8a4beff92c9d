"""`rmlc.spark.apply` on one machine, compared with the command. tests/soak/spark uses a cluster.

Needs pyspark and Java.
"""

from __future__ import annotations

import datetime
import decimal
import doctest
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, Command

import rmlc
from rmlc import _safetensors

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pandas", reason="pandas is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
    pytest.skip("there is no Java", allow_module_level=True)
pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAM = """node main(last: bool, x: f64, k: i64 when last, a: f32[2, 3]) ->
    (rise: f64, up: i64 when last, turned: f32[3, 2], n: u64, half: f16 when last)
  rise = if last then 0.0 else (post x) - x + normal([1], 0.0, 1.0)[0];
  up = k + 1 when last;
  turned = transpose(a);
  n = cast(u64, 1) fby n + cast(u64, 1);
  half = cast(f16, x) when last;
"""
SCHEMA = "machine string, at timestamp, last boolean, x double, k bigint, a array<array<float>>, site string"
Row = dict[str, Any]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1", SPARK_LOCAL_HOSTNAME="localhost")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(pathlib.Path(rmlc.__file__).parents[1]),
                                                             os.environ.get("PYTHONPATH", "")]))
    warehouse = str(tmp_path_factory.mktemp("warehouse"))
    made: Any = SparkSession.builder.master("local[2]")  # type: ignore[attr-defined]
    for name, value in (("spark.ui.enabled", "false"), ("spark.sql.shuffle.partitions", "2"),
                        ("spark.default.parallelism", "2"), ("spark.sql.session.timeZone", "America/New_York"),
                        ("spark.sql.execution.arrow.maxRecordsPerBatch", "7"),
                        ("spark.sql.warehouse.dir", warehouse)):
        made = made.config(name, value)
    session = made.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def random_rows(count: int) -> list[Row]:
    draw = random.Random(3)
    rows = []
    for n in range(count):
        last = draw.random() < 0.4
        rows.append({"machine": draw.choice(["pump", "fan", "a b.c`d"]),
                     "at": datetime.datetime(2024, 11, 3, 5, 29) + datetime.timedelta(minutes=n),
                     "last": last, "x": float("nan") if n == 11 else draw.gauss(0, 1),
                     "k": draw.randrange(2**60, 2**61) if last else None,
                     "a": [[float(np.float32(draw.gauss(0, 1))) for _ in "abc"] for _ in "ab"],
                     "site": draw.choice(["north", None])})
    return rows


def frame_of(spark: Any, rows: list[Row]) -> Any:
    return spark.createDataFrame([tuple(row.values()) for row in rows], SCHEMA)


def of_command(command: Command, folder: pathlib.Path, rows: list[Row]) -> list[Row]:
    (folder / "main.rml").write_text(PROGRAM)
    (folder / "rows.jsonl").write_text("".join(
        json.dumps({name: row[name] for name in ("machine", "last", "x", "k", "a")}).replace("NaN", '"NaN"') + "\n"
        for row in rows))
    done = command("run", folder / "main.rml", "--key", "machine", "--seed", "7", "--input", folder / "rows.jsonl",
                   "--output", folder / "found.jsonl", "--quiet")
    assert done.returncode == 0, done.stderr
    mine: dict[str, list[Row]] = {}
    for row in rows:
        mine.setdefault(row["machine"], []).append(row)
    found = []
    for line in (folder / "found.jsonl").read_text().splitlines():
        row = json.loads(line)
        of = mine[row.pop("machine")].pop(0)
        row["turned"] = np.array(row["turned"], np.float32).tolist()
        row["half"] = None if row["half"] is None else float(np.float16(row["half"]))
        row["rise"] = float(row["rise"])
        found.append({"machine": of["machine"], "at": of["at"], "site": of["site"], **row})
    return sorted(found, key=lambda row: row["at"])


def collected(df: Any) -> list[Row]:
    rows = [row.asDict() for row in df.collect()]
    return sorted(({**row, "n": int(row["n"])} for row in rows), key=lambda row: row["at"])


def same(found: list[Row], expected: list[Row]) -> None:
    # Different floats have different texts, and all NaNs have the same text.
    assert list(map(repr, found)) == list(map(repr, expected))


ARGUMENTS: dict[str, Any] = {"key": "machine", "order_by": "at", "keep": ["site"], "seed": 7}


def test_batches_and_streams_are_the_command(spark: Any, command: Command, tmp_path: pathlib.Path) -> None:
    rows = random_rows(60)
    expected = of_command(command, tmp_path, rows)
    assert len(expected) > 40
    node = rmlc.load(tmp_path / "main.rml").node()
    mixed = rows.copy()
    random.Random(0).shuffle(mixed)
    found = rmlc.spark.apply(frame_of(spark, mixed), node, **ARGUMENTS)
    assert found.schema.simpleString() == (
        "struct<machine:string,at:timestamp,site:string,rise:double,up:bigint,turned:array<array<float>>,"
        "n:decimal(20,0),half:float>")
    same(collected(found), expected)

    # Run a stream in four parts. After two parts the query ends, and another query continues from its checkpoint.
    parts, out = tmp_path / "parts", tmp_path / "out"
    for part in range(4):
        if part == 2:
            run_stream(spark, node, parts, out, tmp_path / "checkpoint")
        frame_of(spark, rows[15 * part : 15 * part + 15]).coalesce(1).write.mode("append").parquet(str(parts))
        newest = max(parts.glob("*.parquet"), key=lambda file: file.stat().st_mtime)
        os.utime(newest, (1e9 + part, 1e9 + part))  # Spark orders the files by this time
    run_stream(spark, node, parts, out, tmp_path / "checkpoint")
    # A row that waits at the end waits for the next row of its machine, so the end of the stream does not release it.
    same(collected(spark.read.parquet(str(out))), expected)


def run_stream(spark: Any, node: rmlc.Node, parts: pathlib.Path, out: pathlib.Path, checkpoint: pathlib.Path) -> None:
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(parts))
    query = (rmlc.spark.apply(stream, node, **ARGUMENTS).writeStream.format("parquet").outputMode("append")
             .option("path", str(out)).option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start())
    query.awaitTermination()


@pytest.mark.parametrize(("kind", "keys"), [("boolean", [True, False]), ("tinyint", [-3, 7])])
def test_keys_of_a_stream(spark: Any, kind: str, keys: list[Any], tmp_path: pathlib.Path) -> None:
    node = rmlc.compile("node main(x: f64) -> (y: f64) y = (0.0 fby y) + x;").node()
    schema = f"m {kind}, t int, x double"
    parts = str(tmp_path / "parts")
    spark.createDataFrame([(keys[0], 1, 1.0), (keys[1], 1, 10.0), (keys[0], 2, 2.0)], schema).write.parquet(parts)

    def written() -> list[Any]:
        found = rmlc.spark.apply(spark.readStream.schema(schema).parquet(parts), node, key="m", order_by="t")
        query = (found.writeStream.format("parquet").option("path", str(tmp_path / "out"))
                 .option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start())
        query.awaitTermination()
        return sorted(tuple(row) for row in spark.read.parquet(str(tmp_path / "out")).collect())

    expected = sorted([(keys[0], 1, 1.0), (keys[0], 2, 3.0), (keys[1], 1, 10.0)])
    assert written() == expected
    # Spark's store contains states in the format of `save`.
    kept = spark.read.format("statestore").load(str(tmp_path / "checkpoint")).select("key.key", "value.*")
    states = {row["key"]: row["groupState"]["state"] for row in kept.collect()}
    sums = {key: node.start(load=bytes(state)).step(x=0.0) for key, state in states.items()}
    assert sums == {keys[0]: 3.0, keys[1]: 10.0}
    spark.createDataFrame([(keys[0], 3, None)], schema).write.mode("append").parquet(parts)
    with pytest.raises(Exception, match=rf"x: no value, but .* \(m {keys[0]}, t 3\)"):
        written()
    assert sorted(tuple(row) for row in spark.read.parquet(str(tmp_path / "out")).collect()) == expected


def test_no_rows_and_no_inputs(spark: Any) -> None:
    node = rmlc.compile("node main() -> (n: i32) n = 1 fby n + 1;").node()
    df = spark.createDataFrame([(True, 2), (True, 1), (False, 1)], "m boolean, t int")
    assert sorted(tuple(row) for row in rmlc.spark.apply(df, node, key="m", order_by="t").collect()) == [
        (False, 1, 1), (True, 1, 1), (True, 2, 2)]
    assert rmlc.spark.apply(df.limit(0), node, key="m", order_by=["t"]).collect() == []


def test_names_and_types_of_what_is_carried(spark: Any) -> None:
    node = rmlc.compile("node main(x: f64) -> (y: f64) y = (0.0 fby y) + x;").node()
    day = datetime.date(2024, 2, 29)
    rows = [(True, day, decimal.Decimal("1.50"), 1.0, b"\0", [[1, None]], None),
            (True, day, decimal.Decimal("1.25"), 2.0, None, None, datetime.datetime(2024, 1, 1))]
    df = spark.createDataFrame(rows, "`a.b` boolean, `d``1` date, `d 2` decimal(10,2), x double, b binary, "
                                     "l array<array<int>>, t timestamp_ntz")
    found = rmlc.spark.apply(df, node, key="a.b", order_by=["d`1", "d 2"], keep=["b", "l", "t", "x"])
    assert [tuple(row) for row in found.orderBy("y", ascending=False).collect()] == [
        (*row[:3], row[4] and bytearray(row[4]), *row[5:], row[3], y) for row, y in zip(rows, [3.0, 2.0])]


def test_columns_of_elements_and_parameters(spark: Any, tmp_path: pathlib.Path) -> None:
    node = rmlc.compile("node main(x: f64[2]) -> (y: f64) w = param(1.0); y = w * x[0] + x[1];").node()
    (path,) = node.params
    (tmp_path / "params.safetensors").write_bytes(_safetensors.write({path: np.asarray(10.0)}))
    df = spark.createDataFrame([(1, 1, 2.0, 3.0)], "m tinyint, t int, `x[0]` double, `x[1]` double")
    found = rmlc.spark.apply(df, node, key="m", order_by="t", params=tmp_path / "params.safetensors").collect()
    assert [tuple(row) for row in found] == [(1, 1, 23.0)]
    (tmp_path / "params.safetensors").write_bytes(b"nonsense")
    with pytest.raises(rmlc.RunError, match=r"params.safetensors"):
        rmlc.spark.apply(df, node, key="m", order_by="t", params=tmp_path / "params.safetensors")


def test_a_row_that_fails_is_named(spark: Any) -> None:
    node = rmlc.compile("node main(x: i32) -> (y: i32) y = 10 / x;", name="divide.rml").node()
    df = spark.createDataFrame([("fan", 1, 5), ("fan", 2, 0)], "m string, hour int, x int")
    with pytest.raises(Exception, match=r"divide.rml:1:35: cycle 1: division by zero \(m 'fan', hour 2\)"):
        rmlc.spark.apply(df, node, key="m", order_by="hour").collect()


@pytest.mark.parametrize(("changed", "error", "text"), [
    ({"order_by": None}, TypeError, "order_by: missing; rows of a Spark DataFrame have no order"),
    ({"order_by": []}, TypeError, "order_by: missing"),
    ({"order_by": [3]}, TypeError, "order_by: expected names of columns, each a str, got "),
    ({"order_by": "hours"}, TypeError, "order_by: the table has no column 'hours'; did you mean 'hour'?"),
    ({"order_by": "list"}, TypeError, r"order_by: column 'list' is array<double>; only numbers, texts"),
    ({"order_by": "m"}, ValueError, "order_by: 'm' is the key; rename a column by `withColumnRenamed`"),
    ({"order_by": "y"}, ValueError, "order_by: 'y' is an output of the node"),
    ({"keep": ["hour"]}, ValueError, "keep: 'hour' is in the result already"),
    ({"keep": ["no"]}, TypeError, "keep: the table has no column 'no'"),
    ({"keep": ["map"]}, TypeError, "map: a column of map<string,int> cannot be an input or be kept"),
    ({"key": "M"}, TypeError, "key: the table has no column 'M'; did you mean 'm'?"),
    ({"key": "list"}, TypeError, "key: column 'list' is array<double>; a key is a text, a Boolean or an integer"),
    ({"key": "f"}, TypeError, "key: column 'f' is double; a key is a text"),
    ({"key": "x"}, ValueError, "key: the node has an input 'x'"),
    ({"key": 3}, TypeError, "key: the name of the column"),
    ({"late": "never"}, ValueError, "late: expected 'error', 'drop' or 'accept', got 'never'"),
    ({"seed": -1}, ValueError, "seed"),
    ({"node": "node main(z: f64) -> (q: f64) q = z;"}, TypeError, "the table has no column 'z'"),
    ({"node": "node main(m2: f64) -> (q: f64) q = m2;"}, TypeError, "m2: expected f64, got string"),
    ({"node": "node main(f: bool) -> (q: bool) q = f;"}, TypeError, "f: expected bool, got"),
    ({"node": "node main(list: f64) -> (q: f64) q = list;"}, (TypeError, ValueError), "list: expected f64"),
    ({"node": "node main(f: f64[2]) -> (q: f64[2]) q = f;"}, TypeError, r"f: expected lists of \[2\], got double"),
    ({"node": "node main(map: f64) -> (q: f64) q = map;"}, TypeError, r"map: a column of map<string,int>"),
    ({"node": "node main(at: f64) -> (q: f64) q = at;"}, TypeError, r"at: expected f64, got timestamp"),
    ({"node": "node main(x: f64) -> (q: f64[0]) q = zeros([0]);"}, ValueError, "q: Arrow has no lists for tensors"),
    ({"params": "nowhere.safetensors"}, FileNotFoundError, "nowhere.safetensors"),
])
def test_what_the_schema_tells(spark: Any, changed: dict[str, Any], error: Any, text: str) -> None:
    df = spark.createDataFrame([], "m string, m2 string, hour int, y int, x double, f double, list array<double>, "
                                   "map map<string,int>, at timestamp")
    given = {"key": "m", "order_by": "hour", "node": "node main(x: f64) -> (y: f64) y = x;", **changed}
    with pytest.raises(error, match=text):
        rmlc.spark.apply(df, rmlc.compile(given.pop("node")).node(), **given)


def test_the_page_of_the_manual(spark: Any, tmp_path: pathlib.Path) -> None:
    page = ROOT / "docs/manual/spark.md"
    if not page.exists():
        pytest.skip("the manual is not beside the package")
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    names = {"spark": spark, "folder": str(tmp_path / "rows")}
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), names, "spark.md", str(page), 0)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(examples, out=report.append)
    assert examples.examples and not report, "".join(report)


def test_the_fleet(spark: Any, command: Command, tmp_path: pathlib.Path) -> None:
    fleet = ROOT / "examples/fleet"
    if not fleet.exists():
        pytest.skip("the examples are not beside the package")
    rows, found, on_spark = (tmp_path / f"{name}.npz" for name in ("rows", "found", "on_spark"))
    subprocess.run([sys.executable, fleet / "simulate.py", rows, tmp_path / "broken.csv", "30", "48"], check=True)
    done = command("run", fleet / "fleet.rml", "--key", "machine:i32", "--input", rows, "--output", found)
    assert done.returncode == 0, done.stderr
    told = subprocess.run([sys.executable, fleet / "on_spark.py", rows, found, on_spark, "--stream", "3"], text=True,
                          capture_output=True, check=False, env={**os.environ, "MASTER": "local[2]"}, cwd=tmp_path)
    assert told.returncode == 0 and "1,440 are those of --key" in told.stdout, told.stdout + told.stderr


def test_wrong_things(spark: Any) -> None:
    module = rmlc.compile("node main(x: f64) -> (y: f64) y = x;")
    df = spark.createDataFrame([], "m string, t int, x double")
    with pytest.raises(TypeError, match="df: expected a DataFrame of Spark, got"):
        rmlc.spark.apply(df.schema, module.node(), key="m", order_by="t")
    with pytest.raises(TypeError, match=r"node: expected a rmlc.Node, got .*`module.node\(\)` compiles one"):
        rmlc.spark.apply(df, module, key="m", order_by="t")
    twice = df.select("m", "t", "x", "x")
    with pytest.raises(ValueError, match="x: the table has several columns"):
        rmlc.spark.apply(twice, module.node(), key="m", order_by="t")
