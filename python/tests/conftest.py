"""What all tests of the package share: the path of the repository, and the command whose rows are the reference."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from collections.abc import Callable, Sequence

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
Command = Callable[..., "subprocess.CompletedProcess[str]"]


def command_words() -> list[str]:
    """The path of the command: RMLC, or the one built from this tree, or the one of the package."""
    places = [os.environ.get("RMLC", ""), *(str(ROOT / "build" / preset / "bin" / "rmlc")
                                            for preset in ("dev", "release"))]
    found = next((place for place in places if place and os.access(place, os.X_OK)), None)
    return [found] if found else [sys.executable, "-m", "rmlc"]


@pytest.fixture(scope="session")
def command() -> Command:
    """Runs `rmlc` with these words, and returns its output and its exit status."""
    first = command_words()

    def run(*words: str | os.PathLike[str], cwd: pathlib.Path | None = None,
            input: str | None = None) -> subprocess.CompletedProcess[str]:
        call: Sequence[str] = [*first, *(os.fspath(word) for word in words)]
        stdin = subprocess.DEVNULL if input is None else None
        return subprocess.run(call, capture_output=True, text=True, check=False, cwd=cwd, input=input, stdin=stdin)

    return run
