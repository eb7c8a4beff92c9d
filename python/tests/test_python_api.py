"""The reference page docs/manual/python_api.md agrees with the docstrings and with the objects of the package."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from typing import Any

import pytest
from conftest import ROOT

import rmlc

SCRIPT, PAGE = ROOT / "scripts/python_api.py", ROOT / "docs/manual/python_api.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the manual is not beside the package")


def test_the_page_is_up_to_date() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def entries() -> list[tuple[str, str, str]]:
    """Returns for each entry the module, the name in it, and the call on the page, or an empty text without a call."""
    found, module, outer = [], "rmlc", ""
    for block in re.split(r"^(?=###)", PAGE.read_text(encoding="utf-8"), flags=re.M)[1:]:
        mark, name = block.splitlines()[0].split(" ")
        call = re.match(r"[^\n]*\n\n```python\n(\w+\(.*?\)(?: -> .*?)?)\n```", block, re.S)
        if mark == "###":
            module, _, outer = name.rpartition(".")
            found.append((module, outer, call[1] if call else ""))
        else:
            found.append((module, name, call[1] if call else ""))
    return found


@pytest.mark.parametrize(("module", "name", "call"), entries(), ids=lambda value: str(value).split("(")[0])
def test_what_is_on_the_page_is_there(module: str, name: str, call: str) -> None:
    try:
        found: Any = importlib.import_module(module)
    except ImportError as error:
        pytest.skip(str(error))
    for each in name.split("."):
        found = getattr(found, each)
    if not call or name == "Instance.step":
        assert found is not None
        return
    tree = ast.parse(f"def {call}: ...").body[0]
    assert isinstance(tree, ast.FunctionDef)
    given = tree.args
    written = [each.arg for each in [*given.posonlyargs, *given.args, *given.kwonlyargs]]
    written += [each.arg for each in (given.vararg, given.kwarg) if each]
    own = [each.name for each in inspect.signature(found).parameters.values() if each.name != "self"]
    assert sorted(written) == sorted(own)
    defaults = {each.name: each.default for each in inspect.signature(found).parameters.values()}
    for argument, default in zip(given.kwonlyargs, given.kw_defaults):
        assert (default is None) == (defaults[argument.arg] is inspect.Parameter.empty)
        if default is not None:
            assert ast.literal_eval(default) == defaults[argument.arg]


def test_all_that_is_public_is_on_the_page() -> None:
    named = {name for module, name, _ in entries() if module == "rmlc"}
    assert set(rmlc.__all__) <= named
    for module in rmlc._MODULES:
        assert f"`import rmlc.{module}`" in PAGE.read_text(encoding="utf-8"), module
