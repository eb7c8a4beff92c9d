"""Errors of programs, at compile time and at run time: their messages, and the state of an instance after them."""

from __future__ import annotations

import json
import os
import pathlib
import pickle
import re
import signal
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest
from conftest import Command

import rmlc

WRONG = """\
node main(x: f32, n: i32) -> (y: f32)
  y = x + lenght(x);
  z = n + hight(n);
"""


# ---- programs that are refused -----------------------------------------------------------------


def test_compile_error_has_text_and_data() -> None:
    with pytest.raises(rmlc.CompileError) as told:
        rmlc.compile(WRONG, name="wrong.rml")
    error = told.value
    assert len(error.diagnostics) == 2
    assert "wrong.rml:2:11" in str(error) and "^" in str(error) and "error[" in str(error)
    assert "\x1b" not in str(error)
    assert {each.severity for each in error.diagnostics} == {"error"}
    for each in error.diagnostics:
        assert each.code in str(error) and each.message in str(error)
        assert each.place is not None and each.place.file == "wrong.rml"
        lines = WRONG.splitlines()
        marked = lines[each.place.line - 1][each.place.column - 1 : each.place.end_column - 1]
        assert marked and (each.place.line, each.place.column) <= (each.place.end_line, each.place.end_column)
    assert {each.place.line for each in error.diagnostics if each.place} <= {2, 3}


def without_folders(text: str) -> str:
    """Removes the folders of the standard library, of which the package and the command have separate copies."""
    return re.sub(r"[^` ]*/stdlib", "stdlib", text)


