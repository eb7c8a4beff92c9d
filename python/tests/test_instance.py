"""Nodes and instances: values of every type, lifetimes of objects, long cycles."""

from __future__ import annotations

import copy
import os
import pathlib
import pickle
import subprocess
import sys
import textwrap
import warnings
from typing import Any

import numpy as np
import pytest

import rmlc

INTEGERS: dict[str, Any] = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32,
                            "u32": np.uint32, "i64": np.int64, "u64": np.uint64}
SUM = "node main(x: f64) -> (y: f64)\n  y = (0.0 fby y) + x;\n"
SAMPLED = """
node main(c: bool, x: i32 when c, v: f64[2]) -> (total: i32 when c, w: f64[2], odd: bool)
  total = (0 fby total) + x;
  w = v + (zeros([2]) fby w);
  odd = not (false fby odd);
"""


def identity(dtype: str, shape: str = "") -> rmlc.Instance:
    return rmlc.compile(f"node main(x: {dtype}{shape}) -> (y: {dtype}{shape})\n  y = x;\n").node().start()


# ---- types -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", INTEGERS)
def test_extremes_of_integers(dtype: str) -> None:
    info = np.iinfo(INTEGERS[dtype])
    numbers = [int(info.min), int(info.max), 0, 1, int(info.max) // 2 + 1]
    instance = identity(dtype)
    for number in numbers:
        for value in (number, INTEGERS[dtype](number), np.array(number, INTEGERS[dtype])):
            found = instance.step(value)
            assert type(found) is int and found == number
    for number in (info.min - 1, info.max + 1):
        with pytest.raises(ValueError, match="x: .*range"):
            instance.step(int(number))
    for values in (numbers, np.array(numbers, INTEGERS[dtype])):
        rows = instance.run(x=values).y
        assert rows.dtype == INTEGERS[dtype] and rows.tolist() == numbers
    tensors = identity(dtype, "[5]")
    assert tensors.step(np.array(numbers, INTEGERS[dtype])).tolist() == numbers
    assert tensors.step(numbers).tolist() == numbers
    assert tensors.run(x=[numbers, numbers]).y.tolist() == [numbers, numbers]


def test_booleans() -> None:
    instance = identity("bool")
    assert instance.step(True) is True and instance.step(np.False_) is False
    assert instance.run(x=[True, False]).y.tolist() == [True, False]
    assert identity("bool", "[2]").step(np.array([True, False])).tolist() == [True, False]


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_every_float(dtype: str) -> None:
    """Compares the bits of all values of the narrow types, and of special values of the wide types."""
    if dtype == "f16":
        values: Any = np.arange(2**16, dtype=np.uint16).view(np.float16)
    elif dtype == "bf16":
        values = (np.arange(2**16, dtype=np.uint32) << 16).view(np.float32)
    else:
        wide = np.float32 if dtype == "f32" else np.float64
        info = np.finfo(wide)
        values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, info.max, info.min, info.tiny, info.smallest_subnormal,
                           1 / 3], wide)
    nan = np.isnan(values)
    rows = identity(dtype).run(x=values).y
    assert rows.dtype == values.dtype
    assert rows[~nan].tobytes() == values[~nan].tobytes() and np.isnan(rows[nan]).all()
    instance = identity(dtype)
    some = values if len(values) < 100 else values[::97]
    for value in some:
        found = instance.step(float(value))
        assert type(found) is float
        assert np.array(found).tobytes() == np.array(float(value)).tobytes() or np.isnan(value)
    tensors = identity(dtype, f"[{len(values)}]")
    found = tensors.step(values)
    if dtype == "bf16" and found.dtype == np.uint16:
        found = (found.astype(np.uint32) << 16).view(np.float32)
    assert np.array_equal(found, values, equal_nan=True) and found[0].tobytes() == values[0].tobytes()
    assert np.array_equal(tensors.run(x=values[None]).y[0], values, equal_nan=True)


def test_rounding_of_python_floats() -> None:
    """Rounds to the nearest, ties to even, in one step and not by way of float32."""
    random = np.random.default_rng(5)
    numbers = [*random.normal(size=200), 1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40, 65519.99, 2.0**-25, 2.0**-25 * 1.01]
    instance = identity("f16")
    for number in numbers:
        assert instance.step(float(number)) == float(np.float16(number))
    instance = identity("f32")
    for number in numbers:
        assert instance.step(float(number)) == float(np.float32(number))


