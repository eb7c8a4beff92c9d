"""Parameters and states: read, set, saved, loaded, and exchanged between the package and the command."""

from __future__ import annotations

import json
import pathlib
import pickle
import random
import struct
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import Command

import rmlc

# w and b move by the gradient of the squared error. A further state counts the cycles.
LEARNER = """
node line(x: f64) -> (y: f64)
  w = param(0.5);
  b = param([0.25, -0.25]);
  y = w * x + sum(b);
node main(x: f64, t: f64) -> (y: f64, n: i64)
  y, _ = diff line(x, true, 0.1 * (t - y));
  n = (0 fby n) + 1;
"""


def data(cycles: int, seed: int = 0) -> dict[str, Any]:
    source = np.random.default_rng(seed)
    return {"x": source.normal(size=cycles), "t": source.normal(size=cycles)}


def learn(w: float, b: Any, x: Any, t: Any) -> tuple[float, Any, list[float]]:
    """Computes the same in NumPy. Returns the parameters after the cycles, and the outputs."""
    b, outputs = np.array(b), []
    for each, target in zip(x, t):
        y = w * each + b.sum()
        outputs.append(y)
        w, b = w + 0.1 * (target - y) * each, b + 0.1 * (target - y)
    return w, b, outputs


@pytest.fixture
def node() -> rmlc.Node:
    return rmlc.compile(LEARNER).node()


def parts(state: bytes) -> dict[str, Any]:
    """Returns the header of a safetensors file."""
    (size,) = struct.unpack_from("<Q", state)
    header: dict[str, Any] = json.loads(state[8 : 8 + size])
    return header


# ---- parameters --------------------------------------------------------------------------------


def test_parameters_are_what_has_been_learned(node: rmlc.Node) -> None:
    assert {path: str(port) for path, port in node.params.items()} == {"line.w": "line.w: f64",
                                                                       "line.b": "line.b: f64[2]"}
    instance = node.start()
    assert list(instance.params) == ["line.w", "line.b"] and len(instance.params) == 2
    assert instance.params["line.w"] == 0.5 and instance.params["line.b"].tolist() == [0.25, -0.25]
    assert instance.cycle == 0
    for count in (1, 7, 100):
        instance.reset()
        given = data(count)
        rows = instance.run(given)
        w, b, outputs = learn(0.5, [0.25, -0.25], **given)
        # The parameters contain the moves of the last cycle.
        np.testing.assert_allclose(instance.params["line.w"], w, rtol=1e-12)
        np.testing.assert_allclose(instance.params["line.b"], b, rtol=1e-12)
        np.testing.assert_allclose(rows.y, outputs, rtol=1e-12)


@pytest.mark.parametrize("before", [0, 1, 5])
def test_parameters_can_be_set(node: rmlc.Node, before: int) -> None:
    """A parameter can be set before the first cycle and later. The next cycle reads the new value."""
    instance = node.start()
    instance.run(data(before, 1))
    instance.params["line.w"] = 2.0
    instance.params["line.b"] = np.array([1.0, 2.0])
    assert instance.params["line.w"] == 2.0 and instance.params["line.b"].tolist() == [1.0, 2.0]
    copies = [instance.copy(), node.start(load=instance.save())]
    given = data(6, 2)
    _, _, outputs = learn(2.0, [1.0, 2.0], **given)
    for each in (instance, *copies):
        rows = each.run(given)
        np.testing.assert_allclose(rows.y, outputs, rtol=1e-12)
        assert rows.n.tolist() == [*range(before + 1, before + 7)]
    instance.reset()
    assert instance.params["line.w"] == 0.5
    np.testing.assert_allclose(instance.run(given).y, learn(0.5, [0.25, -0.25], **given)[2], rtol=1e-12)


def test_a_copy_has_parameters_of_its_own(node: rmlc.Node) -> None:
    instance = node.start(params={"line.w": 3.0})
    other = instance.copy()
    assert other.params["line.w"] == 3.0
    other.params["line.w"] = 4.0
    assert instance.params["line.w"] == 3.0
    instance.run(data(3))
    other.run(data(3))
    assert instance.params["line.w"] != other.params["line.w"]


