"""Rows of many keys by `start(key=…)`, compared with the command, which tests/keys compares with separate runs."""

import copy
import csv
import io
import pickle

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


@pytest.fixture
def rows_of_command(command, tmp_path):
    """Returns the rows that `rmlc run --key m` writes for a program and columns."""

    def run(text, rows, *options):
        (tmp_path / "main.rml").write_text(text)
        table = io.StringIO()
        writer = csv.writer(table)
        writer.writerow(rows)
        writer.writerows(zip(*([repr(float(v)) if isinstance(v, float) else str(v).lower() if isinstance(v, bool) else v
                                for v in column] for column in rows.values())))
        (tmp_path / "rows.csv").write_text(table.getvalue())
        done = command("run", "main.rml", "--key", "m", "--input", "rows.csv", *options, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return list(csv.DictReader(io.StringIO(done.stdout)))

    return run


def rows_of(program, count):
    """Returns columns of `count` random rows for one of the programs above."""
    draw = np.random.default_rng(2)
    rows = {"m": [f"pump-{k}" for k in draw.integers(0, 4, count)], "x": draw.normal(size=count).tolist()}
    if program is NEXT:
        rows = {"m": rows["m"], "last": [bool(k) for k in draw.random(count) < 0.3], "x": rows["x"]}
    if program is LINE:
        rows["wanted"] = draw.normal(size=count).tolist()
    return rows


def cut(rows, begin, end=None):
    return {name: column[begin:end] for name, column in rows.items()}


def test_rows_are_those_of_the_command(rows_of_command):
    draw = np.random.default_rng(0)
    keys = [f"pump-{k}" for k in draw.integers(0, 5, 60)]
    x = draw.normal(size=60)
    expected = rows_of_command(CHANGE, {"m": keys, "x": x.tolist()}, "--seed", "9")
    many = rmlc.compile(CHANGE).node().start(key="m", seed=9)
    parts = [many.run(m=keys[:25], x=x[:25]), many.run(m=np.array(keys[25:]), x=x[25:])]
    assert [k for rows in parts for k in rows.m] == [row["m"] for row in expected] == keys
    for name in ("change", "n", "noise"):
        assert [repr(float(v)) for rows in parts for v in rows[name]] == [repr(float(row[name])) for row in expected]
    assert len(many) == len(set(keys)) and many.keys == list(dict.fromkeys(keys))
    assert parts[1].cycles == range(25, 60) and list(parts[0])[0] == "m"


def test_rows_wait_for_their_own_key(rows_of_command):
    rows = {"m": [1, 2, 2, 1, 1, 3], "last": [False, False, True, False, True, False], "x": [10.0, 3.0, 5.0, 14.0, 20.0, 1.0]}
    expected = rows_of_command(NEXT, rows, "--quiet")
    many = rmlc.compile(NEXT).node().start(key="m")
    found = many.run(rows)
    with pytest.warns(rmlc.UndeterminedWarning, match="key '3': 1 row is undetermined"):
        rest = many.finish()
    assert found.m.tolist() + rest.m.tolist() == [int(row["m"]) for row in expected] == [2, 2, 1, 1, 1]
    assert found.m.dtype.kind == "i"
    assert found.rise.tolist() == [float(row["rise"]) for row in expected] == [2.0, 0.0, 4.0, 6.0, 0.0]
    assert found.up.values.tolist() == [5.0, 20.0] and found.up.at.tolist() == [1, 4]


def test_shared_parameters(rows_of_command):
    draw = np.random.default_rng(1)
    rows = {"m": [bool(k) for k in draw.integers(0, 2, 30)], "x": draw.normal(size=30).tolist(), "wanted": draw.normal(size=30).tolist()}
    for share in ([], ["*"]):
        expected = rows_of_command(LINE, rows, *(["--share", "*"] if share else []))
        found = rmlc.compile(LINE).node().start(key="m", share=share).run(rows)
        assert found.guess.tolist() == [float(row["guess"]) for row in expected]
        assert found.m.tolist() == rows["m"] and found.m.dtype == np.bool_


def test_what_is_refused():
    node = rmlc.compile(CHANGE).node()
    many = node.start(key="m")
    for keys, error, text in (([1.5], TypeError, "row 0 is 1.5, which is not a key"), (np.array([1.5]), TypeError, "float64 is not a type of keys"), ([None], TypeError, "row 0 is None"),
                              (["a", ""], ValueError, "row 1 is empty"), (["a\ud800"], ValueError, "m: .* cannot be written as UTF-8"),
                               ([["a"]], TypeError, "one key for each row"),
                              (np.array(["a", float("nan")], object), TypeError, "row 1 is nan"),
                              (["a", float("nan")], TypeError, "row 1 is nan, which is not a key"),
                              ([1.5, "a"], TypeError, "row 0 is 1.5"), (["a", 2], TypeError, "row 1 is 2, but .* texts"),
                              ([True, "a"], TypeError, "row 1 is 'a', but .* Booleans"),
                              ([True, 1], TypeError, "row 1 is 1, but .* Booleans"), ([b"a"], TypeError, "row 0 is b'a'"),
                              (np.ma.array(["a", "b"], mask=[False, True]), ValueError, "row 1 is masked")):
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


PROGRAMS = [(CHANGE, []), (NEXT, []), (LINE, []), (LINE, ["line.*"])]


@pytest.mark.parametrize("program, share", PROGRAMS)
def test_states_go_on_to_the_bit(program, share):
    node, rows = rmlc.compile(program).node(), rows_of(program, 90)
    whole = node.start(key="m", share=share, seed=3)
    expected = [whole.run(cut(rows, 0, 40)), whole.run(cut(rows, 40))]
    first = node.start(key="m", share=share, seed=3)
    first.run(cut(rows, 0, 40))
    states = first.save()
    for other in (node.start(key="m", share=share, load=states), node.start(key="m", share=share)):
        other.load(states)
        assert len(other) == len(first) and other.keys == first.keys and other.save() == states
        found = other.run(cut(rows, 40))
        assert found.cycles == expected[1].cycles and found.m.tolist() == expected[1].m.tolist()
        for name in (port.name for port in node.outputs if port.always):
            assert found[name].tobytes() == expected[1][name].tobytes()
        assert other.save() == whole.save()


@pytest.mark.parametrize("program, share", PROGRAMS)
@pytest.mark.parametrize("again", [lambda keyed: keyed.copy(), copy.deepcopy, lambda keyed: pickle.loads(pickle.dumps(keyed))])
def test_copies_go_on_to_the_bit(program, share, again):
    node, rows = rmlc.compile(program).node(), rows_of(program, 90)
    first = again(node.start(key="m", share=share, seed=3))
    assert len(first) == 0
    first.run(cut(rows, 0, 40))
    other = again(first)
    assert other.keys == first.keys and other.save() == first.save() and other.key == "m"
    expected, found = first.run(cut(rows, 40)), other.run(cut(rows, 40))
    assert found.m.tolist() == expected.m.tolist() and other.save() == first.save()
    for name in (port.name for port in node.outputs if port.always):
        assert found[name].tobytes() == expected[name].tobytes()


def test_copies_know_their_parameters_and_the_kind_of_their_keys(tmp_path):
    node = rmlc.compile(LINE).node()
    one = node.start()
    one.params["line.y"], one.params["line.y2"] = 2.0, 0.5
    one.save(tmp_path / "one.state")
    given = node.start(key="m", params=tmp_path / "one.state").copy()
    begun = given.run(m=[7], x=[1.0], wanted=[0.0]).guess[0]
    assert begun == one.step(1.0, 0.0) != node.start().step(1.0, 0.0)
    assert given.copy().keys == [7] and given.copy().run(m=[8], x=[1.0], wanted=[0.0]).guess[0] == begun
    with pytest.raises(TypeError, match="texts, but the keys so far are integers"):
        given.copy().run(m=["a"], x=[1.0], wanted=[0.0])


@pytest.mark.filterwarnings("ignore::rmlc.UndeterminedWarning")
@pytest.mark.parametrize("program, share", PROGRAMS)
def test_states_to_and_from_the_command(program, share, rows_of_command, tmp_path):
    node, rows, name = rmlc.compile(program).node(), rows_of(program, 60), next(
        port.name for port in rmlc.compile(program).node().outputs if port.always)
    words = [word for pattern in share for word in ("--share", pattern)]
    ours = node.start(key="m", share=share, seed=5)
    ours.run(cut(rows, 0, 30))
    kept = ours.save(tmp_path / "ours.state")
    assert kept == (tmp_path / "ours.state").read_bytes() and not list(tmp_path.glob("*.part"))
    told = rows_of_command(program, cut(rows, 30), "--load", "ours.state", "--save", "theirs.state", "--quiet", *words)
    found = [ours.run(cut(rows, 30)), ours.finish()]
    assert [k for part in found for k in part.m] == [row["m"] for row in told]
    assert [float(v) for part in found for v in part[name]] == [float(row[name]) for row in told]
    theirs = node.start(key="m", share=share, load=tmp_path / "theirs.state")
    assert theirs.keys == ours.keys
    more, again = cut(rows, 0, 20), node.start(key="m", share=share, load=ours.save())
    assert theirs.run(more)[name].tobytes() == again.run(more)[name].tobytes()


def test_keys_of_loaded_states():
    node = rmlc.compile(CHANGE).node()
    ints, texts = node.start(key="m"), node.start(key="m")
    ints.run(m=[7, -2, 7], x=[1.0, 2.0, 3.0])
    texts.run(m=["7", "007"], x=[1.0, 2.0])
    loaded = node.start(key="m", load=ints.save())
    assert loaded.keys == ["7", "-2"]
    assert loaded.run(m=[7, 5], x=[4.0, 1.0]).n.tolist() == [3, 1] and loaded.keys == [7, -2, 5]
    again = node.start(key="m", load=ints.save())
    assert again.run(m=["7"], x=[4.0]).n.tolist() == [3] and again.keys == ["7", "-2"]
    wrong = node.start(key="m", load=texts.save())
    for keys, what in (([7], "integers, but one of the loaded keys is '007'"), ([True], "Booleans, but .* is '7'")):
        with pytest.raises(TypeError, match=what):
            wrong.run(m=keys, x=[1.0])
    assert wrong.run(m=["007"], x=[1.0]).n.tolist() == [2]


def test_states_that_are_refused(tmp_path):
    node, other = rmlc.compile(CHANGE).node(), rmlc.compile(LINE).node()
    many = node.start(key="m")
    many.run(m=["a", "b"], x=[1.0, 2.0])
    states = many.save()
    strange = other.start(key="m")
    strange.run(m=["a"], x=[1.0], wanted=[0.0])
    single = node.start()
    single.run(x=[1.0])
    for wrong in (states[:-3], states[:500], b"", states[:900] + b"\x01" + states[901:], strange.save(), single.save()):
        with pytest.raises(rmlc.RunError, match="the states( \\(key 'a'\\))?: "):
            many.load(wrong)
        assert many.save() == states and many.keys == ["a", "b"]
    with pytest.raises(rmlc.RunError):
        single.load(states)
    with pytest.raises(FileNotFoundError):
        many.load(tmp_path / "none.state")
    with pytest.raises(TypeError, match="load: expected a path"):
        many.load(3)
    with pytest.raises(ValueError, match="load and params"):
        node.start(key="m", load=states, params="x.safetensors")
    reference = rmlc.compile(CHANGE).node(engine="reference").start(key="m")
    with pytest.raises(rmlc.RunError, match="reference"):
        reference.save()


@pytest.mark.parametrize("program", [CHANGE, NEXT, LINE])
def test_steps_are_cycles_of_a_run(program):
    node, rows = rmlc.compile(program).node(), rows_of(program, 50)
    whole, stepped = node.start(key="m"), node.start(key="m")
    expected = whole.run(rows)
    found = []
    for k in range(50):
        given = {name: column[k] for name, column in rows.items()}
        row = stepped.step(**given)
        found += [(given["m"], each) for each in (row if not node.immediate else [row])]
    assert [key for key, _ in found] == expected.m.tolist()
    first = node.outputs[0].name
    values = [row if len(node.outputs) == 1 else row[0] for _, row in found]
    assert values == expected[first].tolist()
    assert stepped.save() == whole.save()


def test_steps_of_vectors_are_copies():
    many = rmlc.compile("node main(x: f64[3], k: i32) -> (y: f64[3]) y = x + (zeros([3]) fby y) + (if k > 1 then 2.0 else 1.0);").node().start(key="m")
    first = many.step(np.ones(3), 2, m=4)
    second = many.step(k=1, x=[0, 0, 1], m=np.int64(4))
    assert first.tolist() == [3, 3, 3] and second.tolist() == [4, 4, 5] and many.keys == [4]
    assert many.step(np.ones(3), 0, m=5).tolist() == [2, 2, 2]


def test_steps_that_are_refused():
    many = rmlc.compile("node main(x: i32) -> (y: i32) y = 100 / x;").node().start(key="m")
    for given, error, text in (({"x": 1}, TypeError, "m: missing"), ({"m": 1.5, "x": 1}, TypeError, "m: float 1.5 is not a key"),
                               ({"m": "", "x": 1}, ValueError, "m: the key is empty"), ({"m": "a\ud800", "x": 1}, ValueError, "m: .* cannot be written as UTF-8"),
                                ({"m": None, "x": 1}, TypeError, "not a key"),
                               ({"m": "a"}, TypeError, "x: missing"), ({"m": "a", "x": 1, "z": 2}, TypeError, "no input 'z'"),
                               ({"m": "a", "x": "1"}, TypeError, "x: expected i32"), ({"m": ["a"], "x": 1}, TypeError, "not a key")):
        with pytest.raises(error, match=text):
            many.step(**given)
    assert many.step(5, m="a") == 20 and many.keys == ["a"]
    with pytest.raises(TypeError, match="integers, but the keys so far are texts"):
        many.step(5, m=1)
    kept = many.save()
    for call in (lambda: many.step(0, m="b"), lambda: many.step(1, m="a"), lambda: many.run(m=["a"], x=[1]), many.save,
                 many.finish):
        with pytest.raises(rmlc.RunError, match=r"division by zero \(key 'b'\)"):
            call()
    many.load(kept)
    assert many.step(4, m="b") == 25


def test_tables_have_the_column_of_the_keys() -> None:
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    node = rmlc.compile("node main(x: f64) -> (y: f64) y = x + (0.0 fby y);").node()
    for keys in (["a", "b", "a"], [3, 4, 3], [True, False, True]):
        rows = {"unused": [7, 8, 9], "m": keys, "x": [1.0, 2.0, 4.0]}
        frame = pandas.DataFrame(rows)
        tables = [frame, arrow.table(rows), arrow.table(rows).to_batches()[0], frame.to_records(index=False)]
        if keys[0] == "a":
            tables += [frame.astype({"m": "category"}), frame.astype({"m": "string"}),
                       arrow.table({**rows, "m": arrow.array(keys).dictionary_encode()})]
        if keys[0] == 3:
            tables.append(frame.astype({"m": "Int64"}))
        for table in tables:
            found = node.start(key="m").run(table)
            assert list(found.m) == keys and found.y.tolist() == [1.0, 2.0, 5.0]
        assert node.start(key="m").run(frame, m=["q", "q", "q"]).y.tolist() == [1.0, 3.0, 7.0]
    for table, error, text in ((pandas.DataFrame({"x": [1.0]}), TypeError, "no column 'm'"),
                               (pandas.DataFrame({"m": ["a", None], "x": [1.0, 2.0]}), ValueError, "m: row 1: no value"),
                               (arrow.table({"m": [None, "a"], "x": [1.0, 2.0]}), ValueError, "m: row 0: no value"),
                               (arrow.table({"m": [1.5], "x": [1.0]}), TypeError, "row 0 is 1.5"),
                               (pandas.DataFrame({"m": [1.5], "x": [1.0]}), TypeError, "float64 is not a type of keys")):
        with pytest.raises(error, match=text):
            node.start(key="m").run(table)
