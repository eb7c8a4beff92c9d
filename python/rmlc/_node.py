"""Programs: reading and checking a source (`Module`), and compiling a node of it into memory (`Node`)."""

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
from ._files import read_bytes, read_text, refuse_device
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
        """A file that is open for reading, in text or binary mode."""

        def read(self) -> str | bytes: ...

Path = str | os.PathLike[str]


def _is_text(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


class Request(NamedTuple):
    """Everything that the compiled code depends on, except the contents of files; see `Module.node`."""

    file: str
    text: str = ""  # the source; if empty, the content of the file
    node: str = ""
    definitions: tuple[str, ...] = ()
    import_folders: tuple[str, ...] = ()
    watches: tuple[str, ...] = ()
    frozen: tuple[str, ...] = ()
    tunable: tuple[str, ...] = ()
    gathered: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    parameters: tuple[str, tuple[str, ...], bool, bool] = ("", (), False, False)
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
                    raise ValueError(f"{name}: {text!a} cannot be written as UTF-8; remove its lone surrogates")
            if name not in ("parameters", "model"):
                setattr(request, name, list(value) if isinstance(value, tuple) else value)
        request.set_parameters(self.parameters[0], list(self.parameters[1]), *self.parameters[2:])
        request.set_model(*(list(each) for each in self.model))
        return request


class _Compiled(NamedTuple):
    core: Any
    nodes: dict[str, str]
    diagnostics: list[Diagnostic]
    files: dict[str, bytes]  # digests of the files that were read
    source: Any  # only after a check: the checked source, from which one node can be compiled

    def is_current(self) -> bool:
        return all(_digest(file) == digest for file, digest in self.files.items())


_cache: collections.OrderedDict[Request, _Compiled] = collections.OrderedDict()
_cache_lock = threading.Lock()
_MOST_CACHED = 64
atexit.register(_cache.clear)  # the code of programs must be freed before the compiler


def _digest(file: str) -> bytes:
    import hashlib

    try:
        return hashlib.blake2b(read_bytes(file), digest_size=16).digest()
    except OSError:
        return b""


def run_compiler(request: Request, checked: _Compiled | None = None) -> _Compiled:
    """Compiles a request, or returns the earlier result if nothing has changed since. Raises CompileError.

    checked: the result of checking the file. The file is not read again if it has not changed since.
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
    # If the request contains the text, its file has not been read.
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
    """Returns the request with the text of its file, for another process. This process does not compile it again."""
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
    """A source file or an ONNX model that has been read and checked. `node` compiles one of its nodes."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._checked = run_compiler(request._replace(check_only=True))
        self.nodes: dict[str, str] = self._checked.nodes
        self.diagnostics = self._checked.diagnostics

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_checked": self._checked._replace(source=None)}

    @property
    def file(self) -> str:
        """The path of the file, or the name that messages use for it."""
        return self._request.file

    @property
    def source(self) -> str:
        """The text of the source."""
        return self._request.text or read_text(self._request.file)

    def _defined(self, defines: Mapping[str, Any] | None) -> Request:
        more = (_definition(key, value) for key, value in (defines or {}).items())
        return self._request._replace(definitions=(*self._request.definitions, *more))

    def node(
        self,
        name: str = "",
        *,
        defines: Mapping[str, Any] | None = None,
        watch: Iterable[str] = (),
        freeze: Iterable[str] = (),
        tunable: Iterable[str] = (),
        gradients: Iterable[str] = (),
        params: Path | None = None,
        map: Iterable[str] = (),
        partial: bool = False,
        cast_params: bool = False,
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
        """Compiles a node and returns it. Raises CompileError.

        name: the node. Without a name it is `main`, or the only node of the file.
        defines: values for constants of the file or for inputs of the node, by name, like `-D`.
        watch: patterns of variables that become additional outputs.
        freeze: patterns of parameters that do not learn.
        tunable: constants that are parameters: `params["NAME"]` of an instance reads and sets them between two cycles.
        gradients: patterns of parameters that keep their values. The changes that each would have received from cycle 0
        on are added up in `params["d PATH"]` of an instance. The sum is complete when the instance is `settled`. Such a
        program needs a schedule (E0701).
        params, map, partial, cast_params: a file with initial parameters, like `--load-params`, `--map`, `--partial` and
        `--cast-params`.
        cpu: "native", "generic" or the LLVM name of a processor.
        optimization: the level, from 0 to 3.
        threads: the greatest number of threads for a loop. Only loops over large tensors use several threads.
        chunk: "segment" to compute the cycles of a whole segment together, or "".
        engine: "compiled", or "reference" for the interpreter.
        libraries: the libraries with the external functions.
        limits: limits by name, like `--limit`.
        """
        if engine not in ("compiled", "reference"):
            raise ValueError(f"engine: expected 'compiled' or 'reference', got {engine!r}")
        if chunk not in ("", "segment"):
            raise ValueError(f"chunk: expected 'segment' or '', got {chunk!r}")
        if optimization not in (0, 1, 2, 3):
            raise ValueError(f"optimization: expected 0, 1, 2 or 3, got {optimization!r}")
        if isinstance(gradients, str):
            raise TypeError(f"gradients: expected a list of patterns, got a str; write [{gradients!r}]")
        if isinstance(tunable, str):
            raise TypeError(f"tunable: expected a list of names, got a str; write [{tunable!r}]")
        gathered = tuple(gradients)
        if gathered and engine == "reference":
            raise ValueError("gradients: the reference engine does not sum gradients; use engine='compiled'")
        request = self._request._replace(
            node=name,
            definitions=self._defined(defines).definitions,
            watches=tuple(watch),
            frozen=tuple(freeze),
            tunable=tuple(tunable),
            gathered=gathered,
            parameters=(os.fspath(params) if params is not None else "", tuple(map), partial,
                        cast_params),
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
        """Returns the module with the derivative of a node as an additional node, `diff_NAME`.

        The derivative is readable R(ML)² code; `source` of the result contains it.
        """
        from ._tools import derivative

        return Module(derivative(self._request, name))

    def gradcheck(self, name: str = "", *, defines: Mapping[str, Any] | None = None, cycles: int | None = None,
                  seed: int = 0, tolerance: float = 1e-6) -> None:
        """Compares the derivative of a node with central differences over random inputs.

        name: the node. Without a name it is `main`, or the only node of the file.
        defines: values for constants of the file or for inputs of the node, by name.
        cycles: the number of cycles. The default is 12.
        seed: the seed of the random inputs.
        tolerance: the allowed relative error.

        Raises GradientError if they differ. Its text gives the cycle, the element and both numbers.
        """
        from ._tools import gradcheck

        gradcheck(self._defined(defines), name, cycles, seed, tolerance)

    def evaluate(self, inputs: Any = None, /, *, metrics: Iterable[str], name: str = "",
                 defines: Mapping[str, Any] | None = None, window: int | None = None, warm_up: int = 0, seed: int = 0,
                 cycles: int | None = None, copy: bool = False, missing: str = "error", options: Iterable[str] = (),
                 **named: Any) -> Scores:
        """Scores the predictions of a node while it learns: each row is predicted before the node learns from it.

        The node has the features and the truth of a row as inputs, and the prediction as an output. The inputs are
        given as for `Instance.run`. The command `rmlc eval --progressive` computes the scores. CompileError is raised
        if a prediction may depend on the truth of its row or of a later row.

        metrics: texts "[COLUMN=]NAME:PREDICTION:TRUTH", for instance "accuracy:guess:label". NAME is accuracy,
        precision, recall, f1, auc, logloss, mae, mse, rmse or r2.
        name: the node. Without a name it is `main`, or the only node of the file.
        defines: values for constants of the file or for inputs of the node, by name.
        window: the number of last rows to score, from 2 to 2^20. The default is all rows.
        warm_up: the number of first rows that the node learns from without scoring them.
        seed: the seed of random functions.
        cycles: the number of cycles, for a node without inputs.
        copy: as in `Instance.run`.
        missing: as in `Instance.run`.
        options: further options of the command, such as "--load-params", FILE.

        Returns the scores by column. Raises ValueError for a metric that does not exist, and RunError if the program
        fails or no row has a truth. Wrong inputs raise the errors of `Instance.run`.
        """
        from .evaluation import evaluate

        return evaluate(self, inputs, named, metrics, name, defines, window, warm_up, seed, cycles, copy, missing,
                        options)

    def _repr_html_(self) -> str:
        from ._html import module_html

        html: str = module_html(self)
        return html

    def __repr__(self) -> str:
        return f"<rmlc.Module {self.file}: {', '.join(self.nodes)}>"


class Node:
    """A compiled node. It is immutable, so threads may share it. `start` creates an instance that runs."""

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

    def _changed(self, **changes: Any) -> Node:
        """Returns the node compiled with other values of its request."""
        return Node(self._request._replace(**changes))

    @property
    def params(self) -> dict[str, Port]:
        """The parameters by path."""
        return {each[0]: Port(*each) for each in self._core.parameters}

    @property
    def assumptions(self) -> list[str]:
        """The conditions that must keep coming true so that rows become known. Empty if each cycle gives its row."""
        return [f"`{condition}` keeps coming true" for condition in dict.fromkeys(self._core.conditions)]

    @property
    def latency(self) -> int | None:
        """0 if each cycle returns its own row. None if some rows become known only in later cycles."""
        return 0 if self.immediate else None

    if TYPE_CHECKING:

        @overload
        def start(self, *, seed: int = 0, load: Path | bytes | None = None, params: Path | Mapping[str, Any] | None = None,
                  map: Iterable[str] = (), partial: bool = False, cast_params: bool = False, horizon: int = 0) -> Instance: ...

        @overload
        def start(self, *, key: str, share: Iterable[str] = (), seed: int = 0, load: Path | bytes | None = None,
                  params: Path | None = None, map: Iterable[str] = (), partial: bool = False, cast_params: bool = False,
                  horizon: int = 0) -> Keyed: ...

    def start(
        self,
        *,
        seed: int = 0,
        load: Path | bytes | None = None,
        params: Path | Mapping[str, Any] | None = None,
        map: Iterable[str] = (),
        partial: bool = False,
        cast_params: bool = False,
        horizon: int = 0,
        key: str | None = None,
        share: Iterable[str] = (),
    ) -> Instance | Keyed:
        """Returns an instance at cycle 0. With `key`, returns a `Keyed`, which has an instance for each key.

        seed: the seed of random functions.
        load: a saved state to continue from, as a file or as bytes.
        params: initial values of parameters, as a safetensors file or as a mapping of arrays by path.
        map, partial, cast_params: like `--map`, `--partial` and `--cast-params`, for a file of `params`.
        horizon: the longest allowed segment, in cycles. With 0, only the memory limits it.
        key: the name of the column with the key of each row.
        share: patterns of parameters that all keys share.
        """
        if key is not None:
            from ._keyed import Keyed

            if isinstance(params, Mapping):
                raise TypeError("params: expected a file, got a mapping; with `key=`, save the parameters to a file")
            return Keyed(self, key, share=share, seed=seed, load=load, params=params, map=map, partial=partial,
                         cast_params=cast_params, horizon=horizon)
        if share:
            raise TypeError("share: only keys can share parameters; give `key=` as well")
        from ._instance import Instance

        return Instance(self, seed=seed, load=load, params=params, map=map, partial=partial, cast_params=cast_params,
                        horizon=horizon)

    def trace(self, inputs: Any = None, *, watch: Iterable[str] = (), cycles: int | None = None, seed: int = 0,
              missing: str = "error", **named: Any) -> Any:
        """Runs the node and returns a `Chronogram` of its inputs, its outputs and the variables that match `watch`.

        inputs: as for `Instance.run`; an array is possible for a node with one input.
        watch: patterns of variables.
        cycles: the number of cycles, if no input determines it.
        seed: the seed of random functions.
        missing: as in `Instance.run`.
        """
        from ._tools import trace

        return trace(self, inputs, watch, cycles, seed, missing, named)

    def graph(self, depth: int | None = None) -> Any:
        """Draws the values of the node and their dependences. Returns an `SVG`.

        `depth` is the nesting depth down to which instances are expanded.
        """
        from ._tools import graph

        return graph(self._request, depth)

    def build(self, output: Path, *, emit: str = "exe", target: str = "", options: Iterable[str] = ()) -> pathlib.Path:
        """Builds what `rmlc build` builds: an executable, or with emit="lib" an object file and a C header.

        Returns the absolute path of the output.
        """
        from ._tools import build

        return build(self._request, output, emit, target, options)

    def __str__(self) -> str:
        inputs, outputs = (", ".join(map(str, ports)) for ports in (self.inputs, self.outputs))
        text = f"{self.name}({inputs}) -> ({outputs})"
        if self.immediate:
            return text + "; latency 0"
        return text + "; rows leave when they are known" + "".join(f"; {each}" for each in self.assumptions)

    def _repr_html_(self) -> str:
        from ._html import node_html

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
    """Reads and checks a source file.

    file: the path of a source (`.rml`) or of an ONNX model (`.onnx`).
    import_folders: folders to search for imports, like `-I`.

    Raises CompileError if the source has errors, and FileNotFoundError if there is no such file.
    """
    path = os.fspath(file)
    if not os.path.exists(path):
        raise FileNotFoundError(f"no such file: '{path}'")
    return Module(Request(path, import_folders=tuple(os.fspath(each) for each in import_folders)))


def compile(text: str | os.PathLike[str] | SupportsRead, *, name: str = "", import_folders: Iterable[Path] = ()) -> Module:
    """Checks a source, given as a text, as an open file or as a path (`pathlib.Path`).

    text: the source.
    name: the file name for messages. Imports are searched in its folder. An open file has its own name by default.
    import_folders: folders to search for imports, like `-I`.
    """
    if isinstance(text, os.PathLike):
        if name:
            raise TypeError("name: not allowed if `text` is a path, which is the name; leave it out")
        return load(text, import_folders=import_folders)
    read: object = text
    if not isinstance(text, (str, bytes)) and hasattr(text, "read"):
        own = getattr(text, "name", "")
        name = name or (own if isinstance(own, str) else "")
        refuse_device(text)
        read = text.read()
    source = read.decode("utf-8") if isinstance(read, bytes) else read
    if not isinstance(source, str):
        raise TypeError(f"text: expected a source, an open file or a path, got {type(source).__name__}")
    if not source.strip():
        raise ValueError("text: it is empty; expected a source with a node")
    if "\n" not in source and source.endswith((".rml", ".onnx")):
        raise ValueError(f"text: {source!r} looks like a path; use rmlc.load to read a file")
    return Module(Request(name or "<text>", source, import_folders=tuple(os.fspath(each) for each in import_folders)))