def test_start_with_parameters(node: rmlc.Node, tmp_path: pathlib.Path) -> None:
    given = data(4)
    expected = learn(2.0, [0.25, -0.25], **given)[2]
    np.testing.assert_allclose(node.start(params={"line.w": 2.0}).run(given).y, expected, rtol=1e-12)
    trained = node.start()
    trained.run(data(20, 3))
    trained.save(tmp_path / "trained.safetensors")
    w, b = float(trained.params["line.w"]), trained.params["line.b"].copy()
    again = node.start(params=tmp_path / "trained.safetensors")
    assert again.cycle == 0 and again.params["line.w"] == w
    rows = again.run(given)
    np.testing.assert_allclose(rows.y, learn(w, b, **given)[2], rtol=1e-12)
    assert rows.n.tolist() == [1, 2, 3, 4]
    built_in = rmlc.compile(LEARNER).node(params=tmp_path / "trained.safetensors").start()
    assert built_in.run(given).y.tobytes() == rows.y.tobytes()
    with pytest.raises(ValueError, match="load and params"):
        node.start(load=trained.save(), params={"line.w": 2.0})


@pytest.mark.parametrize(("path", "value", "error", "words"), [
    ("line.v", 1.0, KeyError, "line.v"),
    ("line.w", [1.0, 2.0], ValueError, "line.w: expected f64"),
    ("line.b", [1.0], ValueError, "line.b: expected f64[2]"),
    ("line.b", np.ones(2, "f"), TypeError, "line.b: expected f64[2]"),
    ("line.b", None, TypeError, "line.b: expected f64[2]"),
    ("line.b", "12", TypeError, "line.b: expected f64[2]"),
    ("line.b", np.ones((2, 2)), ValueError, "line.b: expected f64[2]"),
])
def test_parameters_that_cannot_be_set(node: rmlc.Node, path: str, value: Any, error: type[Exception],
                                       words: str) -> None:
    for cycles in (0, 2):
        instance = node.start()
        instance.run(data(cycles))
        before = {each: instance.params[each].copy() for each in instance.params}
        with pytest.raises(error) as told:
            instance.params[path] = value
        assert words in str(told.value)
        with pytest.raises(error):
            instance.params.update({"line.w": 7.0, path: value})
        for each in before:
            assert instance.params[each].tolist() == before[each].tolist()
        with pytest.raises(error):
            node.start(params={path: value})


def test_a_parameter_that_does_not_learn() -> None:
    node = rmlc.compile(LEARNER).node(freeze=["line.b"])
    instance = node.start()
    instance.run(data(10))
    assert instance.params["line.b"].tolist() == [0.25, -0.25]
    assert instance.params["line.w"] != 0.5
    fixed = rmlc.compile("node main(x: f32) -> (y: f32)\n  y = param(2.0) * x;\n").node()
    path = next(iter(fixed.params), None)
    assert fixed.start().step(3.0) == 6.0
    if path is not None:
        assert fixed.start(params={path: 5.0}).step(3.0) == 15.0


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_parameters_of_every_type(dtype: str) -> None:
    """Narrow types are stored as such, and computed in f32."""
    wide = dtype if dtype in ("f32", "f64") else "f32"
    text = (f"node main(x: {wide}[3]) -> (y: {wide}[3])\n  w: {dtype}[3] = param([0.5, 1.5, -2.0]);\n"
            f"  y = cast({wide}, w) * x;\n")
    node = rmlc.compile(text).node()
    (path,) = node.params
    instance = node.start()
    assert instance.params[path].tolist() == [0.5, 1.5, -2.0]
    assert instance.params[path].dtype == node.params[path].numpy_dtype
    instance.params[path] = np.array([1.0, 2.0, 4.0], node.params[path].numpy_dtype)
    assert instance.step(np.ones(3, node.inputs[0].numpy_dtype)).tolist() == [1.0, 2.0, 4.0]
    assert instance.params[path].tolist() == [1.0, 2.0, 4.0]


