"""Functions of modules and nodes that run the command `rmlc` in another process, with temporary files."""

from __future__ import annotations

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ._diagnostics import read_diagnostics
from ._errors import CompileError, RunError
from ._files import read_text
from ._inputs import columns, gather

if TYPE_CHECKING:
    from ._node import Node, Path, Request


class GradientError(ArithmeticError):
    """A derivative differs from central differences. The text gives the cycle, the element and both numbers."""


class SVG(str):
    """A picture as text in SVG. Notebooks show it, and `save` writes it to a file."""

    def __repr__(self) -> str:
        return f"<rmlc.SVG of {len(self)} characters>"

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, file: Path) -> None:
        pathlib.Path(os.fspath(file)).write_text(self, encoding="utf-8")


class Chronogram(str):
    """Streams over cycles as text, with a line for each stream and a column for each cycle. Notebooks show a table."""

    def __repr__(self) -> str:
        return str(self).rstrip("\n")

    def _repr_html_(self) -> str:
        from ._html import chronogram_html

        html: str = chronogram_html(self)
        return html


class _Files:
    """A temporary folder for one command. If the source is a text without a file, the folder holds it.

    Such a text finds its imports in the folder of the name that it was given.
    """

    def __init__(self, request: Request) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="rmlc-")
        self.path = pathlib.Path(self.folder.name)
        self.request = request
        self.source = request.file
        self.more: list[str] = []
        if request.text:
            self.source = str(self.path / "source.rml")
            pathlib.Path(self.source).write_text(request.text, encoding="utf-8")
            beside = os.path.dirname(os.path.abspath(request.file))
            self.more = ["-I", beside]

    def __enter__(self) -> _Files:
        return self

    def __exit__(self, *_: Any) -> None:
        self.folder.cleanup()

    def front_options(self) -> list[str]:
        r = self.request
        words = [f"-D{each}" for each in r.definitions]
        for folder in r.import_folders:
            words += ["-I", folder]
        words += self.more
        if r.node:
            words += ["--node", r.node]
        for limit in r.limits:
            words += ["--limit", limit]
        for option, values in zip(("--dim", "--fix", "--state", "--trainable", "--stream"), r.model):
            for value in values:
                words += [option, value]
        return words

    def run(self, command: str, *words: str) -> subprocess.CompletedProcess[str]:
        done = run_command([command, self.source, *self.front_options(), *words])
        if self.request.text:
            done.stdout = done.stdout.replace(self.source, self.request.file)
            done.stderr = done.stderr.replace(self.source, self.request.file)
        return done


# The package's own folder is searched first, because the current folder may contain another module named `rmlc`.
_COMMAND = "import sys; sys.path[0] = sys.argv.pop(1); import rmlc.__main__; sys.exit(rmlc.__main__.main())"


def run_command(words: Iterable[str]) -> subprocess.CompletedProcess[str]:
    folder = str(pathlib.Path(__file__).parent.parent)
    return subprocess.run([sys.executable, "-c", _COMMAND, folder, *words], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)


def _raise_compile_error(files: _Files, command: str, *words: str) -> None:
    """Raises CompileError if the command failed because of an error in the program."""
    done = files.run(command, *words, "--error-format", "json")
    try:
        diagnostics = read_diagnostics(done.stderr)
    except (json.JSONDecodeError, KeyError):
        return
    if any(each.severity == "error" for each in diagnostics):
        raise CompileError(files.run(command, *words, "--color", "never").stderr, diagnostics)


def _checked(files: _Files, command: str, *words: str) -> str:
    done = files.run(command, *words)
    if done.returncode == 0:
        return done.stdout
    _raise_compile_error(files, command, *words)
    raise RunError(done.stderr.rstrip("\n") or f"rmlc {command}: exit status {done.returncode}")


def derivative(request: Request, name: str) -> Request:
    """Returns the request with the derivative of a node added to its text."""
    request = request._replace(node=name)
    text = request.text or read_text(request.file)
    with _Files(request._replace(text=text)) as files:
        derived = _checked(files, "diff").splitlines()
    # The derivative is added to the same text, so the import of its own file is left out.
    imports = [line for line in derived if line.startswith("import ") and line != f'import "{request.file}";']
    own = [line for line in derived if not line.startswith("import ")]
    return request._replace(node="", text="\n".join([*imports, text.rstrip("\n"), *own]) + "\n")


def gradcheck(request: Request, name: str, cycles: int | None, seed: int, tolerance: float) -> None:
    with _Files(request._replace(node=name or request.node)) as files:
        words = ["--seed", str(seed), "--tolerance", repr(tolerance)]
        if cycles is not None:
            words += ["--cycles", str(cycles)]
        done = files.run("gradcheck", *words)
        if done.returncode == 0:
            return
        _raise_compile_error(files, "gradcheck", *words)
        raise GradientError((done.stdout + done.stderr).strip())


def graph(request: Request, depth: int | None) -> SVG:
    with _Files(request) as files:
        output = files.path / "graph.svg"
        words = ["graph", files.source, *files.front_options(), "-o", str(output)]
        if depth is not None:
            words += ["--depth", str(depth)]
        done = run_command(["show", *words])
        if done.returncode != 0:
            raise RunError(done.stderr.rstrip("\n"))
        return SVG(output.read_text(encoding="utf-8"))


