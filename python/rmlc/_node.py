"""Programs: read, checked and compiled into memory."""

from __future__ import annotations

import atexit
import collections
import os
import threading
import warnings
from collections.abc import Mapping

from . import _core
from ._arrays import whole
from ._errors import CompileError, CompileWarning
from ._files import read_bytes, read_text
from ._ports import Port
from ._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterable
    from typing import Any, Protocol, overload

    from ._diagnostics import Diagnostic
    from ._instance import Instance
    from ._keyed import Keyed
    from .evaluation import Scores

    class SupportsRead(Protocol):
        """A file that was opened to be read, for texts or for bytes."""

        def read(self) -> str | bytes: ...

Path = str | os.PathLike[str]


def _is_text(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


class Request(NamedTuple):
    """All that what is compiled depends on, but for the texts of files; see `Module.node`."""

    file: str
    text: str = ""  # empty: what is in the file
    node: str = ""
    definitions: tuple[str, ...] = ()
    import_folders: tuple[str, ...] = ()
    watches: tuple[str, ...] = ()
    frozen: tuple[str, ...] = ()
    gathered: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    parameters: tuple[str, tuple[str, ...], bool] = ("", (), False)
    model: tuple[tuple[str, ...], ...] = ((), (), (), (), ())
    cpu: str = "native"
    optimization: int = 2
    threads: int = 1
    fast_math: bool = False
    strict_math: bool = False
    stabilise: bool = True
    whole_segment: bool = False
    reference: bool = False
    check_only: bool = False

    def core(self) -> Any:
        request = _core.CompileRequest()
        for name, value in self._asdict().items():
            texts = value if isinstance(value, tuple) and name not in ("parameters", "model") else (value,)
            for text in texts:
                if isinstance(text, str) and not _is_text(text):
                    raise ValueError(f"{name}: {text!a} is no text that can be written as UTF-8")
            if name not in ("parameters", "model"):
                setattr(request, name, list(value) if isinstance(value, tuple) else value)
        request.set_parameters(self.parameters[0], list(self.parameters[1]), self.parameters[2])
        request.set_model(*(list(each) for each in self.model))
        return request


class _Compiled(NamedTuple):
    core: Any
    nodes: dict[str, str]
    diagnostics: list[Diagnostic]
    files: dict[str, bytes]  # digests of what was read
    source: Any  # where it was only checked: what a node of it can be compiled from, once

    def is_current(self) -> bool:
        return all(_digest(file) == digest for file, digest in self.files.items())


_cache: collections.OrderedDict[Request, _Compiled] = collections.OrderedDict()
_cache_lock = threading.Lock()
_MOST_CACHED = 64
atexit.register(_cache.clear)  # code of programs is gone before the compiler is


def _digest(file: str) -> bytes:
    import hashlib

    try:
        return hashlib.blake2b(read_bytes(file), digest_size=16).digest()
    except OSError:
        return b""


def run_compiler(request: Request, checked: _Compiled | None = None) -> _Compiled:
    """Compiled, or what was compiled before if nothing has changed since. Raises CompileError.

    checked: the file as it was checked, which is not read again if it has not changed since.
    """
    with _cache_lock:
        known = _cache.get(request)
    if known is not None and known.is_current():
        with _cache_lock:
            if request in _cache:
                _cache.move_to_end(request)
        return known
    source = checked.source if checked is not None and checked.is_current() else None
    result: Any = _core.compile(request.core(), source)
    core, text, data, _, files, nodes, source = result
    diagnostics = []
    if text:
        from ._diagnostics import read_diagnostics

        diagnostics = read_diagnostics(data)
    if any(each.severity == "error" for each in diagnostics):
        raise CompileError(text, diagnostics)
    if text:
        warnings.warn(text.rstrip("\n"), CompileWarning, stacklevel=4)
    # A file of which only the text is known has not been read.
    read = {file: _digest(file) for file in files if not (request.text and file == request.file)}
    made = _Compiled(core, dict(nodes), diagnostics, read, source)
    _keep(request, made._replace(source=None))
    return made


def _keep(request: Request, made: _Compiled) -> None:
    with _cache_lock:
        _cache[request] = made
        while len(_cache) > _MOST_CACHED:
            _cache.popitem(last=False)


def _with_text(request: Request) -> Request:
    """With the text of its file, for another process; in this one it is not compiled again for that."""
    whole_request = request._replace(text=read_text(request.file))
    with _cache_lock:
        known = _cache.get(request)
    if known is not None and known.is_current():
        files = {file: digest for file, digest in known.files.items() if file != request.file}
        _keep(whole_request, known._replace(files=files))
    return whole_request


def _definition(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"{name}={'true' if value else 'false'}"
    return f"{name}={value}"


class Module:
    """A source file that has been read and checked, or an ONNX model; `node` compiles one of its nodes."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._checked = run_compiler(request._replace(check_only=True))
        self.nodes: dict[str, str] = self._checked.nodes
        self.diagnostics = self._checked.diagnostics

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_checked": self._checked._replace(source=None)}

    @property
    def file(self) -> str:
        """Its path, or what it is called in messages."""
        return self._request.file

    @property
    def source(self) -> str:
        """The text."""
        return self._request.text or read_text(self._request.file)

    def node(
        self,
        name: str = "",
        *,
        defines: Mapping[str, Any] | None = None,
        watch: Iterable[str] = (),
        freeze: Iterable[str] = (),
        gradients: Iterable[str] = (),
        params: Path | None = None,
        map: Iterable[str] = (),
        partial: bool = False,
        cpu: str = "native",
        optimization: int = 2,
        threads: int = 1,
        fast_math: bool = False,
        strict_math: bool = False,
        stabilise: bool = True,
        chunk: str = "",
        engine: str = "compiled",
        libraries: Iterable[Path] = (),
        limits: Mapping[str, int] | None = None,
    ) -> Node:
        """Compiles a node: `main`, or the only one, if no name is given.

        defines: constants of the file by name, as `-D`.  watch: patterns of variables that are outputs as well.
        freeze: patterns of parameters that do not learn.
        gradients: patterns of parameters that do not learn either: what would move one is added up, from cycle 0 on, in
        `params["d PATH"]` of an instance, complete where that is `settled`; such a program needs a schedule (E0701).
        params, map, partial: a file whose parameters it begins with, as
        `--load-params`, `--map`, `--partial`.  cpu: "native", "generic" or a processor of LLVM.
        optimization: 0 to 3.  threads: at most so many, for loops that are worth it.  chunk: "segment" or "".
        engine: "compiled", or "reference" for the interpreter.  libraries: where external functions are.
        limits: as `--limit`. Raises CompileError.
        """
        if engine not in ("compiled", "reference"):
            raise ValueError(f"engine: 'compiled' or 'reference', not {engine!r}")
        if chunk not in ("", "segment"):
            raise ValueError(f"chunk: 'segment' or '', not {chunk!r}")
        if optimization not in (0, 1, 2, 3):
            raise ValueError(f"optimization: 0, 1, 2 or 3, not {optimization!r}")
        if isinstance(gradients, str):
            raise TypeError("gradients: a list of patterns, not a text")
        gathered = tuple(gradients)
        if gathered and engine == "reference":
            raise ValueError("gradients: the compiled engine adds them up, the reference engine does not")
        request = self._request._replace(
            node=name,
            definitions=(*self._request.definitions,
                         *(_definition(key, value) for key, value in (defines or {}).items())),
            watches=tuple(watch),
            frozen=tuple(freeze),
            gathered=gathered,
            parameters=(os.fspath(params) if params is not None else "", tuple(map), partial),
            cpu=cpu,
            optimization=optimization,
            threads=threads,
            fast_math=fast_math,
            strict_math=strict_math,
            stabilise=stabilise,
            whole_segment=chunk == "segment",
            reference=engine == "reference",
            libraries=tuple(os.fspath(each) for each in libraries),
            limits=tuple(f"{key}={whole(value, f'limits: {key}', 1, 2**64 - 1)}"
                         for key, value in (limits or {}).items()),
        )
        return Node(request, self._checked)

    def diff(self, name: str = "") -> Module:
        """The module with the derivative of a node as one more: `diff_NAME`, in R(ML)² that can be read (`source`)."""
        from ._tools import derivative

        return derivative(self._request, name)

    def gradcheck(self, name: str = "", *, cycles: int | None = None, seed: int = 0, tolerance: float = 1e-6) -> None:
        """Compares the derivative of a node with central differences over random inputs.

        Raises GradientError, with the cycle, the element and both numbers, where they differ.
        """
        from ._tools import gradcheck

        gradcheck(self._request, name, cycles, seed, tolerance)

    def evaluate(self, inputs: Any = None, /, *, metrics: Iterable[str], name: str = "",
                 defines: Mapping[str, Any] | None = None, window: int | None = None, warm_up: int = 0, seed: int = 0,
                 cycles: int | None = None, copy: bool = False, options: Iterable[str] = (), **named: Any) -> Scores:
        """How good predictions are that a node makes row by row, each before it learns from the truth of the row.

        The node has both the features and the truth as inputs, which are given as for `Instance.run`, and the
        prediction as an output. It is asked by the command `rmlc eval --progressive`, which refuses predictions that
        know too much (CompileError).

        metrics: texts "[COLUMN=]NAME:PREDICTION:TRUTH", "accuracy:guess:label" say; NAME is accuracy, precision,
        recall, f1, auc, logloss, mae, mse, rmse or r2.  name: the node; `main`, or the only one, if none is given.
        defines: constants of the file by name.  window: the last so many rows are measured, 2 to 2^20; all, if none is
        given.  warm_up: so many rows are learned from before any is measured.  seed: of random functions.
        cycles: how many, for a node without inputs.  copy: as in `Instance.run`.
        options: further ones of the command, such as "--load-params", FILE.

        Returns scores by column. Raises ValueError for metrics that there are not, RunError where the program fails or
        no row has a truth, and what `Instance.run` raises for wrong inputs.
        """
        from .evaluation import evaluate

        return evaluate(self, inputs, named, metrics, name, defines, window, warm_up, seed, cycles, copy, options)

    def _repr_html_(self) -> str:
        from .notebook import module_html

        html: str = module_html(self)
        return html

    def __repr__(self) -> str:
        return f"<rmlc.Module {self.file}: {', '.join(self.nodes)}>"


class Node:
    """A compiled node: immutable, so that threads may share it. `start` makes an instance that runs."""

    def __init__(self, request: Request, checked: _Compiled | None = None) -> None:
        compiled = run_compiler(request, checked)
        core = compiled.core
        self._request, self._core = request, core
        self.diagnostics = compiled.diagnostics
        self.name: str = core.name
        self.inputs: list[Port] = [Port(*each) for each in core.inputs]
        self.outputs: list[Port] = [Port(*each) for each in core.outputs]
        self.immediate: bool = core.immediate
        self.watched: list[Port] = self.outputs[len(self.outputs) - core.watched :]
        self._row_type = collections.namedtuple(  # type: ignore[misc]
            "Row", [port.name for port in self.outputs], rename=True, module="rmlc")

    @property
    def params(self) -> dict[str, Port]:
        """Parameters by path."""
        return {each[0]: Port(*each) for each in self._core.parameters}

    @property
    def assumptions(self) -> list[str]:
        """What must come true so that rows leave; none where every cycle has its row at once."""
        return [f"`{condition}` keeps coming true" for condition in dict.fromkeys(self._core.conditions)]

    @property
    def latency(self) -> int | None:
        """0: each cycle hands out its row. None: rows leave when they are known, some of them later."""
        return 0 if self.immediate else None

    if TYPE_CHECKING:

        @overload
        def start(self, *, seed: int = 0, load: Path | bytes | None = None, params: Path | Mapping[str, Any] | None = None,
                  map: Iterable[str] = (), partial: bool = False, horizon: int = 0) -> Instance: ...

        @overload
        def start(self, *, key: str, share: Iterable[str] = (), seed: int = 0, load: Path | bytes | None = None,
                  params: Path | None = None, map: Iterable[str] = (), partial: bool = False, horizon: int = 0) -> Keyed: ...

    def start(
        self,
        *,
        seed: int = 0,
        load: Path | bytes | None = None,
        params: Path | Mapping[str, Any] | None = None,
        map: Iterable[str] = (),
        partial: bool = False,
        horizon: int = 0,
        key: str | None = None,
        share: Iterable[str] = (),
    ) -> Instance | Keyed:
        """An instance at cycle 0; with `key`, a `Keyed`: one for each key that comes.

        seed: of random functions.  load: a saved state (a file, or its bytes), to go on from.  params: parameters to
        begin with, from a safetensors file or a mapping of arrays by path; map and partial as `--map`, `--partial`.
        horizon: the longest segment allowed, in cycles; 0: as long as there is memory.  key: the name of the column
        that says whose row it is.  share: patterns of parameters that all keys have in common.
        """
        if key is not None:
            from ._keyed import Keyed

            if isinstance(params, Mapping):
                raise TypeError("params: a file, not a mapping, where there are keys")
            return Keyed(self, key, share=share, seed=seed, load=load, params=params, map=map, partial=partial,
                         horizon=horizon)
        if share:
            raise TypeError("share: parameters are shared by keys: give `key=`")
        from ._instance import Instance

        return Instance(self, seed=seed, load=load, params=params, map=map, partial=partial, horizon=horizon)

    def trace(self, inputs: Any = None, *, watch: Iterable[str] = (), cycles: int | None = None, seed: int = 0,
              **named: Any) -> Any:
        """The rows of the inputs, and of variables that match `watch`, as a Chronogram: columns are cycles."""
        from ._tools import trace

        return trace(self, inputs, watch, cycles, seed, named)

    def graph(self, depth: int | None = None) -> Any:
        """Its values and how they hang together, as a picture (an `SVG`)."""
        from ._tools import graph

        return graph(self._request, depth)

    def build(self, output: Path, *, emit: str = "exe", target: str = "", options: Iterable[str] = ()) -> pathlib.Path:
        """What `rmlc build` makes: a program, or with emit="lib" an object and a C header. Returns its path, an absolute one."""
        from ._tools import build

        return build(self._request, output, emit, target, options)

    def __str__(self) -> str:
        inputs, outputs = (", ".join(map(str, ports)) for ports in (self.inputs, self.outputs))
        text = f"{self.name}({inputs}) -> ({outputs})"
        if self.immediate:
            return text + "; latency 0"
        return text + "; rows leave when they are known" + "".join(f"; {each}" for each in self.assumptions)

    def _repr_html_(self) -> str:
        from .notebook import node_html

        html: str = node_html(self)
        return html

    def __repr__(self) -> str:
        return f"<rmlc.Node {self}>"

    def __reduce__(self) -> Any:
        request = self._request
        if not request.text and not request.file.endswith(".onnx"):
            request = _with_text(request)
        return Node, (request,)


def load(file: Path, *, import_folders: Iterable[Path] = ()) -> Module:
    """Reads and checks a source file. Raises CompileError; FileNotFoundError."""
    path = os.fspath(file)
    if not os.path.exists(path):
        raise FileNotFoundError(f"no such file: '{path}'")
    return Module(Request(path, import_folders=tuple(os.fspath(each) for each in import_folders)))


def compile(text: str | os.PathLike[str] | SupportsRead, *, name: str = "", import_folders: Iterable[Path] = ()) -> Module:
    """Reads and checks a source text, or what an opened file or a path (`pathlib.Path`) holds.

    `name` stands for the file in messages, and says where imports are looked for; of an opened file it is that file's.
    """
    if isinstance(text, os.PathLike):
        if name:
            raise TypeError("name: a path has its own")
        return load(text, import_folders=import_folders)
    read: object = text
    if not isinstance(text, (str, bytes)) and hasattr(text, "read"):
        own = getattr(text, "name", "")
        name = name or (own if isinstance(own, str) else "")
        read = text.read()
    source = read.decode("utf-8") if isinstance(read, bytes) else read
    if not isinstance(source, str):
        raise TypeError(f"text: a source, an opened file or a path, not {type(source).__name__}")
    if not source.strip():
        raise ValueError("the text is empty")
    if "\n" not in source and source.endswith((".rml", ".onnx")):
        raise ValueError(f"text: {source!r} is a path: rmlc.load reads files")
    return Module(Request(name or "<text>", source, import_folders=tuple(os.fspath(each) for each in import_folders)))