# ---- states ------------------------------------------------------------------------------------

MEMORIES = """
node main(x: f64[3], c: bool) -> (y: f64[3], n: i32, last: f64)
  y = 0.5 * (zeros([3]) fby y) + x;
  n = (0 fby n) + (if c then 1 else 0);
  last = merge c (x[0] when c) ((0.0 fby last) when not c);
"""


def test_state_is_seen_and_set() -> None:
    node = rmlc.compile(MEMORIES).node()
    instance = node.start()
    x = np.arange(3.0)
    for _ in range(3):
        row = instance.step(x, True)
    state = instance.state
    values = {path: np.array(value) for path, value in state.items()}
    assert any(value.shape == (3,) and value.tolist() == row.y.tolist() for value in values.values())
    assert any(value.shape == () and value == row.n for value in values.values())
    path = next(path for path, value in values.items() if value.shape == (3,))
    assert state[path].flags.writeable
    state[path] = [10.0, 20.0, 30.0]
    assert instance.step(x, True).y.tolist() == [5.0, 11.0, 17.0]
    assert instance.state[path].tolist() == [5.0, 11.0, 17.0]
    state[path][1] = 0.0
    assert instance.step(x, True).y.tolist() == [2.5, 1.0, 10.5]
    with pytest.raises(KeyError):
        state["nothing"]
    with pytest.raises(KeyError):
        state["nothing"] = 1.0
    assert len(state) == len(list(state)) and path in repr(state)


def test_state_of_parameters_is_theirs(node: rmlc.Node) -> None:
    instance = node.start()
    instance.step(1.0, 0.0)
    instance.state["line.w"] = 3.0
    assert instance.params["line.w"] == 3.0
    view = instance.state["line.b"]
    assert view.flags.writeable
    view[:] = [1.0, 1.0]
    assert instance.step(1.0, 5.0).y == 5.0


@pytest.mark.parametrize("text", [LEARNER, MEMORIES, """
node main(x: f64, c: bool) -> (y: f64, z: f64 when c)
  y = x + post x;
  z = (0.0 fby z) + (x when c);
""", """
node main(bp: bool, i: i32) -> (o: i32, n: i32)
  o = backfill(i, bp);
  n = (0 fby n) + 1;
""", """
node main(x: f64) -> (u: f64, y: f64)
  u = uniform([], 0.0, 1.0);
  y = x + (0.0 fby u);
"""], ids=["learner", "memories", "ahead", "backfill", "random"])
def test_to_and_from_the_command(text: str, command: Command, tmp_path: pathlib.Path) -> None:
    """Starts a run in the package and continues it by the command, and the reverse. Rows have the bits of one run."""
    file = tmp_path / "program.rml"
    file.write_text(text, encoding="utf-8")
    node = rmlc.load(file).node()
    source = np.random.default_rng(7)
    cycles = 12
    given: dict[str, Any] = {}
    for port in node.inputs:
        if port.dtype == "bool":
            given[port.name] = np.arange(cycles) % 4 == 3
        elif port.dtype == "i32":
            given[port.name] = source.integers(-9, 9, cycles).astype(np.int32)
        else:
            given[port.name] = source.normal(size=(cycles, *port.shape))
    np.savez(tmp_path / "all.npz", **given)
    for cut in (1, 5, 11, 12):
        np.savez(tmp_path / "head.npz", **{name: values[:cut] for name, values in given.items()})
        tail = {name: values[cut:] for name, values in given.items()}
        np.savez(tmp_path / "tail.npz", **tail)
        whole = run_all(node.start(seed=3), given)
        # A state that the package saved is loaded by the command.
        instance = node.start(seed=3)
        head = instance.run({name: values[:cut] for name, values in given.items()})
        assert instance.save(tmp_path / "ours.state") == (tmp_path / "ours.state").read_bytes() == instance.save()
        done = command("run", file, "--load", tmp_path / "ours.state", "--input", tmp_path / "tail.npz", "--output",
                       tmp_path / "rest.npz", "--overwrite", "--quiet")
        assert done.returncode == 0, done.stderr
        with np.load(tmp_path / "rest.npz") as rest:
            for port in node.outputs:
                column = head[port.name]
                first = column if port.always else column.values
                assert first.tobytes() + rest[port.name].tobytes() == whole[port.name], (port.name, cut)
        # A state that the command saved is loaded by the package. The command saves before the
        # end of the input makes further rows known.
        done = command("run", file, "--input", tmp_path / "all.npz", "--cycles", str(cut), "--save",
                       tmp_path / "theirs.state", "--output", tmp_path / "first.npz", "--seed", "3", "--quiet")
        assert done.returncode == 0, done.stderr
        taken = node.start(load=tmp_path / "theirs.state")
        assert taken.seed == 3
        with np.load(tmp_path / "first.npz") as first_rows:
            already = {port.name: first_rows[port.name].tobytes() for port in node.outputs}
        rows = run_all(taken, tail)
        for port in node.outputs:
            assert (already[port.name] + rows[port.name]).endswith(rows[port.name])
            assert already[port.name] + rows[port.name] == whole[port.name], (port.name, cut)


