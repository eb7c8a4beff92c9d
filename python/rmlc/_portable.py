"""A node that travels, with the files that it reads, to machines that need not have them."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterable

from ._node import Node, Request, run_compiler

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


@dataclasses.dataclass(frozen=True)
class Portable:
    """What compiles a node anew: the request, its paths absolute, and what is in the files that it names."""

    request: Request
    files: tuple[tuple[str, bytes], ...]

    def unpack(self) -> str:
        """Where the files are: "", if this machine has them where they were, or else the folder that holds them."""
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
            with contextlib.suppress(OSError):  # another process has been faster
                os.rename(beside, root)
            shutil.rmtree(beside, ignore_errors=True)
        # Folders for all people have files of all people.
        if os.stat(root).st_uid != os.getuid() or not self._are_below(root):
            raise PermissionError(f"{root}: not what was written there; remove it")
        return root

    def _are_below(self, root: str) -> bool:
        return all(_content(root + path) == content for path, content in self.files)

    def node(self, root: str) -> Node:
        """The node, compiled by files below `root`; what this process has compiled before is taken again."""
        request = self.request
        if not root:
            return Node(request)
        parameters, renamed, partial = request.parameters
        return Node(request._replace(
            file=root + request.file if os.path.isabs(request.file) else request.file,
            import_folders=tuple(root + each for each in request.import_folders),
            libraries=tuple(root + each if os.path.isabs(each) else each for each in request.libraries),
            parameters=(root + parameters if parameters else "", renamed, partial)))


def _content(path: str) -> bytes | None:
    try:
        return pathlib.Path(path).read_bytes()
    except OSError:
        return None


def portable(node: Node, also: Iterable[str]) -> Portable:
    """The node with the files that it has read, and `also` these. Raises FileNotFoundError for those that are gone."""
    request = node._request
    # A library may be the name of one that each machine has.
    libraries = tuple(os.path.abspath(each) if os.path.exists(each) else each for each in request.libraries)
    needed = {os.path.abspath(each) for each in (*run_compiler(request).files, *also)}
    needed |= set(filter(os.path.isabs, libraries))
    needed = {each for each in needed if os.path.commonpath([each, _PACKAGE]) != _PACKAGE}
    own = os.path.abspath(request.file)
    if not request.text and not own.endswith(".onnx"):
        request = request._replace(text=pathlib.Path(own).read_text(encoding="utf-8"))
        needed.discard(own)
    parameters, renamed, partial = request.parameters
    request = request._replace(
        # Imports are looked for beside the file. A text that has none keeps the name by which messages call it.
        file=own if needed else request.file,
        import_folders=tuple(map(os.path.abspath, request.import_folders)),
        libraries=libraries,
        parameters=(os.path.abspath(parameters) if parameters else "", renamed, partial))
    return Portable(request, tuple((each, pathlib.Path(each).read_bytes()) for each in sorted(needed)))
