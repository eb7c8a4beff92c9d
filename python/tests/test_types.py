"""The package agrees with its type hints, by mypy in strict mode."""

import os
import pathlib
import subprocess
import sys

import pytest

import rmlc


def test_mypy_strict(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    config = pathlib.Path(__file__).parents[1] / "pyproject.toml"
    package = pathlib.Path(rmlc.__file__).parent
    if not (package / "_core.pyi").exists():
        pytest.skip("the stubs of the extension are not beside it")
    # If the package is found but not installed, mypy needs its folder.
    installed = package.parent.name == "site-packages"
    environment = dict(os.environ) if installed else {**os.environ, "MYPYPATH": str(package.parent)}
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", config, "--cache-dir", tmp_path / "cache"],
                          capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
