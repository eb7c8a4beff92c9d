"""The notebook docs/tutorial.ipynb: its cells give the stored outputs, and these agree with docs/tutorial.md.

If Jupyter is installed, the notebook is run. In any case, its cells are run one after the other like a script. A cell
with the magic `%%rmlc` is a program.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree
from typing import Any

import pytest
from conftest import ROOT

import rmlc

NOTEBOOK = ROOT / "docs/tutorial.ipynb"
PICTURE = "a picture"
pytestmark = pytest.mark.skipif(not NOTEBOOK.exists(), reason="the documentation is not beside the package")


def cells() -> list[Any]:
    return [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def text_of(value: Any) -> str:
    """Returns the text that is shown for the value of a cell."""
    if isinstance(value, rmlc.SVG):
        xml.etree.ElementTree.fromstring(value)
        return PICTURE
    return str(value) if isinstance(value, str) else repr(value)


def kept(cell: Any) -> str:
    """Returns the output of a cell as text. For a picture it is only a mark, because processors differ in rounding."""
    parts = []
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            parts.append("".join(output["text"]))
            continue
        shown = {kind: "".join(lines) for kind, lines in output["data"].items()}
        value = PICTURE if "image/svg+xml" in shown else shown["text/plain"]
        parts.append(ast.literal_eval(value) if value.startswith("'") else value)
    return "".join(parts)


def run(source: str, names: dict[str, Any]) -> str:
    """Returns the printed text of a cell, and then its last value if there is one."""
    if magic := re.match(r"%%rmlc (\w+)\n", source):
        names[magic[1]] = rmlc.compile(source[magic.end() :], name=f"{magic[1]}.rml")
        return ""
    tree = ast.parse(re.sub(r"^%load_ext rmlc$", "", source, flags=re.M))
    last, value = None, None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body[-1].value)
        del tree.body[-1]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "<cell>", "exec"), names)
        if last is not None:
            value = eval(compile(last, "<cell>", "eval"), names)
    return printed.getvalue() + ("" if value is None else text_of(value))


def test_cells_one_after_the_other(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells():
        source = "".join(cell["source"])
        assert run(source, names).strip() == kept(cell).strip(), source


def test_as_a_notebook() -> None:
    for name in ("nbclient", "ipykernel", "nbformat"):
        pytest.importorskip(name)
    script = ROOT / "scripts/tutorial_notebook.py"
    done = subprocess.run([sys.executable, script, "check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_numbers_are_those_of_the_page() -> None:
    page = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    printed = [block for block in re.findall(r"^```output\n(.*?)^```$", page, re.M | re.S) if block != "learned\n"]
    assert len(printed) == 8
    shown = "\n".join(map(kept, cells()))
    arrays = [re.sub(r"[\[\] .]+", " ", line).split() for line in shown.splitlines() if line.startswith("[")]
    for block in printed:
        lines = [line for line in block.splitlines() if line and not line.startswith("import ")]
        for line in lines:
            if re.sub(r" +", " ", line) in re.sub(r" +", " ", shown):
                continue
            # In the notebook, a chronogram of one row is an array.
            assert len(lines) == 1, line
            assert re.sub(r"[ .]+", " ", line.partition("|")[2]).split() in arrays, line
    assert "2400 sequences: learned" in shown


def test_the_programs_are_those_of_the_page() -> None:
    page = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```rml\n(?:-- file: [^\n]*\n)?(.*?)^```$", page, re.M | re.S)
    programs = [re.sub(r"\s+", " ", block) for block in blocks]
    own = re.sub(r"\s+", " ", " ".join("".join(cell["source"]) for cell in cells()))
    assert len(programs) == 9
    for program in programs:
        assert program.strip() in own, program


@pytest.mark.parametrize("step", range(1, 11))
def test_there_are_ten_steps(step: int) -> None:
    page = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    book = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    heading = re.search(rf"^## {step}\. .*$", page, re.M)
    assert heading
    assert any(heading[0] in "".join(cell["source"]).splitlines() for cell in book["cells"])
