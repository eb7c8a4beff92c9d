"""The modules that `import rmlc` loads, and the modules that are loaded later."""

from __future__ import annotations

import subprocess
import sys

import pytest

import rmlc


def test_import_takes_no_modules_that_take_long() -> None:
    text = "import sys; before = set(sys.modules); import rmlc; print(*sorted(set(sys.modules) - before))"
    said = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    slow = {"dataclasses", "hashlib", "inspect", "json", "numpy", "pathlib", "shlex", "shutil", "subprocess", "tempfile"}
    assert not slow & set(said.stdout.split()), said.stdout


def test_what_is_imported_later_is_there() -> None:
    for name in rmlc.__all__:
        assert name in dir(rmlc) and getattr(rmlc, name).__name__ == name
    with pytest.raises(AttributeError, match="module 'rmlc' has no attribute 'Chronograms'"):
        rmlc.Chronograms  # noqa: B018


def test_import_is_quick_and_without_numpy() -> None:
    text = "import sys, rmlc; print('numpy' in sys.modules, rmlc.compile('node main(x: f64) -> (y: f64)\\n y = x;')" \
           ".node().start().step(2.0), 'numpy' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert said.stdout.split() == ["False", "2.0", "False"], said.stderr
