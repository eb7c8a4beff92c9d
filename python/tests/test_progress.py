"""Runs with a progress display: the same rows, the line, the curves, and no lost rows if a run stops."""

from __future__ import annotations

import io
import pathlib
import re
import subprocess
import sys
import threading
import xml.etree.ElementTree
from collections.abc import Iterator

import numpy as np
import pytest

import rmlc
from rmlc import progress

PROGRAM = """node main(x: f64) -> (y: f64, even: bool, t: f64 when even, v: f32[2], h: bf16)
  k = 0 fby k + 1;
  even = k % 2 == 0;
  y = (0.9 * (0.0 fby y)) + x;
  t = y when even;
  v = [cast(f32, x), 1.5];
  h = cast(bf16, x);
"""
LATE = """node main(end: bool, x: f64) -> (rest: f64)
  rest = x + (if end then 0.0 else post rest);
"""
STOPS = """node main(x: f64) -> (y: f64)
  assert x < 1000.0, "too much";
  y = 2.0 * x;
"""


@pytest.fixture(scope="module")
def node() -> rmlc.Node:
    return rmlc.compile(PROGRAM).node()


def same(a: rmlc.Rows, b: rmlc.Rows) -> None:
    assert a.cycles == b.cycles and a.keys() == b.keys()
    for name in a:
        one, other = a[name], b[name]
        if isinstance(one, rmlc.Sampled):
            np.testing.assert_array_equal(one.at, other.at)
            assert one.at.dtype == other.at.dtype
            one, other = one.values, other.values
        assert one.dtype == other.dtype and one.shape == other.shape
        assert one.tobytes() == other.tobytes()


def test_watched_rows_are_the_same(node: rmlc.Node, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.random.default_rng(0).normal(size=100_003)
    plain, watched = node.start(), node.start()
    same(plain.run(x=x), watched.run(x=x, progress=True, monitor=["t", "y"]))
    same(plain.run(x=x[:7]), watched.run(x=x[:7], monitor="t"))  # both instances continue in the same way
    said = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"\[#{20}\] 100%  100003 cycles  \d+ cycles/s  t \S+  y \S+", said[-2])
    assert "7 cycles" in said[-1]


def test_rows_that_come_later() -> None:
    x = np.random.default_rng(1).normal(size=5000)
    end = np.arange(5000) % 700 == 699
    node = rmlc.compile(LATE).node()
    plain, watched = node.start(), node.start()
    same(plain.run(x=x, end=end), watched.run(x=x, end=end, progress=True))
    with pytest.warns(rmlc.UndeterminedWarning):
        same(plain.finish(), watched.finish())


def test_nothing_to_do(node: rmlc.Node, capsys: pytest.CaptureFixture[str]) -> None:
    rows = node.start().run(x=np.zeros(0), progress=True)
    assert len(rows) == 0 and rows.v.shape == (0, 2) and len(rows.t) == 0
    assert "100%  0 cycles" in capsys.readouterr().err


def test_an_error_has_all_rows() -> None:
    x = np.arange(5000.0)
    with pytest.raises(rmlc.RunError, match="too much") as caught:
        rmlc.compile(STOPS).node().start().run(x=x, progress=True)
    assert caught.value.cycle == 1000
    np.testing.assert_array_equal(caught.value.rows.y, 2 * x[:1000])


@pytest.mark.parametrize(("monitor", "message"), [
    (["T"], "no output 'T'; did you mean 't'\\?"),
    (["nothing"], "the outputs are: y, even, t, v, h"),
    (["v"], "outputs that are scalar numbers"),
    (["even"], "outputs that are scalar numbers"),
])
def test_what_cannot_be_monitored(node: rmlc.Node, monitor: list[str], message: str) -> None:
    instance = node.start()
    with pytest.raises(ValueError, match=message):
        instance.run(x=np.zeros(3), monitor=monitor)
    assert instance.cycle == 0


def test_arguments_are_checked(node: rmlc.Node) -> None:
    with pytest.raises(TypeError, match="x: expected"):
        node.start().run(x=np.zeros(3, np.float32), progress=True)
    with pytest.raises(TypeError, match="no input 'z'"):
        node.start().run(x=np.zeros(3), z=1, progress=True)


# Ctrl-C may come at any time: while cycles are computed, and between blocks.
INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np, rmlc
instance = rmlc.load(sys.argv[1]).node().start()
x = np.random.default_rng(0).normal(size=20_000_000)
instance.copy().run(x=x[:10], progress=True)
asked = []
def interrupt():
    while instance.cycle == 0:
        time.sleep(0.001)
    time.sleep(float(sys.argv[2]))
    asked.append(instance.cycle)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    instance.run(x=x, progress=True)
    sys.exit("not interrupted")
except KeyboardInterrupt as stop:
    rows = stop.rows
assert 0 < instance.cycle < min(asked[0] + 5_000_000, len(x)), (instance.cycle, asked)
assert len(rows) == instance.cycle and rows.cycles == range(instance.cycle)
rest = instance.run(x=x[instance.cycle :])
whole = rmlc.load(sys.argv[1]).node().start().run(x=x)
assert np.array_equal(np.concatenate([rows.y, rest.y]), whole.y)
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""


