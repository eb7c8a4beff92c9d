"""Earlier results of reading and compiling are used again if nothing has changed, and only then."""

from __future__ import annotations

import copy
import pathlib
import pickle
import time

import pytest

import rmlc

SUM = "node main(x: f64) -> (y: f64)\n  y = (0.0 fby y) + x;\n"


def test_a_copy_is_not_compiled_again(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "main.rml"
    source.write_text(SUM, encoding="utf-8")
    node = rmlc.load(source).node()
    again = pickle.loads(pickle.dumps(node))
    assert again._core is copy.deepcopy(again)._core is node._core
    (tmp_path / "pickle").write_bytes(pickle.dumps(node))
    rmlc._node._cache.clear()
    source.write_text(SUM.replace("+ x", "- x"), encoding="utf-8")
    assert pickle.loads((tmp_path / "pickle").read_bytes()).start().step(2.0) == 2.0
    assert rmlc.load(source).node().start().step(2.0) == -2.0


def test_a_changed_file_is_compiled_again(tmp_path: pathlib.Path) -> None:
    part, source = tmp_path / "part.rml", tmp_path / "main.rml"
    part.write_text("node of(x: f64) -> (y: f64)\n  y = 2.0 * x;\n", encoding="utf-8")
    source.write_text("import part;\nnode main(x: f64) -> (y: f64)\n  y = part.of(x);\n", encoding="utf-8")

    def value() -> float:
        return float(rmlc.load(source).node().start().step(1.0))

    old = rmlc.load(source).node().start()
    assert value() == 2.0
    part.write_text("node of(x: f64) -> (y: f64)\n  y = 3.0 * x;\n", encoding="utf-8")
    assert value() == 3.0
    source.write_text(source.read_text(encoding="utf-8").replace("of(x)", "of(x) + 1.0"), encoding="utf-8")
    assert value() == 4.0
    assert old.step(1.0) == 2.0
    part.unlink()
    with pytest.raises(rmlc.CompileError, match="part"):
        value()
    part.write_text("node of(x: f64) -> (y: f64)\n  y = x +;\n", encoding="utf-8")
    with pytest.raises(rmlc.CompileError, match=r"part\.rml:2:"):
        value()


def test_a_file_that_changes_before_its_node_is_compiled(tmp_path: pathlib.Path) -> None:
    """A node is compiled from the text that its module has read, or from the files if they have changed since."""
    part, source = tmp_path / "part.rml", tmp_path / "main.rml"
    part.write_text("const k = 1.0;\nnode of(x: f64) -> (y: f64)\n  y = k * x;\n", encoding="utf-8")
    source.write_text("import part;\nconst c = 1.0;\nnode main(x: f64) -> (y: f64)\n  y = c * part.of(x);\n",
                      encoding="utf-8")
    assert rmlc.load(source).node().start().step(3.0) == 3.0
    module = rmlc.load(source)
    part.write_text("const k = 2.0;\nnode of(x: f64) -> (y: f64)\n  y = k * x;\n", encoding="utf-8")
    assert module.node().start().step(3.0) == 6.0
    module = rmlc.load(source)
    part.unlink()
    with pytest.raises(rmlc.CompileError, match="part"):
        module.node()
    part.write_text("const k = 7.0;\nnode of(x: f64) -> (y: f64)\n  y = k * x;\n", encoding="utf-8")
    module = rmlc.load(source)
    again = pickle.loads(pickle.dumps(module))
    assert [each.node(defines=defines).start().step(1.0) for each in (module, copy.deepcopy(module), again)
            for defines in ({"c": 2.0}, {}, {"c": 3.0})] == 3 * [14.0, 7.0, 21.0]


def test_what_a_module_has_read_warns_as_a_file_does(tmp_path: pathlib.Path) -> None:
    text = "node main(x: f64) -> (y: f64)\n  unused = 2.0 * x;\n  y = x;\n"
    with pytest.warns(rmlc.CompileWarning) as first:
        module = rmlc.compile(text)
    with pytest.warns(rmlc.CompileWarning) as second:
        node = module.node()
    with pytest.warns(rmlc.CompileWarning) as anew:
        other = module.node(optimization=1)
    assert len({str(each.message) for told in (first, second, anew) for each in told}) == 1
    assert node.diagnostics == other.diagnostics == module.diagnostics


def test_what_is_compiled_is_what_is_asked_for() -> None:
    """Results for different constants, nodes, engines and options are kept apart."""
    module = rmlc.compile("const k = 1.0;\nnode a(x: f64) -> (y: f64)\n  y = k * x;\n"
                          "node b(x: f64) -> (y: f64)\n  u = x + k;\n  y = -u;\n")
    for _ in range(2):
        assert module.node("a").start().step(2.0) == 2.0
        assert module.node("b").start().step(2.0) == -3.0
        assert module.node("a", defines={"k": 5.0}).start().step(2.0) == 10.0
        assert module.node("b", watch=["u"]).start().step(2.0) == (-3.0, 3.0)
        assert module.node("b", engine="reference").start().run(x=[2.0]).y.tolist() == [-3.0]
        assert module.node("b", optimization=0, cpu="generic").start().step(2.0) == -3.0
    assert module.nodes.keys() == {"a", "b"}


def test_from_the_cache_in_5_ms(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "lstm.rml"
    source.write_text("import recurrent;\nnode main(end: bool, x: f32[16]) -> (y: f32[128])\n"
                      "  y = recurrent.lstm_end(128, end, x);\n", encoding="utf-8")
    rmlc.load(source).node()
    times = []
    for _ in range(10):
        begin = time.perf_counter()
        rmlc.load(source).node()
        times.append(time.perf_counter() - begin)
    assert min(times) < 0.005