def run_all(instance: rmlc.Instance, given: dict[str, Any]) -> dict[str, bytes]:
    """Returns the bits of all rows, by output."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rmlc.UndeterminedWarning)
        found = [instance.run(given), instance.finish()]
    return {port.name: b"".join((rows[port.name] if port.always else rows[port.name].values).tobytes()
                                for rows in found) for port in instance.node.outputs}


def test_states_are_those_of_the_command(node: rmlc.Node, command: Command, tmp_path: pathlib.Path) -> None:
    """Compares tensor by tensor. Texts about the origin of a state may differ."""
    file = tmp_path / "program.rml"
    file.write_text(LEARNER, encoding="utf-8")
    given = data(9)
    np.savez(tmp_path / "in.npz", **given)
    done = command("run", file, "--input", tmp_path / "in.npz", "--output", tmp_path / "out.npz", "--save",
                   tmp_path / "theirs.state", "--quiet")
    assert done.returncode == 0, done.stderr
    instance = rmlc.load(file).node().start()
    instance.run(given)
    ours, theirs = instance.save(), (tmp_path / "theirs.state").read_bytes()
    for name, about in parts(ours).items():
        if name != "__metadata__" and not name.startswith(("input ", "cycles")):
            begin, end = about["data_offsets"]
            there = parts(theirs)[name]["data_offsets"]
            assert ours[-len(ours) :][8 + struct.unpack_from("<Q", ours)[0] :][begin:end] == theirs[
                8 + struct.unpack_from("<Q", theirs)[0] :][there[0] : there[1]], name


def test_states_of_another_program_are_refused(node: rmlc.Node, tmp_path: pathlib.Path) -> None:
    """If a state is refused for any reason, the instance stays as it was."""
    instance = rmlc.compile(MEMORIES).node().start()
    instance.step(np.ones(3), True)
    before = instance.save()
    other = node.start()
    other.run(data(3))
    state = other.save()
    for wrong in (state, b"", b"\0" * 8, state[:100], state[:-1], before[:-1], before + b"\0", b"{}" * 50):
        with pytest.raises(rmlc.RunError):
            instance.load(wrong)
        assert instance.save() == before and instance.cycle == 1
    (tmp_path / "other.state").write_bytes(state)
    with pytest.raises(rmlc.RunError, match=r"other\.state"):
        instance.load(tmp_path / "other.state")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        instance.load(tmp_path / "nowhere.state")
    with pytest.raises(TypeError, match="load"):
        instance.load(5)  # type: ignore[arg-type]
    assert instance.step(np.zeros(3), False).n == 1


def test_states_with_changed_bytes_crash_nothing() -> None:
    """The checksum detects most changes. The others give a valid state."""
    node = rmlc.compile(MEMORIES).node()
    instance = node.start()
    instance.step(np.ones(3), True)
    state = instance.save()
    source = random.Random(1)
    refused = 0
    for _ in range(400):
        changed = bytearray(state)
        for _ in range(source.choice([1, 1, 2, 8])):
            changed[source.randrange(len(changed))] = source.randrange(256)
        if source.random() < 0.2:
            del changed[source.randrange(len(changed)) :]
        try:
            instance.load(bytes(changed))
        except rmlc.RunError:
            refused += 1
        instance.step(np.ones(3), False)
        instance.save()
    assert refused > 300


def test_a_file_is_replaced_as_a_whole(node: rmlc.Node, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "day.state"
    instance = node.start()
    for _ in range(3):
        instance.step(1.0, 2.0)
        assert instance.save(file) == file.read_bytes()
    assert [each.name for each in tmp_path.iterdir()] == ["day.state"]
    with pytest.raises(OSError, match="nowhere"):
        instance.save(tmp_path / "nowhere" / "day.state")
    assert node.start(load=str(file)).step(0.0, 0.0).n == 4


def test_a_device_is_no_state(node: rmlc.Node) -> None:
    for read in (lambda: node.start(load="/dev/zero"), lambda: node.start().load("/dev/zero"),
                 lambda: node.start(key="k", load="/dev/zero")):
        with pytest.raises(OSError, match="a device, not a file"):
            read()


def test_loading_by_other_names(node: rmlc.Node) -> None:
    """A renamed state is found by its position or by `map`. Parameters of a file are found only by `map`."""
    renamed = rmlc.compile(LEARNER.replace("w", "slope")).node()
    instance = node.start()
    instance.run(data(5))
    for state in (renamed.start(load=instance.save()), renamed.start(load=instance.save(), map=["line.w=line.slope"])):
        assert state.params["line.slope"] == instance.params["line.w"]
        assert state.step(1.0, 2.0) == instance.copy().step(1.0, 2.0)
    with pytest.raises(rmlc.RunError):
        renamed.start(load=instance.save(), map=["nothing=slope"])


def test_parameters_of_a_file_by_other_names(node: rmlc.Node, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "trained.safetensors"
    instance = node.start()
    instance.run(data(5))
    instance.save(file)
    renamed = rmlc.compile(LEARNER.replace("w", "slope")).node()
    with pytest.raises(rmlc.RunError, match="slope"):
        renamed.start(params=file)
    assert renamed.start(params=file, map=["line.w=line.slope"]).params["line.slope"] == instance.params["line.w"]
    partly = renamed.start(params=file, partial=True)
    assert partly.params["line.slope"] == 0.5
    assert partly.params["line.b"].tolist() == instance.params["line.b"].tolist()
    assert any("slope" in each for each in partly.told)


def test_parameters_of_a_wider_type(node: rmlc.Node, tmp_path: pathlib.Path) -> None:
    """`cast_params` rounds the f64 of a file, wherever parameters are read; without it they are refused."""
    file = tmp_path / "wide.safetensors"
    instance = node.start()
    instance.run(data(5))
    instance.save(file)
    module = rmlc.compile(LEARNER.replace("f64", "f32").replace("0.5", "cast(f32, 0.5)"))
    narrow = module.node()
    wanted = np.float32(instance.params["line.w"])
    assert wanted != instance.params["line.w"]
    for read in (lambda: narrow.start(params=file), lambda: narrow.start(params=file, key="k"),
                 lambda: module.node(params=file)):
        with pytest.raises((rmlc.RunError, rmlc.CompileError), match="does not convert exactly: --cast-params rounds it"):
            read()
    started = narrow.start(params=file, cast_params=True)
    assert started.params["line.w"] == wanted and any("round" in each for each in started.told)
    compiled = module.node(params=file, cast_params=True)
    assert compiled.start().params["line.w"] == wanted
    assert pickle.loads(pickle.dumps(compiled)).start().params["line.w"] == wanted
    keyed = narrow.start(params=file, cast_params=True, key="k")
    row = {"x": np.ones(1, np.float32), "t": np.ones(1, np.float32)}
    assert keyed.run(k=["a"], **row).y == started.run(**row).y
    compiled.build(tmp_path / "narrow.c", emit="c")
    with pytest.raises(rmlc.CompileError, match="too large for that type"):
        instance.params["line.w"] = 1e300
        instance.save(file)
        module.node(params=file, cast_params=True)


def test_seeds() -> None:
    node = rmlc.compile("node main() -> (u: f64[4])\n  u = uniform([4], 0.0, 1.0);\n").node()

    def rows(seed: int) -> bytes:
        return bytes(node.start(seed=seed).run(cycles=5).u.tobytes())

    seeds = [0, 1, 2**32, 2**63, 2**64 - 1]
    assert len({rows(seed) for seed in seeds}) == len(seeds) and rows(7) == rows(7)
    instance = node.start(seed=2**64 - 1)
    assert instance.seed == 2**64 - 1
    instance.run(cycles=2)
    assert node.start(load=instance.save()).run(cycles=3).u.tobytes() == instance.run(cycles=3).u.tobytes()
    instance.reset()
    assert instance.run(cycles=5).u.tobytes() == rows(2**64 - 1)


def test_a_segment_that_is_longer_than_allowed() -> None:
    node = rmlc.compile("node main(bp: bool, i: i32) -> (o: i32)\n  o = backfill(i, bp);\n").node()
    instance = node.start(horizon=10)
    with pytest.raises(rmlc.RunError, match="10") as told:
        instance.run(bp=np.zeros(100, bool), i=np.zeros(100, np.int32))
    assert told.value.cycle is not None and told.value.cycle <= 11
    assert len(node.start().run(bp=np.arange(100) == 99, i=np.zeros(100, np.int32))) == 100


WAITING = """
node line(x: f64) -> (y: f64)
  w = param(1.0);
  y = w * x;