@pytest.mark.parametrize("dtype", ["f32", "i8", "bool", "bf16", "u64"])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
def test_tensors_without_elements(dtype: str, shape: tuple[int, ...]) -> None:
    instance = identity(dtype, str(list(shape)))
    port = instance.node.inputs[0]
    assert port.shape == shape
    assert np.asarray(instance.step(np.zeros(shape, port.numpy_dtype))).shape == shape
    assert instance.run(x=np.zeros((4, *shape), port.numpy_dtype)).y.shape == (4, *shape)
    assert instance.run(x=np.zeros((0, *shape), port.numpy_dtype)).y.shape == (0, *shape)
    assert instance.cycle == 5
    assert instance.copy().cycle == 5


# ---- inputs and outputs ------------------------------------------------------------------------


def test_ports_and_texts() -> None:
    node = rmlc.compile(SAMPLED).node()
    assert str(node).startswith("main(c: bool, x: i32 when c, v: f64[2]) -> (total: i32 when c, w: f64[2], odd: bool)")
    assert [(port.name, port.dtype, port.shape, port.always) for port in node.inputs] == [
        ("c", "bool", (), True), ("x", "i32", (), False), ("v", "f64", (2,), True)]
    assert node.latency == 0 and node.assumptions == [] and node.params == {}
    assert "main" in repr(node) and "cycle 0" in repr(node.start())
    assert [port.numpy_dtype for port in node.outputs] == [np.int32, np.float64, np.bool_]


def test_a_step_has_names() -> None:
    instance = rmlc.compile(SAMPLED).node().start()
    row = instance.step(c=True, x=3, v=np.array([1.0, 2.0]))
    assert row._fields == ("total", "w", "odd")
    assert (row.total, row.w.tolist(), row.odd) == (3, [1.0, 2.0], True)
    row = instance.step(False, None, [1.0, 1.0])
    assert (row.total, row.w.tolist(), row.odd) == (None, [2.0, 3.0], False)
    row = instance.step(v=[0.0, 0.0], c=False)
    assert row.total is None
    assert instance.step(x=4, v=[0.0, 0.0], c=True).total == 7
    assert not row.w.flags.writeable


def test_names_may_come_in_any_order_and_in_dicts() -> None:
    """The names of a call are cached. Another call must not use the cached names."""
    text = "node main(a: i32, b: i32, c: i32) -> (y: i32)\n  y = 100 * a + 10 * b + c;\n"
    instance = rmlc.compile(text).node().start()
    for _ in range(3):
        assert instance.step(1, 2, 3) == 123
        assert instance.step(1, c=3, b=2) == 123
        assert instance.step(c=3, a=1, b=2) == 123
        assert instance.step(b=2, **{"".join(["a"]): 1, "".join(["c"]): 3}) == 123
        assert instance.step(*(1, 2), c=3) == 123
        with pytest.raises(TypeError, match="c: missing"):
            instance.step(1, 2)
        with pytest.raises(TypeError, match="a: given twice"):
            instance.step(1, 2, a=3)


def test_sampled_streams_come_in_every_form() -> None:
    node = rmlc.compile(SAMPLED).node()
    c = np.array([True, False, True, True, False])
    v = np.ones((5, 2))
    forms = [rmlc.Sampled([1, 2, 3], [0, 2, 3]), rmlc.Sampled(np.array([1, 2, 3], np.int32), np.array([0, 2, 3])),
             [1, None, 2, 3, None], np.ma.MaskedArray(np.array([1, 9, 2, 3, 9], np.int32), ~c)]
    for form in forms:
        rows = node.start().run(c=c, x=form, v=v)
        assert rows.total.values.tolist() == [1, 3, 6] and rows.total.at.tolist() == [0, 2, 3]
        assert rows.total.dense(fill=-1).tolist() == [1, -1, 3, 6, -1]
        assert rows.w.tolist() == [[k, k] for k in range(1, 6)]
        assert list(rows.total) == [(0, 1), (2, 3), (3, 6)]
    with pytest.raises(ValueError, match="fill"):
        rows.total.dense()
    for at in ([0, 0, 2], [2, 0, 3], [0, 2, 5], [-1, 2, 3]):
        with pytest.raises(ValueError, match="x: "):
            node.start().run(c=c, x=rmlc.Sampled([1, 2, 3], at), v=v)