@pytest.mark.parametrize("text", [
    WRONG,
    "node main(",
    "node main(x: f32) -> (y: f64)\n  y = x;\n",
    "node main(x: f32) -> (y: f32)\n  y = y + x;\n",
    "import nothing_of_this_name;\nnode main(x: f32) -> (y: f32)\n  y = x;\n",
    "node main(x: f32[2]) -> (y: f32[3])\n  y = x;\n",
    "node main(x: f32) -> (y: f32)\n  ÿ€ = x;\n  y = \"\n",
])
def test_compile_errors_are_those_of_the_command(text: str, command: Command, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "program.rml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(rmlc.CompileError) as told:
        rmlc.load(file).node()
    said = command("run", file, "--color", "never")
    assert said.returncode == 1 and without_folders(said.stderr.rstrip("\n")) == without_folders(str(told.value))
    data = json.loads(command("run", file, "--error-format", "json").stderr)["diagnostics"]
    ours = json.dumps([each.data for each in told.value.diagnostics])
    assert without_folders(ours) == without_folders(json.dumps(data))
    assert [each.code for each in told.value.diagnostics] == [each["code"] for each in data]


def test_errors_can_be_pickled() -> None:
    with pytest.raises(rmlc.CompileError) as told:
        rmlc.compile(WRONG)
    again = pickle.loads(pickle.dumps(told.value))
    assert str(again) == str(told.value) and again.diagnostics == told.value.diagnostics
    instance = rmlc.compile(DIVIDE).node().start()
    with pytest.raises(rmlc.RunError) as failed:
        instance.step(1, 0)
    copy = pickle.loads(pickle.dumps(failed.value))
    assert (str(copy), copy.cycle, copy.line, copy.column) == (str(failed.value), 0, 2, failed.value.column)


@pytest.mark.parametrize(("call", "words"), [
    (lambda module: module.node("nothing"), ["nothing"]),
    (lambda module: module.node(defines={"nothing": 1}), ["nothing"]),
    (lambda module: module.node(defines={"size": "much"}), ["much"]),
    (lambda module: module.node(watch=["nothing.*"]), ["nothing"]),
    (lambda module: module.node(freeze=["nothing.*"]), ["nothing"]),
    (lambda module: module.node(cpu="abacus"), ["abacus"]),
])
def test_what_node_refuses(call: Any, words: list[str]) -> None:
    module = rmlc.compile("const size = 2;\nnode main(x: f32[size]) -> (y: f32[size])\n  y = param(1.0f) * x;\n"
                          .replace("1.0f", "1.0"))
    with pytest.raises((rmlc.CompileError, ValueError)) as told:
        call(module)
    for word in words:
        assert word in str(told.value)


def test_what_is_no_file() -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.rml"):
        rmlc.load("nowhere.rml")
    with pytest.raises(ValueError, match="empty"):
        rmlc.compile("  \n")
    with pytest.raises((rmlc.CompileError, OSError)):
        rmlc.load(os.path.dirname(__file__))


def test_a_file_that_is_no_text(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "bytes.rml"
    for data in (b"\xff\xfe\x00", b"\0" * 100, bytes(range(256)), b"node main() -> (y: f32)\n y = \xc3\x28;\n"):
        file.write_bytes(data)
        with pytest.raises(rmlc.CompileError):
            rmlc.load(file).node()


def test_warnings_are_of_the_caller() -> None:
    text = "node inner(x: f32) -> (y: f32)\n  unused = x;\n  y = x;\nnode main(x: f32) -> (y: f32)\n  y = inner(x);\n"
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        module = rmlc.compile(text)
        node = module.node()
    of_compiler = [each for each in told if issubclass(each.category, rmlc.CompileWarning)]
    assert of_compiler, "the program has a variable that is never read"
    assert "unused" in str(of_compiler[0].message)
    assert {each.filename for each in of_compiler} == {__file__}
    assert any(each.severity == "warning" and "unused" in each.message for each in module.diagnostics)
    assert node.start().step(1.0) == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(rmlc.CompileWarning, match="unused"):
            rmlc.compile(text + "-- once more\n")


# ---- programs that stop ------------------------------------------------------------------------

DIVIDE = "node main(a: i32, b: i32) -> (q: i32)\n  q = a / b;\n"


def test_run_error_says_where() -> None:
    instance = rmlc.compile(DIVIDE, name="divide.rml").node().start()
    b = np.array([1, 2, 0, 4], np.int32)
    with pytest.raises(rmlc.RunError, match=r"divide\.rml:2:7: cycle 2: division by zero") as told:
        instance.run(a=np.full(4, 8, np.int32), b=b)
    error = told.value
    assert (error.cycle, error.file, error.line) == (2, "divide.rml", 2)
    assert error.column == 7
    assert error.rows.q.tolist() == [8, 4] and error.rows.cycles == range(2)


def test_what_was_reset_begins_as_a_new_one() -> None:
    # Rows wait for the end of a segment, so all its cycles are stored.
    node = rmlc.compile("""
import recurrent;
node main(end: bool, x: f32[8]) -> (h: f32[8], mean: f32)
  h = recurrent.lstm_end(8, end, x);
  total = x[0] + (if end then 0.0 else post total);
  mean = total * uniform([]);
""").node()
    values = np.random.default_rng(3).normal(size=(200, 8)).astype(np.float32)
    used = node.start(seed=4)
    for lengths in ((200,), (5, 5, 5), (1, 60)):
        ends = np.zeros(sum(lengths), bool)
        ends[np.cumsum(lengths) - 1] = True
        x = values[: len(ends)]
        new = node.start(seed=4)
        expected, rows = new.run(end=ends, x=x), used.run(end=ends, x=x)
        assert len(rows) == len(ends)
        assert rows.h.tobytes() == expected.h.tobytes() and rows.mean.tobytes() == expected.mean.tobytes()
        assert used.save() == new.save()
        used.run(end=np.zeros(9, bool), x=values[:9])  # an incomplete segment
        used.reset()
        assert used.cycle == 0


def test_an_instance_that_failed_can_be_reset() -> None:
    node = rmlc.compile(DIVIDE).node()
    instance = node.start()
    assert instance.step(8, 2) == 4
    state = instance.save()
    for _ in range(2):
        with pytest.raises(rmlc.RunError, match="cycle 1: division by zero"):
            instance.step(1, 0)
        for call in (lambda: instance.step(1, 1), lambda: instance.run(a=[1], b=[1]), instance.save, instance.finish):
            with pytest.raises(rmlc.RunError, match="cycle 1: division by zero"):
                call()
        instance.load(state)
        assert instance.cycle == 1 and instance.step(9, 3) == 3
        instance.load(state)
    with pytest.raises(rmlc.RunError):
        instance.step(1, 0)
    instance.reset()
    assert instance.cycle == 0 and instance.step(8, 4) == 2


def test_a_value_where_its_clock_says_absent() -> None:
    node = rmlc.compile("node main(c: bool, x: i32 when c) -> (y: i32 when c)\n  y = x + 1;\n").node()
    for call in (lambda: node.start().step(c=False, x=1), lambda: node.start().step(c=True, x=None),
                 lambda: node.start().run(c=[True, False], x=[1, 2]), lambda: node.start().run(c=[True], x=[None])):
        with pytest.raises(rmlc.RunError, match="'?x'?") as told:
            call()
        assert told.value.cycle in (0, 1)
        assert "clock" in str(told.value)
    assert node.start().step(c=False, x=None) is None


def test_an_assertion_tells_its_text() -> None:
    text = "node main(x: f64) -> (y: f64)\n  y = x;\n  assert x > 0.0, \"x is no length\";\n"
    with pytest.raises(rmlc.RunError, match="cycle 1: .*x is no length") as told:
        rmlc.compile(text).node().start().run(x=[1.0, -1.0])
    assert (told.value.line, told.value.cycle) == (3, 1)
    assert told.value.rows.y.tolist() == [1.0]


def test_rows_that_stay_unknown() -> None:
    """A value waits for a condition that does not come true again."""
    node = rmlc.compile("node main(bp: bool, i: i32) -> (o: i32)\n  o = backfill(i, bp);\n").node()
    assert node.latency is None and any("`bp`" in each for each in node.assumptions)
    instance = node.start()
    rows = instance.run(bp=[False, True, False, False], i=[1, 2, 3, 4])
    assert rows.o.tolist() == [2, 2] and instance.cycle == 4
    with pytest.warns(rmlc.UndeterminedWarning) as told:
        assert len(instance.finish()) == 0
    assert told[0].filename == __file__
    assert "2 rows" in str(told[0].message) and "'bp'" in str(told[0].message)


# ---- interruptions -----------------------------------------------------------------------------

SLOW = """
node main(x: f64) -> (y: f64, often: bool, large: f64 when often)
  w = zeros([1000]) fby 0.5 * w + x;
  y = sum(tanh(w));
  often = y > 0.0;
  large = y when often;
"""


def interrupt_while_it_runs(instance: rmlc.Instance, seconds: float) -> tuple[threading.Thread, list[float]]:
    """Sends Ctrl-C some time after the first cycles, because an earlier one would not interrupt the run."""
    at: list[float] = []

    def fire() -> None:
        while instance.cycle == 0:
            time.sleep(0.001)
        time.sleep(seconds)
        at.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=fire)
    thread.start()
    return thread, at


def test_ctrl_c_loses_nothing() -> None:
    node = rmlc.compile(SLOW).node()
    x = np.random.default_rng(3).normal(size=400_000)
    expected = node.start().run(x=x)
    waits = []
    for attempt in range(5):
        instance = node.start()
        thread, at = interrupt_while_it_runs(instance, 0.01 * attempt)
        with pytest.raises(KeyboardInterrupt) as told:
            instance.run(x=x)
        waits.append(time.monotonic() - at[0])
        thread.join()
        first = told.value.rows  # type: ignore[attr-defined]
        assert 0 < instance.cycle == len(first) < len(x)
        rest = instance.run(x=x[instance.cycle :])
        assert first.cycles.stop == rest.cycles.start
        assert first.y.tobytes() + rest.y.tobytes() == expected.y.tobytes()
        assert first.large.values.tobytes() + rest.large.values.tobytes() == expected.large.values.tobytes()
        assert [*first.large.at, *rest.large.at] == expected.large.at.tolist()
    # Other processes may use the machine, so the best of five attempts counts.
    assert min(waits) < 0.05, waits


def test_ctrl_c_between_long_cycles() -> None:
    """Each cycle takes some milliseconds."""
    instance = rmlc.compile("node main(x: f64) -> (y: f64)\n  w = zeros([300000]) fby tanh(w + x);\n  y = sum(w);\n"
                            ).node().start()
    thread, _ = interrupt_while_it_runs(instance, 0.1)
    with pytest.raises(KeyboardInterrupt) as told:
        instance.run(x=np.ones(100_000))
    thread.join()
    # A check for signals every 4,096 cycles, as for short cycles, would be too rare here.
    assert 0 < len(told.value.rows) == instance.cycle < 1000  # type: ignore[attr-defined]


def test_another_signal_handler_goes_on() -> None:
    """A handler that raises nothing does not end the run. A handler that raises ends it."""
    node = rmlc.compile(SLOW).node()
    x = np.ones(200_000)
    told: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: told.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        assert len(node.start().run(x=x)) == len(x)
        assert told

        instance = node.start()

        def stop(*_: Any) -> None:
            if instance.cycle > 0:  # raise only during the run
                signal.setitimer(signal.ITIMER_REAL, 0)
                raise TimeoutError("enough")

        signal.signal(signal.SIGALRM, stop)
        with pytest.raises(TimeoutError, match="enough"):
            instance.run(x=x)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert 0 < instance.cycle < len(x)


def test_devices_are_no_files() -> None:
    node = rmlc.compile("node main(x: f64) -> (y: f64) y = x;").node()
    for arguments in ({}, {"key": "k"}):
        with pytest.raises(OSError, match="a device, not a file"):
            node.start(load="/dev/zero", **arguments)
        with pytest.raises(rmlc.RunError, match="not a regular file"):
            node.start(params="/dev/zero", **arguments)
    with open("/dev/zero", "rb") as opened, pytest.raises(OSError, match="a device, not a file"):
        rmlc.compile(opened)
    with pytest.raises(rmlc.CompileError, match="/dev/zero: not a regular file"):
        rmlc.compile("node g(x: f64) -> (y: f64) node main(x: f64) -> (y: f64) y = g(x);").node(
            "main", libraries=["/dev/zero"])
    with pytest.raises(OSError, match="a device, not a file"):
        list(rmlc.training.epochs(node.start(), {"x": np.ones(2)}, most=1, checkpoint="/dev/zero", resume=True))


def test_devices_are_not_replaced(tmp_path: pathlib.Path) -> None:
    instance = rmlc.compile("node main(x: f64) -> (y: f64) y = x;").node().start()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in (pipe, tmp_path):
        with pytest.raises(OSError, match="not a regular file, so it cannot be replaced"):
            instance.save(place)
        with pytest.raises(OSError, match="not a regular file, so it cannot be replaced"):
            list(rmlc.training.epochs(instance, {"x": np.ones(2)}, most=1, checkpoint=place))
    assert pipe.is_fifo() and [each.name for each in tmp_path.iterdir()] == ["pipe"]


def test_sampled_cycles_are_integers() -> None:
    node = rmlc.compile("node main(c: bool, z: f64 when c) -> (y: f64 when c) y = z;").node()
    c = np.array([True, False, True])
    for at in ([0.5, 2], [0.0, 2.0], [True, False], ["0", "2"]):
        with pytest.raises(TypeError, match="the cycles of a sampled stream are integers"):
            node.start().run(c=c, z=rmlc.Sampled([1.0, 2.0], at=at))
    assert node.start().run(c=c, z=rmlc.Sampled([1.0, 2.0], at=np.array([0, 2], np.uint8))).y.at.tolist() == [0, 2]