node main(last: bool, x: f64) -> (rise: f64)
  z, _ = diff line(x, last, 0.0);
  rise = if last then z else (post z) - z;
"""


def _by_name(s: rmlc.Instance) -> None:
    s.params["line.w"] = 7.0


def _by_view(s: rmlc.Instance) -> None:
    s.params["line.w"][...] = 7.0


def _and_again(s: rmlc.Instance) -> None:
    _by_name(s)
    s.load(s.save())
    s.run(last=[False], x=[1.0])
    s.params["line.w"] = 3.0


@pytest.mark.parametrize("change", [_by_name, _by_view, _and_again])
@pytest.mark.parametrize("before", [[], [True], [True, False], [True, False, False]])
def test_what_was_changed_while_rows_wait_is_saved(change: Callable[[rmlc.Instance], None], before: list[bool]) -> None:
    if change is _by_view and not before:
        pytest.skip("there is nothing to look at")
    s = rmlc.compile(WAITING).node().start()
    s.run(last=np.array(before, bool), x=np.arange(1.0, len(before) + 1))
    listed = list(s.state)
    change(s)
    if before and change is not _and_again:
        assert list(s.state) == listed
    others = [s.copy(), pickle.loads(pickle.dumps(s)), s.node.start(load=s.save())]
    last, x = [False, True, False, True], [3.0, 4.0, 5.0, 6.0]
    expected, w = s.run(last=last, x=x).rise, float(s.params["line.w"])
    assert w in (3.0, 7.0) and expected[-3:].tolist() == [4 * w, w, 6 * w]
    for other in others:
        assert other.run(last=last, x=x).rise.tolist() == expected.tolist() and float(other.params["line.w"]) == w
    # If no row waits, a program with another schedule can read the state.
    s.run(last=[True], x=[0.0])
    assert s.settled
    again = rmlc.compile(WAITING).node(chunk="segment").start(load=s.save())
    assert again.run(last=last, x=x).rise.tolist() == s.run(last=last, x=x).rise.tolist()