def test_a_single_value_is_for_every_cycle() -> None:
    instance = rmlc.compile("node main(x: f64, k: i32) -> (y: f64)\n  y = x + cast(f64, k);\n").node().start()
    assert instance.run(x=np.arange(3.0), k=2).y.tolist() == [2.0, 3.0, 4.0]
    assert instance.run(x=1.5, k=2, cycles=2).y.tolist() == [3.5, 3.5]
    assert instance.cycle == 5
    with pytest.raises((TypeError, ValueError), match="cycles"):
        instance.run(x=1.5, k=2)


def test_rows_are_like_a_mapping() -> None:
    rows = rmlc.compile(SAMPLED).node().start().run(c=[True], x=[1], v=[[1.0, 2.0]])
    assert rows.keys() == ["total", "w", "odd"] == list(rows) and "w" in rows and "z" not in rows
    assert rows["w"] is rows.w and len(rows) == 1 and "w" in dir(rows)
    with pytest.raises(AttributeError, match="'z'.*total, w, odd"):
        _ = rows.z
    with pytest.raises(KeyError):
        rows["z"]
    again = pickle.loads(pickle.dumps(rows))
    assert again.w.tolist() == rows.w.tolist() and again.cycles == rows.cycles
    assert "Rows(1" in repr(rows)


def test_a_node_without_inputs() -> None:
    instance = rmlc.compile("node main() -> (n: u64)\n  n = 18446744073709551615 fby n - 1;\n").node().start()
    assert instance.step() == 2**64 - 1
    assert instance.run(cycles=2).n.tolist() == [2**64 - 2, 2**64 - 3]
    assert len(instance.run(cycles=0)) == 0
    with pytest.raises(TypeError, match="cycles"):
        instance.run()
    with pytest.raises(TypeError, match="no input 'x'"):
        instance.step(x=1)


def test_a_node_without_outputs() -> None:
    instance = rmlc.compile("node main(x: f64) -> ()\n  assert x > 0.0;\n").node().start()
    assert instance.step(1.0) == ()
    assert len(instance.run(x=[1.0, 2.0])) == 2
    with pytest.raises(rmlc.RunError, match="cycle 3"):
        instance.step(-1.0)


def test_64_inputs() -> None:
    names = [f"x{k}" for k in range(64)]
    text = f"node main({', '.join(f'{name}: f64' for name in names)}) -> (y: f64, z: f64)\n"
    text += "  y = " + " + ".join(f"{k + 1}.0 * {name}" for k, name in enumerate(names)) + ";\n  z = x63;\n"
    instance = rmlc.compile(text).node().start()
    values = np.random.default_rng(1).integers(-9, 9, (10, 64)).astype(float)
    expected = values @ np.arange(1.0, 65.0)
    rows = instance.run({name: np.ascontiguousarray(values[:, k]) for k, name in enumerate(names)})
    assert rows.y.tolist() == expected.tolist()
    assert instance.step(*values[3]).y == expected[3]
    assert instance.step(**dict(zip(reversed(names), values[4][::-1]))).y == expected[4]


def test_names_that_are_words_of_python() -> None:
    """`class` and `def` cannot be fields of a tuple, and can be named arguments only by a dict."""
    instance = rmlc.compile("node main(class: i32, def: i32) -> (lambda: i32, self: i32)\n"
                            "  lambda = class + def;\n  self = class;\n").node().start()
    row = instance.step(**{"class": 1, "def": 2})
    assert tuple(row) == (3, 1)
    rows = instance.run({"class": [1], "def": [2]})
    assert rows["lambda"].tolist() == [3]


@pytest.mark.parametrize("name", ["self", "inputs", "cycles", "copy", "progress", "monitor", "values", "keys", "named"])
def test_names_that_are_those_of_arguments(name: str) -> None:
    """A mapping is always possible. Named inputs can conflict with the arguments of `run`."""
    instance = rmlc.compile(f"node main({name}: i32, x: i32) -> (y: i32, {name}_: i32)\n  y = {name} + x;\n"
                            f"  {name}_ = {name};\n").node().start()
    assert instance.step(**{name: 2, "x": 3}).y == 5
    assert instance.run({name: [2, 4], "x": [3, 3]}).y.tolist() == [5, 7]


