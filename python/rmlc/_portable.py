"""A compiled node together with the files that it reads, so that it can be sent to machines without these files."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterable

from ._files import read_bytes, read_text
from ._node import Node, Request, run_compiler

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


@dataclasses.dataclass(frozen=True)
class Portable:
    """All that another machine needs to compile a node: the request with absolute paths, and the file contents."""

    request: Request
    files: tuple[tuple[str, bytes], ...]

    def unpack(self) -> str:
        """Returns the folder below which the files are: "" if they are at their own paths here, else a new folder."""
        if self._are_below(""):
            return ""
        digest = hashlib.blake2b(repr(self.files).encode(), digest_size=16).hexdigest()
        root = os.path.join(tempfile.gettempdir(), f"rmlc-{os.getuid()}-{digest}")
        if not os.path.isdir(root):
            beside = tempfile.mkdtemp(prefix="rmlc-")
            for path, content in self.files:
                place = pathlib.Path(beside + path)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
            with contextlib.suppress(OSError):  # another process may create the folder meanwhile
                os.rename(beside, root)
            shutil.rmtree(beside, ignore_errors=True)
        # Any user may have written to a shared temporary folder.
        if os.stat(root).st_uid != os.getuid() or not self._are_below(root):
            raise PermissionError(f"{root}: the folder has other contents than rmlc wrote there; remove it")
        return root

    def _are_below(self, root: str) -> bool:
        return all(_content(root + path) == content for path, content in self.files)

    def node(self, root: str) -> Node:
        """Returns the node, compiled from the files below `root`, or reused if this process has compiled it before."""
        request = self.request
        if not root:
            return Node(request)
        parameters = request.parameters[0]
        return Node(request._replace(
            file=root + request.file if os.path.isabs(request.file) else request.file,
            import_folders=tuple(root + each for each in request.import_folders),
            libraries=tuple(root + each if os.path.isabs(each) else each for each in request.libraries),
            parameters=(root + parameters if parameters else "", *request.parameters[1:])))


def _content(path: str) -> bytes | None:
    try:
        return read_bytes(path)
    except OSError:
        return None


def portable(node: Node, also: Iterable[str]) -> Portable:
    """Packs the node, the files that it has read, and the files `also`. Raises FileNotFoundError if one is missing."""
    request = node._request
    # A library may be given by a name that each machine resolves itself.
    libraries = tuple(os.path.abspath(each) if os.path.exists(each) else each for each in request.libraries)
    needed = {os.path.abspath(each) for each in (*run_compiler(request).files, *also)}
    needed |= set(filter(os.path.isabs, libraries))
    needed = {each for each in needed if os.path.commonpath([each, _PACKAGE]) != _PACKAGE}
    own = os.path.abspath(request.file)
    if not request.text and not own.endswith(".onnx"):
        request = request._replace(text=read_text(own))
        needed.discard(own)
    parameters = request.parameters[0]
    request = request._replace(
        # Imports are searched next to the file. A text without imports keeps the name that messages use.
        file=own if needed else request.file,
        import_folders=tuple(map(os.path.abspath, request.import_folders)),
        libraries=libraries,
        parameters=(os.path.abspath(parameters) if parameters else "", *request.parameters[1:]))
    return Portable(request, tuple((each, read_bytes(each)) for each in sorted(needed)))