_EMITTED = ("exe", "obj", "asm", "llvm", "bc", "lib", "header", "c")


def build(request: Request, output: Path, emit: str, target: str, options: Iterable[str]) -> pathlib.Path:
    if emit not in _EMITTED:
        raise ValueError(f"emit: expected one of {', '.join(map(repr, _EMITTED))}, got {emit!r}")
    if isinstance(options, str):
        options = shlex.split(options)
    with _Files(request) as files:
        words = ["-o", os.fspath(output), "--emit", emit, f"-O{request.optimization}"]
        if target:
            words += ["--target", target]
        elif request.cpu and (emit, request.cpu) != ("c", "native"):  # the C compiler chooses the processor itself
            words += ["--cpu", request.cpu]
        for flag, value in (("--fast-math", request.fast_math), ("--strict-math", request.strict_math),
                            ("--no-stabilise", not request.stabilise)):
            if value:
                words.append(flag)
        if request.whole_segment:
            words += ["--chunk", "segment"]
        if request.threads > 1:
            words += ["--threads", str(request.threads)]
        for pattern in request.frozen:
            words += ["--freeze", pattern]
        for name in request.tunable:
            words += ["--tunable", name]
        for library in request.libraries:
            words += ["--link", library]
        if request.parameters[0]:
            words += ["--load-params", request.parameters[0]]
            for each in request.parameters[1]:
                words += ["--map", each]
            words += [word for word, given in zip(("--partial", "--cast-params"), request.parameters[2:]) if given]
        _checked(files, "build", *words, *options)
    return pathlib.Path(os.fspath(output)).absolute()


def trace(node: Node, inputs: Any, watch: Iterable[str], cycles: int | None, seed: int, missing: str,
          named: Mapping[str, Any]) -> Chronogram:
    from .chronogram import chronogram_text

    patterns = tuple(watch)
    # Like the command, use the interpreter, whose values define the language.
    watched = node._changed(watches=patterns, reference=True)
    instance = watched.start(seed=seed)
    given = columns(node, _positional(node, inputs), named, missing)
    values, present, count = gather(node, given, cycles, True, missing)
    try:
        parts = [instance._run_columns(values, present, count)]
    except RunError as error:  # prints the cycles before the failure, as the command does
        known = len(error.rows)
        error.chronogram = Chronogram(chronogram_text(watched, [each[:known] for each in values],
                                                      [each if each is None else each[:known] for each in present],
                                                      known, [error.rows]))
        raise
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts.append(instance.finish())
    if sum(map(len, parts)) < count and not node._request.parameters[0]:
        return _trace_of_the_command(node, values, present, count, patterns, seed)
    return Chronogram(chronogram_text(watched, values, present, count, parts))


def _trace_of_the_command(node: Node, values: Any, present: Any, count: int, watch: Iterable[str], seed: int) -> Chronogram:
    """Traces by the command, for programs whose last rows are not determined.

    A run returns only whole rows. The command also knows the values of incomplete rows that are determined.
    """
    from .chronogram import input_text

    with _Files(node._request) as files:
        words = ["--seed", str(seed), "--cycles", str(count)]
        if node.inputs:
            read = files.path / "inputs.chron"
            read.write_text(input_text(node, values, present), encoding="utf-8")
            words += ["--input", str(read)]
        for library in node._request.libraries:
            words += ["--link", library]
        for pattern in watch:
            words += ["--watch", pattern]
        return Chronogram(_checked(files, "trace", *words))


def _positional(node: Node, inputs: Any) -> Any:
    """Returns a single array as the mapping of the node's only input."""
    if inputs is None or isinstance(inputs, Mapping) or not hasattr(inputs, "dtype"):
        return inputs
    if len(node.inputs) != 1:
        raise TypeError("inputs: a single array is possible only for a node with one input, but this node has "
                        f"{len(node.inputs)}: {', '.join(port.name for port in node.inputs)}; give each by name")
    return {node.inputs[0].name: inputs}


_first: dict[tuple[Any, int], dict[str, Any]] = {}


def first_parameters(node: Node, seed: int) -> dict[str, Any]:
    """Returns the initial values of the parameters that start at cycle 0.

    They are the values after cycle 0 of the same program with all parameters frozen.
    """
    import numpy as np

    from . import _safetensors

    key = (node._request, seed)
    if key not in _first:
        still = node._changed(frozen=("*",))
        instance = still.start(seed=seed)
        try:
            instance.run({port.name: np.zeros((1, *port.shape), port.numpy_dtype)
                          for port in node.inputs if port.always}, cycles=1)
        except RunError:  # the program fails for inputs of zeros, so it is not measured
            return {}
        saved = _safetensors.read(instance._save())
        views = {path: instance._get_parameter(path) for path in still.params}
        found = {path: saved.get(path) if view is None else view for path, view in views.items()}
        # The frozen program has no sums of gradients. They start at zero.
        found |= {path: np.zeros(port.shape, port.numpy_dtype) for path, port in node.params.items()
                  if path not in still.params}
        _first[key] = {path: np.array(value) for path, value in found.items() if value is not None}
    return _first[key]