# ---- rows that come later ----------------------------------------------------------------------


def test_rows_that_wait() -> None:
    node = rmlc.compile("node main(x: f64) -> (y: f64)\n  y = x + post x;\n").node()
    assert node.latency is None
    instance = node.start()
    assert instance.step(1.0) == []
    assert instance.step(2.0) == [3.0]
    rows = instance.run(x=[3.0, 4.0])
    assert rows.y.tolist() == [5.0, 7.0] and rows.cycles == range(1, 3)
    assert (instance.cycle, instance.row) == (4, 3)
    x = np.random.default_rng(0).normal(size=1000)
    whole = node.start().run(x=x).y
    assert whole.tolist() == (x[:-1] + x[1:]).tolist()
    for block in (1, 7, 256, 5000):
        with pytest.warns(rmlc.UndeterminedWarning, match="cycle 999"):
            parts = list(node.start().stream(({"x": float(each)} for each in x), block=block))
        assert np.concatenate([part.y for part in parts]).tolist() == whole.tolist()
        assert [part.cycles.start for part in parts[1:]] == [part.cycles.stop for part in parts[:-1]]


def test_stream_of_blocks() -> None:
    node = rmlc.compile(SUM).node()
    blocks = [{"x": np.ones(3)}, {"x": np.ones(0)}, {"x": np.ones(5)}]
    assert np.concatenate([rows.y for rows in node.start().stream(blocks)]).tolist() == [*map(float, range(1, 9))]
    tuples = node.start().stream([(1.0,), (2.0,)])
    assert np.concatenate([rows.y for rows in tuples]).tolist() == [1.0, 3.0]
    assert list(node.start().stream([])) == []


# ---- beginning again ---------------------------------------------------------------------------


def test_copy_and_reset() -> None:
    node = rmlc.compile(SUM).node()
    instance = node.start()
    instance.run(x=[1.0, 2.0])
    others = [instance.copy(), copy.copy(instance), copy.deepcopy(instance), pickle.loads(pickle.dumps(instance))]
    assert instance.step(10.0) == 13.0
    for other in others:
        assert other.cycle == 2 and other.step(4.0) == 7.0
    assert instance.step(0.0) == 13.0
    instance.reset()
    assert instance.cycle == 0 and instance.step(1.0) == 1.0


def test_pickles_in_another_process(tmp_path: pathlib.Path) -> None:
    (tmp_path / "twice.rml").write_text("node of(x: f64) -> (y: f64)\n  y = 2.0 * x;\n", encoding="utf-8")
    source = tmp_path / "main.rml"
    source.write_text("import twice;\nconst gain = 1.0;\nnode main(x: f64) -> (y: f64)\n"
                      "  y = (0.0 fby y) + gain * twice.of(x);\n", encoding="utf-8")
    node = rmlc.load(source).node(defines={"gain": 3.0})
    instance = node.start()
    instance.run(x=[1.0, 2.0])
    (tmp_path / "pickle").write_bytes(pickle.dumps((node, instance)))
    assert instance.step(0.5) == 21.0
    text = f"""
        import pickle
        node, instance = pickle.load(open({str(tmp_path / "pickle")!r}, "rb"))
        print(instance.cycle, instance.step(0.5), node.start().step(1.0), instance.node.name)
    """
    said = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, check=False)
    assert said.stdout.split() == ["2", "21.0", "6.0", "main"], said.stderr


# ---- lifetimes ---------------------------------------------------------------------------------

