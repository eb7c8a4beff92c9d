"""Files: those that are there, read; those that are written, written as a whole."""

from __future__ import annotations

import errno
import os
import stat

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any


def path_of(value: Any, name: str) -> str:
    """The path that an argument is."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name}: expected a path, got {type(value).__name__}")
    return os.fspath(value)


def read_bytes(file: str | os.PathLike[str]) -> bytes:
    """All of a file. OSError for a device, which may have no end."""
    with open(file, "rb") as opened:
        mode = os.fstat(opened.fileno()).st_mode
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            raise OSError(errno.EINVAL, "a device, not a file", os.fspath(file))
        return opened.read()


def read_text(file: str | os.PathLike[str]) -> str:
    """As `open(file).read()`, of no device."""
    return "\n".join(read_bytes(file).decode("utf-8").replace("\r\n", "\n").split("\r"))


class replaced:
    """The path of a file to be written, which takes the place of `file` once all of it is there."""

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self._file = os.fspath(file)
        self._beside = f"{self._file}.{os.getpid()}.part"

    def __enter__(self) -> str:
        return self._beside

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if kind is None:
                os.replace(self._beside, self._file)
        finally:
            try:
                os.unlink(self._beside)
            except FileNotFoundError:
                pass


def write_whole(file: str | os.PathLike[str], data: bytes) -> None:
    with replaced(file) as beside, open(beside, "wb") as opened:
        opened.write(data)
