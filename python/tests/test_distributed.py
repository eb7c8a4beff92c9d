"""The work of a cluster's workers on rows of keys, without a cluster, compared with the command."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import pathlib
import pickle
import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from conftest import Command

import rmlc
from rmlc import _safetensors
from rmlc._keyed import key_seed, key_text

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
from rmlc._distributed import Job  # noqa: E402
from rmlc._portable import portable  # noqa: E402

# The program has memories, random numbers, rows that wait for later ones, streams that may be absent, and tensors.
PROGRAM = """node main(last: bool, x: f64, k: i64 when last, a: f32[2, 2] when last) ->
    (rise: f64, seen: i64, up: i64 when last, mean: f64, turned: f32[2, 2] when last)
  rise = if last then 0.0 else (post x) - x + normal([1], 0.0, 1.0)[0];
  seen = (0 fby seen) + (if last then 1 else 0);
  up = k + 1 when last;
  sum = fby_end(last, 0.0, sum) + x;
  mean = backfill(sum, last);
  turned = transpose(a);
"""
ARROW = {"last": pa.bool_(), "x": pa.float64(), "k": pa.int64(), "a": pa.list_(pa.list_(pa.float32()))}
Row = dict[str, Any]


def random_rows(draw: random.Random, keys: list[Any], count: int) -> list[Row]:
    rows = []
    for n in range(count):
        last = draw.random() < 0.4
        rows.append({"m": draw.choice(keys), "n": n, "last": last, "x": draw.gauss(0, 1),
                     "k": draw.randrange(2**60, 2**61) if last else None,
                     "a": [[float(np.float32(draw.gauss(0, 1))) for _ in "ab"] for _ in "ab"] if last else None})
    return rows


def job_of(node: rmlc.Node, key_type: Any, **options: Any) -> Job:
    types = {"rise": pa.float64(), "seen": pa.int32(), "up": pa.int64(), "mean": pa.float64(), "y": pa.float64(),
             "turned": pa.list_(pa.list_(pa.float32())), "q": pa.int32()}
    schema = pa.schema([("m", key_type), ("n", pa.int64()), *((port.name, types[port.name]) for port in node.outputs)])
    given: dict[str, Any] = {
        "program": portable(node, []), "key": "m", "order": ("n",), "kept": ("n",),
        "inputs": tuple(port.name for port in node.inputs), "schema": schema, "seed": 5, "params": "", "map": (),
        "partial": False, "cast_params": False, "horizon": 0, "late": "error", **options}
    made: Job = pickle.loads(pickle.dumps(Job(**given)))
    return made


def batches(rows: list[Row], key_type: Any, sizes: random.Random, inputs: Any = ARROW) -> list[Any]:
    schema = pa.schema([("m", key_type), ("n", pa.int64()), *inputs.items()])
    table, found = pa.Table.from_pylist(rows, schema), []
    while table.num_rows:
        size = sizes.randint(1, 7)
        found += table.slice(0, size).combine_chunks().to_batches()
        table = table.slice(size)
    return found


def of_command(command: Command, folder: pathlib.Path, rows: list[Row], kind: str) -> list[Row]:
    """Returns the command's rows of all keys, each with the number of its input row. The rows of a key are in order."""
    (folder / "main.rml").write_text(PROGRAM)
    given = [{name: value for name, value in row.items() if name != "n"} for row in rows]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))
    done = command("run", folder / "main.rml", "--key", f"m:{kind}", "--seed", "5", "--input", folder / "rows.jsonl",
                   "--output", folder / "found.jsonl", "--quiet")
    assert done.returncode == 0, done.stderr
    numbers: dict[Any, list[int]] = {}
    for row in rows:
        numbers.setdefault(row["m"], []).append(row["n"])
    found = [json.loads(line) for line in (folder / "found.jsonl").read_text().splitlines()]
    for row in found:
        row["n"] = numbers[row["m"]].pop(0)
        if row["turned"] is not None:  # f32 values, written with few digits
            row["turned"] = np.array(row["turned"], np.float32).tolist()
    return sorted(found, key=lambda row: row["n"])


@pytest.mark.filterwarnings("ignore::rmlc.UndeterminedWarning")
@pytest.mark.parametrize(("kind", "key_type", "keys"), [
    ("text", pa.string(), ["pump", "fan", "ventilateur à air", "7", "true"]), ("i64", pa.int64(), [-3, 0, 2**62]),
    ("bool", pa.bool_(), [False, True])])