OUTLIVING = """
import gc
import warnings
import numpy as np
import rmlc

warnings.simplefilter("error")
TEXT = '''
node line(x: f64[64]) -> (y: f64[64])
  w = param(ones([64]));
  y = w * x;
node main(x: f64[64], dy: f64[64]) -> (y: f64[64], n: f64)
  y, _ = diff line(x, true, dy);
  n = (0.0 fby n) + sum(y);
'''
kept = []
for round in range(30):
    node = rmlc.compile(TEXT).node(optimization=round % 3)
    instance = node.start()
    x = np.full((5, 64), 1.0)
    rows = instance.run(x=x, dy=x)
    row = instance.step(x[0], x[0])
    state = instance.state
    views = [instance.params["line.w"], *state.values()]
    kept.append((rows.y, row.y, views, state, instance.params))
    if round % 4 == 0:
        instance.reset()
    elif round % 4 == 1:
        instance.load(node.start().save())
    elif round % 4 == 2:
        instance = None
        gc.collect()
    for view in views:
        if view.flags.writeable:
            view[...] = round
        float(view.sum())
    del node, instance, rows, row
    rmlc._node._cache.clear()
    gc.collect()
filler = [bytearray(1 << 12) for _ in range(2000)]
for rows, last, views, state, params in kept:
    assert rows.shape == (5, 64) and np.isfinite(rows).all() and np.isfinite(last).all()
    assert [float(view.sum()) is not None for view in views]
    dict(params), list(state.items())
del kept, rows, last, views, state, params
gc.collect()
print("fine")
"""


@pytest.mark.parametrize("options", [["-X", "dev"], []], ids=["dev", "plain"])
def test_views_outlive_what_they_are_of(options: list[str]) -> None:
    """Runs with checks of memory, which overwrite freed memory."""
    environment = {**os.environ, "PYTHONMALLOC": "debug", "MALLOC_PERTURB_": "165", "MALLOC_CHECK_": "3"}
    said = subprocess.run([sys.executable, *options, "-X", "faulthandler", "-c", OUTLIVING], capture_output=True,
                          text=True, check=False, env=environment)
    assert said.stdout == "fine\n" and said.returncode == 0, said.stderr[-3000:]
    assert said.stderr == ""


def test_rows_are_not_written_over() -> None:
    """Arrays of a run belong to the caller. Arrays of a step change with the next step."""
    instance = identity("f64", "[3]")
    first = instance.run(x=np.ones((2, 3))).y
    instance.run(x=np.full((2, 3), 7.0))
    assert (first == 1.0).all() and first.flags.writeable and first.flags.c_contiguous
    row = instance.step(np.ones(3))
    again = instance.step(np.full(3, 2.0))
    assert row is again or row.tolist() == again.tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(ValueError):
        again[0] = 5.0
    kept = np.array(again)
    del instance
    assert kept.tolist() == again.tolist()


def test_an_instance_is_made_by_a_node() -> None:
    node = rmlc.compile(SUM).node()
    bare = rmlc.Instance.__new__(rmlc.Instance)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in (lambda: bare.step(1.0), lambda: bare.run(x=[1.0]), lambda: bare.cycle, bare.save, bare.reset):
            with pytest.raises((TypeError, AttributeError)):
                call()
        instance = node.start()
        instance.step(1.0)
        with pytest.raises((TypeError, RuntimeError)):
            instance.__init__(node)  # type: ignore[misc]
    assert instance.step(1.0) == 2.0


def test_the_first_array_may_lie_anywhere() -> None:
    text = """
import rmlc
s = rmlc.compile("node main(x: f64[2]) -> (y: f64[2]) y = x;").node().start()
import numpy as np
x = np.frombuffer(memoryview(bytearray(17))[1:], np.float64)
assert x.flags.aligned or s.step(x).tolist() == [0, 0]
x = np.frombuffer(memoryview(bytearray(18))[2:], np.float64)
assert s.step(x).tolist() == [0, 0]
"""
    subprocess.run([sys.executable, "-c", text], check=True)


# For long cycles, `run` calls the same function as `step`.
LONG = """
node main(c: bool, x: f32[80] when c, k: i32) -> (y: f32[80], z: i32 when c, s: f32)
  w = param(glorot_uniform([80, 80]));
  held = merge c x (zeros([80]) fby held when not c);
  y = tanh(matmul(w, held) + 0.5 * (zeros([80]) fby y));
  s = sum(y) + 0.0 fby s;
  z = (100 / k) when c;
"""