@pytest.mark.parametrize("after", [0.02, 0.05, 0.083])
def test_ctrl_c_loses_nothing(tmp_path: pathlib.Path, after: float) -> None:
    # The run is slow enough to be still in progress.
    (tmp_path / "slow.rml").write_text(
        "node main(x: f64) -> (y: f64)\n  h = 0.0 fby y;\n  y = tanh(sin(x) + cos(h) + exp(-x * x) + sin(3.0 * h));\n")
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, tmp_path / "slow.rml", str(after)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_in_another_thread(node: rmlc.Node) -> None:
    found: list[rmlc.Rows] = []
    thread = threading.Thread(target=lambda: found.append(node.start().run(x=np.ones(1000), progress=True)))
    thread.start()
    thread.join()
    same(found[0], node.start().run(x=np.ones(1000)))


def test_a_display_that_fails_costs_no_rows(node: rmlc.Node, monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError("no room")

    monkeypatch.setattr(sys, "stderr", Closed())
    with pytest.warns(UserWarning, match="cannot be shown: OSError: no room"):
        rows = node.start().run(x=np.ones(1000), progress=True)
    monkeypatch.undo()
    same(rows, node.start().run(x=np.ones(1000)))


def test_a_terminal_is_written_over(node: rmlc.Node, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out = Terminal()
    monkeypatch.setattr(sys, "stderr", out)
    monkeypatch.setattr(progress, "_TERMINAL_SECONDS", 0.0)
    node.start().run(x=np.ones(3000), progress=True)
    pictures = out.getvalue().split("\r\x1b[K")
    assert len(pictures) > 3 and "ETA 0:0" in pictures[1] and out.getvalue().count("\n") == 1
    percents = [int(found) for found in re.findall(r"(\d+)%", out.getvalue())]
    assert percents == sorted(percents) and percents[-1] == 100


def test_times() -> None:
    assert [progress.duration_text(each) for each in (0.2, 7, 750, 3600)] == ["0:01", "0:07", "12:30", "1:00:00"]
    line = progress.line_text(250, 1000, 1.0, {"loss": "0.5"})
    assert line == "[#####...............]  25%  250 cycles  250 cycles/s  ETA 0:03  loss 0.5"


# ---- join --------------------------------------------------------------------------------------


def test_joined_rows(node: rmlc.Node) -> None:
    x = np.random.default_rng(2).normal(size=100)
    instance = node.start()
    parts = [instance.run(x=x[a:b]) for a, b in ((0, 13), (13, 13), (13, 64), (64, 100))]
    whole = node.start().run(x=x)
    same(progress.join(parts), whole)
    same(progress.join(iter(parts[:1])), parts[0])
    np.testing.assert_array_equal(progress.join(parts).t.dense(), whole.t.dense())
    with pytest.raises(ValueError, match="rows of cycle 64 do not follow"):
        progress.join([parts[0], parts[3]])
    with pytest.raises(ValueError, match="no rows"):
        progress.join([])


# ---- curves ------------------------------------------------------------------------------------


def pieces(count: int) -> Iterator[slice]:
    source, begin = np.random.default_rng(4), 0
    while begin < count:
        end = min(begin + int(source.integers(0, 500)), count)
        yield slice(begin, end)
        begin = end


@pytest.mark.parametrize("count", [1, 999, 1000, 1001, 54_321])
def test_curves_lose_no_extreme(count: int) -> None:
    values = np.random.default_rng(3).normal(size=count)
    values[count // 3] = 1e6
    curve = progress.Curve()
    for piece in pieces(count):
        curve.add(np.arange(count)[piece], values[piece])
    points = curve.points
    assert len(points.mean) <= 1001
    assert points.most.max() == 1e6 and points.least.min() == values.min()
    assert (points.least <= points.mean).all() and (points.mean <= points.most).all()
    assert (np.diff(points.cycle) > 0).all()
    each = 1
    while count // each >= 1000:
        each *= 2
    whole = count // each
    np.testing.assert_allclose(points.mean[:whole], values[: whole * each].reshape(whole, each).mean(axis=1))


@pytest.mark.parametrize("values", [[], [1.0], [3.0, 3.0], [0.0, 0.0], [1e-300, 1e300], [-1e308, 1e308],
                                    [np.nan, np.inf], [1.0, np.nan, 2.0], [5e-324, 0.0]])
def test_pictures(values: list[float]) -> None:
    curve = progress.Curve()
    curve.add(range(len(values)), values)
    picture = curve.svg("a<b")
    root = xml.etree.ElementTree.fromstring(picture)
    numbers = [float(each) for each in re.findall(r"-?[\d.]+(?:e[+-]?\d+)?",
                                                  " ".join(each.get("points", "") for each in root.iter()))]
    assert all(-1 <= each <= 641 for each in numbers)
    assert not re.search(r"\b(nan|inf)\b", picture)
    assert ("not finite" in picture) == (not np.isfinite(values).all())


def test_logarithmic_pictures() -> None:
    curve = progress.Curve()
    curve.add(range(5), [1, 0.1, 0.01, 0.001, 0.0001])
    for tick in ("1", "0.1", "0.01", "0.001", "0.0001"):
        assert f">{tick}</text>" in curve.svg("loss")
