"""Reading files, and writing files so that a reader never sees a part of one."""

from __future__ import annotations

import errno
import os
import stat

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any


def path_of(value: Any, name: str) -> str:
    """Returns an argument as a path. Raises TypeError if it is not one."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name}: expected a path, got {type(value).__name__}")
    return os.fspath(value)


def refuse_device(opened: Any) -> None:
    """Raises OSError if an open file is a device, because it may have no end. A terminal has one."""
    try:
        number = opened.fileno()
    except (AttributeError, OSError):
        return
    mode = os.fstat(number).st_mode
    if (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)) and not os.isatty(number):
        name = opened.name if isinstance(opened.name, str) else None
        raise OSError(errno.EINVAL, "a device, not a file; give a regular file", name)


def read_bytes(file: str | os.PathLike[str]) -> bytes:
    """Returns the whole content of a file. Raises OSError for a device, because it may have no end."""
    with open(file, "rb") as opened:
        refuse_device(opened)
        return opened.read()


def read_text(file: str | os.PathLike[str]) -> str:
    """Returns the text of a file, like `open(file).read()`, but refuses devices."""
    return "\n".join(read_bytes(file).decode("utf-8").replace("\r\n", "\n").split("\r"))


class replaced:
    """A context that gives the path of a new file to write. At its end the new file replaces `file` in one step."""

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self._file = os.fspath(file)
        if os.path.exists(self._file) and not os.path.isfile(self._file):
            raise OSError(errno.EINVAL, "not a regular file, so it cannot be replaced; give another path", self._file)
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