def test_run_of_a_long_cycle_is_that_of_steps() -> None:
    node = rmlc.compile(LONG).node()
    random = np.random.default_rng(0)
    c, k = random.random(70) < 0.4, random.integers(1, 9, 70).astype(np.int32)
    x = rmlc.Sampled(random.normal(size=(int(c.sum()), 80)).astype(np.float32), np.flatnonzero(c))
    stepped, run = node.start(), node.start()
    rows = run.run(c=c, x=x, k=k)
    values = iter(x.values)
    for t in range(70):
        y, z, s = stepped.step(bool(c[t]), next(values) if c[t] else None, int(k[t]))
        assert y.tobytes() == rows.y[t].tobytes() and s == rows.s[t]
        assert z == (100 // k[t] if c[t] else None)
    assert rows.z.at.tolist() == np.flatnonzero(c).tolist()
    assert rows.z.values.tolist() == [100 // each for each in k[c]]
    assert run.save() == stepped.save()


@pytest.mark.parametrize("rows, columns", [(64, 64), (256, 64), (100, 40), (33, 70)])
def test_matrices_that_stand_still(rows: int, columns: int) -> None:
    """Constant matrices have copies in another element order: here two of the same shape, drawn in the first cycle."""
    size = f"[{rows}, {columns}]"
    s = rmlc.compile(f"""
node main(x: f32[{columns}]) -> (a: f32[{rows}], b: f32[{rows}])
  a = matmul(param(glorot_uniform({size})), x);
  b = matmul(param(normal({size}, 0.0, 1.0)), x);
""").node().start()
    x = np.random.default_rng(0).normal(size=(5, columns)).astype(np.float32)
    out = s.run(x=x)
    first, second = (np.array(value, np.float64) for value in s.params.values())
    assert abs(first).max() < 1 < abs(second).max()
    np.testing.assert_allclose(out.a, x @ first.T, rtol=0, atol=1e-5)
    np.testing.assert_allclose(out.b, x @ second.T, rtol=0, atol=1e-4)


def test_run_of_a_long_cycle_ends_where_one_fails() -> None:
    node = rmlc.compile(LONG).node()
    c, k = np.ones(70, bool), np.ones(70, np.int32)
    k[66] = 0
    s = node.start()
    with pytest.raises(rmlc.RunError, match="division by zero") as error:
        s.run(c=c, x=np.ones((70, 80), np.float32), k=k)
    assert error.value.cycle == 66 and len(error.value.rows) == 66 and s.row == 66
    assert (error.value.rows.z.values == 100).all() and len(error.value.rows.z) == 66


def test_a_parameter_that_is_set_is_the_one_that_counts() -> None:
    """The code may store a copy of a constant matrix. Setting the parameter must change the copy too."""
    s = rmlc.compile("""import nn;
node main(x: f32[80]) -> (y: f32)
  w = param(glorot_uniform([80, 80]));
  y = sum(nn.affine(w, zeros([80]), x));
""").node().start()
    ones = np.ones((3, 80), np.float32)
    s.run(x=ones)
    s.params["w"] = np.full((80, 80), 0.5, np.float32)
    assert s.run(x=ones).y.tolist() == [3200.0] * 3
    view = s.params["w"]
    view[:] = 0.25
    assert s.step(x=ones[0]) == 1600.0
    view[:] = 1.0
    assert s.step(x=ones[0]) == 6400.0
    assert s.run(x=ones).y.tolist() == [6400.0] * 3


def test_a_tunable_constant_changes_while_the_program_runs() -> None:
    heater = rmlc.compile("""const gain: f64 = 2.0;
const steps = [1.0, 0.0];
node main(target: f64, measured: f64, on: bool) -> (power: f64 when on)
  power = gain * sum(steps * [target - measured, 1.0]) when on;
""").node(tunable=["gain", "steps"])
    s = heater.start(params={"gain": 1.0})
    assert s.step(20.0, 15.0, True) == 5.0
    s.params["gain"] = 3.0
    assert s.step(20.0, 15.0, True) == 15.0
    s.params["steps"] = [0.0, 7.0]
    copy = heater.start(load=s.save())
    assert s.step(20.0, 15.0, True) == copy.step(20.0, 15.0, True) == 21.0
    with pytest.raises(ValueError, match="steps"):
        s.params["steps"] = [1.0, 2.0, 3.0]
    s.reset()
    assert s.step(20.0, 15.0, True) == 10.0
    with pytest.raises(rmlc.CompileError, match="no constant 'gian' to tune"):
        rmlc.compile("const gain = 2.0;\nnode main(x: f64) -> (y: f64)\n  y = gain * x;\n").node(tunable=["gian"])
