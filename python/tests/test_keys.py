"""`start(key=…)`: rows of many keys, against the command, which is held to separate runs by tests/keys."""

import csv
import io
import os
import subprocess

import numpy as np
import pytest

import rmlc

CHANGE = "node main(x: f64) -> (change: f64, n: i32, noise: f64) change = x - (x fby x); n = 1 fby n + 1; noise = sum(normal([1], 0.0, 1.0));"
NEXT = "node main(last: bool, x: f64) -> (rise: f64, up: f64 when last) rise = if last then 0.0 else (post x) - x; up = x when last;"
LINE = """import optim;
node line(x) -> (y)
  y = param(0.25) * x + param(0.5);
node main(x: f64, wanted: f64) -> (guess: f64)
  guess, _ = diff[optim.sgd(0.1)] line(x, true, guess - wanted);
"""


def command(tmp_path, text, rows, *options):
    (tmp_path / "main.rml").write_text(text)
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(rows)
    writer.writerows(zip(*([repr(float(v)) if isinstance(v, float) else str(v).lower() if isinstance(v, bool) else v for v in column]
                           for column in rows.values())))
    done = subprocess.run([os.environ["RMLC"], "run", tmp_path / "main.rml", "--key", "m", *options], input=table.getvalue(),
                          capture_output=True, text=True, check=True)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_rows_are_those_of_the_command(tmp_path):
    draw = np.random.default_rng(0)
    keys = [f"pump-{k}" for k in draw.integers(0, 5, 60)]
    x = draw.normal(size=60)
    expected = command(tmp_path, CHANGE, {"m": keys, "x": x.tolist()}, "--seed", "9")
    many = rmlc.compile(CHANGE).node().start(key="m", seed=9)
    parts = [many.run(m=keys[:25], x=x[:25]), many.run(m=np.array(keys[25:]), x=x[25:])]
    assert [k for rows in parts for k in rows.m] == [row["m"] for row in expected] == keys
    for name in ("change", "n", "noise"):
        assert [repr(float(v)) for rows in parts for v in rows[name]] == [repr(float(row[name])) for row in expected]
    assert len(many) == len(set(keys)) and many.keys == list(dict.fromkeys(keys))
    assert parts[1].cycles == range(25, 60) and list(parts[0])[0] == "m"


def test_rows_wait_for_their_own_key(tmp_path):
    rows = {"m": [1, 2, 2, 1, 1, 3], "last": [False, False, True, False, True, False], "x": [10.0, 3.0, 5.0, 14.0, 20.0, 1.0]}
    expected = command(tmp_path, NEXT, rows, "--quiet")
    many = rmlc.compile(NEXT).node().start(key="m")
    found = many.run(rows)
    with pytest.warns(rmlc.UndeterminedWarning, match="key '3': 1 row is undetermined"):
        rest = many.finish()
    assert found.m.tolist() + rest.m.tolist() == [int(row["m"]) for row in expected] == [2, 2, 1, 1, 1]
    assert found.m.dtype.kind == "i"
    assert found.rise.tolist() == [float(row["rise"]) for row in expected] == [2.0, 0.0, 4.0, 6.0, 0.0]
    assert found.up.values.tolist() == [5.0, 20.0] and found.up.at.tolist() == [1, 4]


def test_shared_parameters(tmp_path):
    draw = np.random.default_rng(1)
    rows = {"m": [bool(k) for k in draw.integers(0, 2, 30)], "x": draw.normal(size=30).tolist(), "wanted": draw.normal(size=30).tolist()}
    for share in ([], ["*"]):
        expected = command(tmp_path, LINE, rows, *(["--share", "*"] if share else []))
        found = rmlc.compile(LINE).node().start(key="m", share=share).run(rows)
        assert found.guess.tolist() == [float(row["guess"]) for row in expected]
        assert found.m.tolist() == rows["m"] and found.m.dtype == np.bool_


def test_what_is_refused():
    node = rmlc.compile(CHANGE).node()
    many = node.start(key="m")
    for keys, error, text in (([1.5], TypeError, "float64 is no type of keys"), ([None], TypeError, "row 0 is None"),
                              (["a", ""], ValueError, "row 1 is empty"), ([["a"]], TypeError, "one key for each row"),
                              (np.array(["a", float("nan")], object), TypeError, "row 1 is nan")):
        with pytest.raises(error, match=text):
            many.run(m=keys, x=np.zeros(len(keys)))
    with pytest.raises(TypeError, match="m: missing"):
        many.run(x=[1.0])
    many.run(m=["a"], x=[1.0])
    with pytest.raises(TypeError, match="integers, but the keys so far are texts"):
        many.run(m=[1], x=[1.0])
    with pytest.raises((TypeError, ValueError)):
        many.run(m=["a", "b"], x=[1.0])
    for arguments, error, text in (({"key": "x"}, ValueError, "has an input 'x'"), ({"key": "n"}, ValueError, "has an output 'n'"),
                                   ({"key": 3}, TypeError, "key: the name"), ({"share": ["*"]}, TypeError, "give `key=`"),
                                   ({"key": "m", "share": ["q"]}, Exception, "no parameter matches")):
        with pytest.raises(error, match=text):
            node.start(**arguments)
    faulty = rmlc.compile("node main(x: i32) -> (y: i32) y = 100 / x;").node().start(key="m")
    with pytest.raises(rmlc.RunError, match=r"division by zero \(key 'b'\)") as stopped:
        faulty.run(m=["a", "b", "a"], x=np.array([5, 0, 1], np.int32))
    assert stopped.value.rows.y.tolist() == [20] and stopped.value.rows.m.tolist() == ["a"]