def test_rows_are_those_of_the_command(kind: str, key_type: Any, keys: list[Any], command: Command,
                                       tmp_path: pathlib.Path) -> None:
    draw = random.Random(kind)
    rows = random_rows(draw, keys, 80)
    expected = of_command(command, tmp_path, rows, kind)
    job = job_of(rmlc.compile(PROGRAM).node(), key_type)
    in_order = sorted(rows, key=lambda row: (row["m"], row["n"]))
    whole = [row for batch in job.run(batches(in_order, key_type, draw)) for row in batch.to_pylist()]
    assert sorted(whole, key=lambda row: row["n"]) == expected and len(expected) > 40

    states: dict[Any, tuple[bytes, bytes]] = {}
    found: list[Row] = []
    at = 0
    while at < len(rows):  # micro-batches, with their rows in random order
        some = rows[at : at + draw.randint(1, 15)]
        at += len(some)
        draw.shuffle(some)
        encoded = [row for batch in job.encode(batches(some, key_type, draw)) for row in batch.to_pylist()]
        for key in {row["key"] for row in encoded}:
            own = [row for row in encoded if row["key"] == key]
            carried, out, states[key] = job.advance(key, [row["carried"] for row in own], [row["row"] for row in own],
                                                    states.get(key))
            handed = pa.record_batch({"key": pa.array([key], key_type), "carried": [carried], "rows": [out]})
            found += [row for batch in job.decode([handed]) for row in batch.to_pylist()]
    # The rows that wait at the end wait for a `last`, so the end of the input does not make them known.
    assert sorted(found, key=lambda row: row["n"]) == expected
    assert all(rmlc.compile(PROGRAM).node().start(load=state).cycle > 0 for state, _ in states.values())


def test_the_seed_of_a_key_is_the_commands(command: Command, tmp_path: pathlib.Path) -> None:
    (tmp_path / "noise.rml").write_text("node main() -> (y: f64) y = normal([1], 0.0, 1.0)[0];")
    node = rmlc.load(tmp_path / "noise.rml").node()
    for key, seed in (("", 1), ("pump", 0), ("é", 2**64 - 1), (-12, 3), (True, 4)):
        if key == "":
            continue
        done = command("run", tmp_path / "noise.rml", "--cycles", "2", "--key-seed", key_text(key), "--seed", str(seed))
        expected = [float(line) for line in done.stdout.split()[1:]]
        assert node.start(seed=key_seed(key, seed)).run(cycles=2).y.tolist() == expected


def raised(job: Job, rows: list[Row], inputs: Any) -> str:
    with pytest.raises((ValueError, TypeError, rmlc.RunError)) as error:
        list(job.run(batches(rows, pa.string(), random.Random(1), inputs)))
    return str(error.value)


def test_messages_name_key_and_row() -> None:
    node = rmlc.compile("node main(a: u8, b: i32) -> (q: i32) q = cast(i32, a) / b;", name="divide.rml").node()
    job, types = job_of(node, pa.string()), {"a": pa.int32(), "b": pa.int32()}
    rows = [{"m": "fan", "n": n, "a": 1, "b": 1} for n in range(5)]

    def with_row(**changed: Any) -> list[Row]:
        return [*rows[:3], {**rows[3], **changed}, rows[4]]

    assert raised(job, with_row(a=300), types) == "a: u8 cannot represent 300 (m 'fan', n 3)"
    assert raised(job, with_row(b=None), types).startswith("b: no value, but this input is present in every cycle")
    assert raised(job, with_row(b=None), types).endswith("(m 'fan', n 3)")
    assert raised(job, with_row(b=0), types) == "divide.rml:1:42: cycle 3: division by zero (m 'fan', n 3)"
    assert raised(job, with_row(m=None), types) == "m: null is not a key (n 3); give every row a key"
    assert raised(job, with_row(m=""), types) == "m: an empty text is not a key (n 3); give every row a key"
    assert raised(job, with_row(n=None), types) == "n: None cannot order rows (m 'fan'); give every row a value"
    assert raised(job, with_row(n=2), types) == ("m 'fan': there are several rows at n 2, so their order is not "
                                                "defined; add a column to `order_by` in which they differ")


def test_clocks_that_are_put_back() -> None:
    job = job_of(rmlc.compile("node main(x: f64) -> (y: f64) y = (0.0 fby y) + x;").node(), pa.string())
    schema = job.schema.set(1, pa.field("n", pa.timestamp("us", "UTC")))
    job = dataclasses.replace(job, schema=schema)
    hours = [datetime.datetime(2024, 11, 3, hour, 30, tzinfo=datetime.timezone.utc) for hour in (4, 5, 6, 7)]
    zone = pa.timestamp("us", "America/New_York")  # where the second and the third time are both half past one
    batch = pa.record_batch({"m": ["fan"] * 4, "n": pa.array(hours, zone), "x": [1.0, 2.0, 4.0, 8.0]})
    (found,) = job.run([batch])
    assert found["n"].to_pylist() == hours and found["y"].to_pylist() == [1.0, 3.0, 7.0, 15.0]
    (encoded,) = job.encode([batch.take(pa.array([3, 2, 1, 0]))])
    carried, rows, _ = job.advance("fan", encoded["carried"].to_pylist(), encoded["row"].to_pylist(), None)
    handed = pa.record_batch({"key": ["fan"], "carried": [carried], "rows": [rows]})
    assert [value for batch in job.decode([handed]) for value in batch["y"].to_pylist()] == [1.0, 3.0, 7.0, 15.0]


def test_a_row_that_waits_is_named_by_its_own_place() -> None:
    node = rmlc.compile("node main(x: i32, y: i32) -> (q: i32) q = x / (post y);").node()
    rows = [{"m": "fan", "n": 10 * n, "x": 1, "y": y} for n, y in enumerate([1, 1, 0])]
    assert "(m 'fan', n 10)" in raised(job_of(node, pa.string()), rows, {"x": pa.int32(), "y": pa.int32()})


