"""Further functions of the command, called from Python: derivatives, gradient checks, traces, graphs, programs."""

from __future__ import annotations

import io
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from conftest import Command

import rmlc

SUM = "node main(x: f64) -> (y: f64)\n  y = (0.0 fby y) + x;\n"


LEARNER = """
node line(x: f64) -> (y: f64)
  w = param(0.5);
  y = tanh(w * x);
node main(x: f64, t: f64) -> (y: f64)
  y, _ = diff line(x, true, 0.1 * (t - y));
"""


def test_diff_is_the_derivative() -> None:
    module = rmlc.compile(LEARNER)
    derived = module.diff("line")
    assert "diff_line" in derived.nodes and "node diff_line" in derived.source
    rows = derived.node("diff_line").start().run(x=[0.7, -1.1], bp=[True, True], dy=[1.0, 1.0])
    # Compare with central differences. The parameter moves by the gradient of the first cycle before the second cycle.
    h = 1e-6
    slope = (np.tanh(0.5 * (0.7 + h)) - np.tanh(0.5 * (0.7 - h))) / (2 * h)
    assert abs(rows.dx.values[0] - slope) < 1e-9
    with pytest.raises(rmlc.CompileError, match="nothing"):
        module.diff("nothing")


def test_diff_of_a_node_that_trains() -> None:
    module = rmlc.compile("""import optim;
node model(x) -> (y)
  y = param(0.5) * x;
node main(x: f64, t: f64) -> (y: f64)
  y, _ = diff[optim.sgd(0.1)] model(x, true, y - t);
""")
    derived = module.diff("main")
    assert "diff_main" in derived.nodes
    rows = derived.node("diff_main").start().run(x=[1.0, 2.0], t=[2.0, 1.0], bp=[True, True], dy=[1.0, 1.0])
    # y = w x, and w moves by -0.1 (y - t) x, starting with w = 0.5. dy moves no parameter of `main`.
    np.testing.assert_allclose(rows.y[0], 0.5)
    np.testing.assert_allclose(rows.dx.values[0], 0.5)


def test_c_sources(tmp_path: pathlib.Path) -> None:
    node = rmlc.compile(SUM).node()
    made = node.build(tmp_path / "sum.c", emit="c")
    assert made == tmp_path / "sum.c" and "main_step" in (tmp_path / "sum.h").read_text(encoding="utf-8")
    done = subprocess.run(["cc", "-std=c99", "-Wall", "-Werror", "-c", "sum.c"], cwd=tmp_path, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr


def test_compile_takes_files(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "sum.rml"
    file.write_text(SUM, encoding="utf-8")
    with open(file, encoding="utf-8") as text, open(file, "rb") as binary:
        modules = [rmlc.compile(text), rmlc.compile(binary), rmlc.compile(file), rmlc.compile(io.StringIO(SUM))]
    assert [module.file for module in modules] == [str(file)] * 3 + ["<text>"]
    for module in modules:
        assert module.node().start().run(x=[1.0, 2.0]).y.tolist() == [1.0, 3.0]
    for wrong, error, said in (("sum.rml", ValueError, "use rmlc.load to read a file"), (3, TypeError, "got int"),
                               (b"", ValueError, "empty")):
        with pytest.raises(error, match=said):
            rmlc.compile(wrong)  # type: ignore[arg-type]


def test_gradcheck() -> None:
    module = rmlc.compile(LEARNER)
    module.gradcheck("line")
    module.gradcheck("line", cycles=3, seed=4, tolerance=1e-4)
    wrong = rmlc.compile("node g(x: f64) -> (y: f64)\n  y = x * x;\n"
                         "node diff_g(x: f64, bp: bool, dy: f64 when bp) -> (y: f64, dx: f64 when bp)\n"
                         "  y = x * x;\n  dx = dy * (x when bp);\n"
                         "node line(x: f64) -> (y: f64)\n  y = g(x);\n")
    with pytest.raises(rmlc.GradientError, match="(?s)x .*cycle .*WRONG"):
        wrong.gradcheck("line")
    with pytest.raises(rmlc.CompileError, match="nothing"):
        module.gradcheck("nothing")


def test_a_trace_that_stops_has_drawn_what_came_before() -> None:
    node = rmlc.compile("node main(a: i32, b: i32) -> (q: i32) q = a / b;").node()
    with pytest.raises(rmlc.RunError, match="division by zero") as caught:
        node.trace({"a": [6, 4, 2], "b": [3, 0, 1]})
    assert str(caught.value.chronogram).split("\n")[:3] == ["a | 6", "b | 3", "q | 2"]
    assert isinstance(caught.value.chronogram, rmlc.Chronogram) and list(caught.value.rows.q) == [2]


def test_build_of_what_is_none(tmp_path: pathlib.Path) -> None:
    node = rmlc.compile("node main(x: i32) -> (y: i32) y = x;").node()
    with pytest.raises(ValueError, match="emit: expected one of 'exe', 'obj', .*, got 'wrong'"):
        node.build(tmp_path / "wrong", emit="wrong")
    assert not list(tmp_path.iterdir())


def test_trace() -> None:
    node = rmlc.compile(LEARNER).node()
    told = node.trace({"x": [0.5, 0.25], "t": [1.0, 1.0]}, watch=["line.w"])
    assert isinstance(told, str) and {line.split("|")[0].strip() for line in told.splitlines()} >= {
        "x", "t", "y", "line.w"}
    w = next(line for line in told.splitlines() if line.startswith("line.w"))
    assert w.split()[2:][0] == "0.5"


def test_a_chronogram_is_shown_as_it_is_read() -> None:
    drawn = rmlc.compile(SUM).node().trace(np.array([1.0, 2.0]))
    assert repr(drawn) == "x | 1 2\ny | 1 3"


def test_graph() -> None:
    picture = rmlc.compile(LEARNER).node().graph()
    assert picture.lstrip().startswith(("<?xml", "<svg")) and picture.rstrip().endswith("</svg>")
    assert picture._repr_svg_() == picture
    assert repr(picture) == f"<rmlc.SVG of {len(picture)} characters>"


def test_build_beside_another_package_of_the_name(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rmlc").mkdir()
    (tmp_path / "rmlc" / "__init__.py").write_text("raise SystemExit('another')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    program = rmlc.compile(SUM).node().build("program")
    assert subprocess.run([program], input="x\n1\n", capture_output=True, text=True, check=True).stdout == "y\n1\n"


def test_build_makes_a_program_that_runs(tmp_path: pathlib.Path) -> None:
    node = rmlc.compile("const k = 1.0;\n" + SUM.replace("+ x", "+ k * x")).node(defines={"k": 2.5})
    program = node.build(tmp_path / "program")
    said = subprocess.run([program], input="x\n1\n2\n", capture_output=True, text=True, check=True)
    assert said.stdout == "y\n2.5\n7.5\n"
    node.build(tmp_path / "part.o", emit="lib")
    assert any(file.suffix == ".h" for file in tmp_path.iterdir())
    with pytest.raises((rmlc.CompileError, rmlc.RunError, OSError), match="nowhere"):
        node.build(tmp_path / "nowhere" / "program")


def test_the_command_of_the_package(command: Command, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "sum.rml"
    file.write_text(SUM, encoding="utf-8")
    ours = subprocess.run([sys.executable, "-m", "rmlc", "run", str(file)], input="x\n1\n2\n", capture_output=True,
                          text=True, check=False)
    theirs = command("run", file, input="x\n1\n2\n")
    assert (ours.stdout, ours.returncode) == (theirs.stdout, theirs.returncode) == ("y\n1\n3\n", 0)
