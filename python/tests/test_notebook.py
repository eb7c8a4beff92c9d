"""The magics, in a shell and in a notebook without a screen."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import rmlc
from rmlc._html import chronogram_html, diagnostics_html, module_html, node_html, rows_html
from rmlc.notebook import split_words

SUM = "node main(x: i32) -> (y: i32)\n  y = (0 fby y) + x;\n"


def test_a_chronogram_as_a_table() -> None:
    drawn = rmlc.compile(SUM).node().trace(np.array([1, 2, 30], "i4"))
    rows = re.findall(r"<tr>(.*?)</tr>", drawn._repr_html_())
    assert [re.findall(r">([^<>]+)<", row) for row in rows] == [
        ["0", "1", "2"], ["x", "1", "2", "30"], ["y", "1", "3", "33"]]


def test_texts_are_no_tags() -> None:
    assert "<b>" not in chronogram_html("a<b> | 1 2\n") and "&lt;b&gt;" in chronogram_html("a<b> | 1 2\n")
    assert "<i>" not in diagnostics_html("error: <i>")


def test_long_chronograms_are_cut_in_the_middle() -> None:
    cells = re.findall(r"<td[^>]*>([^<]*)<", chronogram_html("x | " + " ".join(map(str, range(1500))) + "\n"))
    assert [cell for cell in cells if cell.isdigit()] == [str(k) for k in [*range(350), *range(1450, 1500)]]
    rows = rows_html(rmlc.compile(SUM).node().start().run(x=np.ones(1500, np.int32)))
    cells = re.findall(r"<td[^>]*>([^<]*)<", rows)
    assert [cell for cell in cells if cell.isdigit()] == [str(k + 1) for k in [*range(350), *range(1450, 1500)]]
    assert "1500 rows" in rows


def test_nodes_and_modules_as_tables() -> None:
    module = rmlc.compile(SUM)
    assert "x: i32" in module_html(module)
    assert re.findall(r"<th>(\w)</th>", node_html(module.node())) == ["x", "y"]


def test_they_are_shown_without_the_extension() -> None:
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    formatter = interactive.InteractiveShell().display_formatter
    module = rmlc.compile(SUM)
    node = module.node()
    rows = node.start().run(x=[1, 2])
    for shown, html in ((module, module_html(module)), (node, node_html(node)), (rows, rows_html(rows))):
        assert formatter.format(shown)[0]["text/html"] == html
    drawn = node.trace({"x": [1, 2]})
    assert formatter.format(drawn)[0]["text/html"] == chronogram_html(drawn)
    assert "<svg" in formatter.format(node.graph())[0]["image/svg+xml"]


@pytest.fixture
def shell() -> Any:
    testing = pytest.importorskip("IPython.core.interactiveshell")
    shell = testing.InteractiveShell()
    rmlc.load_ipython_extension(shell)
    return shell


def test_the_cell_magic_binds_a_module(shell: Any) -> None:
    shell.run_cell_magic("rmlc", "total", SUM)
    total = shell.user_ns["total"]
    assert isinstance(total, rmlc.Module) and list(total.node().start().run(x=[1, 2]).y) == [1, 3]
    shell.run_cell_magic("rmlc", "scaled -D k=5", "const k = 2;\nnode main(x: i32) -> (y: i32) y = k * x;")
    assert list(shell.user_ns["scaled"].node().start().run(x=[1, 2]).y) == [5, 10]


def test_a_refused_cell_leaves_the_name_as_it_was(shell: Any) -> None:
    shell.user_ns["total"] = "before"
    with pytest.raises(rmlc.CompileError, match="unknown name `z`"):
        shell.run_cell_magic("rmlc", "total", "node main(x: i32) -> (y: i32) y = z;")
    assert shell.user_ns["total"] == "before"


@pytest.mark.parametrize(("line", "text"), [
    ("", "got nothing"), ("2x", "got 2x"), ("m -D k", "CONSTANT=VALUE"), ("m more", "got m more"),
    ("m -q", "unknown option -q"),
    ("m -D", "a value is missing"),
])
def test_wrong_use_of_the_cell_magic(shell: Any, line: str, text: str) -> None:
    from IPython.core.error import UsageError

    with pytest.raises(UsageError, match=text):
        shell.run_cell_magic("rmlc", line, SUM)


def test_words_of_a_line() -> None:
    assert split_words("n x=f(1, [2, 3]) y='a b'  --cycles 3") == ["n", "x=f(1, [2, 3])", "y='a b'", "--cycles", "3"]
    with pytest.raises(ValueError, match="missing"):
        split_words("x=f(1")


def test_the_trace_magic(shell: Any) -> None:
    from IPython.core.error import UsageError

    shell.user_ns.update(total=rmlc.compile(SUM), x=np.array([1, 2, 30], "i4"), other=3)
    assert str(shell.run_line_magic("rmlc_trace", "total x=x[:2]")) == "x | 1 2\ny | 1 3\n"
    assert str(shell.run_line_magic("rmlc_trace", "total.node() x=[4] --watch y")) == "x | 4\ny | 4\n"
    assert str(shell.run_line_magic("rmlc_trace", "total x=[5, 6] --cycles 2")) == "x | 5  6\ny | 5 11\n"
    with pytest.raises(UsageError, match="expected a node or a module"):
        shell.run_line_magic("rmlc_trace", "other")
    with pytest.raises(UsageError, match="INPUT=VALUE"):
        shell.run_line_magic("rmlc_trace", "total x")


def test_a_notebook() -> None:
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    nbformat = pytest.importorskip("nbformat")
    cells = ["%load_ext rmlc\nimport numpy as np", "%%rmlc total\n" + SUM,
             "%rmlc_trace total x=np.array([1,2,30],'i4')", "%%rmlc bad\nnode main(x: i32) -> (y: i32) y = z < 1;\n",
             "rows = total.node().start().run(x=np.ones(9, 'i4'), progress=True, monitor=['y']); print(rows.y[-1])",
             "total.node().trace(np.array([5], 'i4'))"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client.NotebookClient(book, timeout=60, allow_errors=True, kernel_name="python3").execute()
    outputs = [cell.outputs for cell in book.cells]
    assert outputs[0] == outputs[1] == []
    assert ">33<" in outputs[2][0].data["text/html"]
    drawn, error = outputs[3]
    assert "unknown name" in drawn.data["text/html"] and "z &lt; 1" in drawn.data["text/html"]
    assert "^" in drawn.data["text/plain"] and error.traceback == ["CompileError: 1 error"]
    pictures = [each for each in outputs[4] if each.output_type == "display_data"]
    assert len(pictures) == 1 and "<svg" in pictures[0].data["text/html"]
    assert "9 cycles" in pictures[0].data["text/html"]
    assert [each.text for each in outputs[4] if each.output_type == "stream"] == ["9\n"]
    assert ">5<" in outputs[5][0].data["text/html"]