@pytest.mark.parametrize(("late", "sums"), [
    ("error", None), ("drop", [1.0, 3.0, 7.0, 15.0]), ("accept", [1.0, 3.0, 103.0, 107.0])])
def test_rows_that_are_late(late: str, sums: list[float] | None) -> None:
    node = rmlc.compile("node main(x: f64) -> (y: f64) y = (0.0 fby y) + x;").node()
    job, state, found = job_of(node, pa.string(), late=late), None, []
    dropped = [[(4, 0.0)], [(4, 4.0), (5, 8.0), (5, 8.0)]] if late == "drop" else []
    for some in ([(2, 2.0), (1, 1.0)], [(2, 100.0), (4, 4.0)], *dropped):
        table = batches([{"m": "fan", "n": n, "x": x} for n, x in some], pa.string(), random.Random(0),
                        {"x": pa.float64()})
        encoded = [row for batch in job.encode(table) for row in batch.to_pylist()]
        words = [row["carried"] for row in encoded], [row["row"] for row in encoded]
        if sums is None and state is not None:
            with pytest.raises(ValueError, match="fan': the row at n 2 came after the row at n 2 had been computed; "):
                job.advance("fan", *words, state)
            return
        carried, rows, state = job.advance("fan", *words, state)
        handed = pa.record_batch({"key": ["fan"], "carried": [carried], "rows": [rows]})
        found += [row["y"] for batch in job.decode([handed]) for row in batch.to_pylist()]
    assert found == sums


def test_a_process_compiles_a_node_once() -> None:
    first = job_of(rmlc.compile("node main(x: f64) -> (y: f64) y = x + 41.0;").node(), pa.string())
    second = job_of(rmlc.compile("node main(x: f64) -> (y: f64) y = x + 41.0;").node(), pa.string())
    assert first.node is not second.node and first.node._core is second.node._core


def test_without_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql.types", None)
    node = rmlc.compile("node main(x: f64) -> (y: f64) y = x;").node()
    with pytest.raises(ImportError, match="needs the package pyspark: pip install pyspark"):
        rmlc.spark.apply(None, node, key="m", order_by="t")


def test_a_state_of_another_program_is_refused() -> None:
    job = job_of(rmlc.compile("node main(x: f64) -> (y: f64) y = (0.0 fby y) + x;").node(), pa.string())
    other = rmlc.compile("node main(x: f64) -> (y: f64) y = x + (0.0 fby (0.0 fby x));").node().start().save()
    with pytest.raises(rmlc.RunError, match=r"m 'fan': the state: saved by a program whose state differs"):
        job.advance("fan", [], [], (other, pickle.dumps((None, []))))


ELSEWHERE = """
import pickle, sys
import pyarrow as pa
job = pickle.loads(open(sys.argv[1], "rb").read())
found = job.run([pa.record_batch({"m": ["a"], "n": [0], "x": [2.0]})])
print(*(row["y"] for batch in found for row in batch.to_pylist()))
"""


@pytest.mark.parametrize("from_text", [False, True])
def test_files_travel_with_the_program(tmp_path: pathlib.Path, from_text: bool) -> None:
    here = tmp_path / "here"
    (here / "lib").mkdir(parents=True)
    (here / "lib/mine.rml").write_text("node scale(x: f64) -> (y: f64)\n  w = param(1.0);\n  y = w * x;\n")
    text = "import mine;\nnode main(x: f64) -> (y: f64)\n  y = mine.scale(x);\n"
    (here / "main.rml").write_text(text)
    module = (rmlc.compile(text, import_folders=[here / "lib"]) if from_text else
              rmlc.load(here / "main.rml", import_folders=[here / "lib"]))
    node = module.node()
    (path,) = node.params
    (here / "params.safetensors").write_bytes(_safetensors.write({path: np.asarray(10.0)}))
    params = str(here / "params.safetensors")
    job = job_of(node, pa.string(), program=portable(node, [params]), params=params)
    (tmp_path / "job").write_bytes(pickle.dumps(job))
    (tmp_path / "temporary").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary"), "PYTHONPATH": os.pathsep.join(sys.path)}

    def elsewhere() -> str:
        done = subprocess.run([sys.executable, "-c", ELSEWHERE, tmp_path / "job"], capture_output=True, text=True,
                              check=False, env=environment, cwd=tmp_path)
        return done.stdout.strip() or done.stderr

    assert elsewhere() == "20.0"
    assert not list((tmp_path / "temporary").iterdir())  # the files exist at their own paths, so no copy is needed
    here.rename(tmp_path / "gone")
    assert elsewhere() == elsewhere() == "20.0"
    (root,) = (tmp_path / "temporary").iterdir()
    (root / str(here)[1:] / "lib/mine.rml").write_text("node scale(x: f64) -> (y: f64) y = 7.0;")
    assert f"{root}: the folder has other contents than rmlc wrote there; remove it" in elsewhere()
