"""Files: those that are there, read; those that are written, written as a whole."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any


def path_of(value: Any, name: str) -> str:
    """The path that an argument is."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name}: expected a path, got {type(value).__name__}")
    return os.fspath(value)


def read_bytes(file: str | os.PathLike[str]) -> bytes:
    with open(file, "rb") as opened:
        return opened.read()


def read_text(file: str | os.PathLike[str]) -> str:
    with open(file, encoding="utf-8") as opened:
        return opened.read()


@contextlib.contextmanager
def replaced(file: str | os.PathLike[str]) -> Iterator[str]:
    """The path of a file to be written, which takes the place of `file` once all of it is there."""
    beside = f"{os.fspath(file)}.{os.getpid()}.part"
    try:
        yield beside
        os.replace(beside, file)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)


def write_whole(file: str | os.PathLike[str], data: bytes) -> None:
    with replaced(file) as beside, open(beside, "wb") as opened:
        opened.write(data)
