"""ONNX models as modules. They are imported as R(ML)² programs, without any other package."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from ._arrays import describe, numpy
from ._node import Module, Path, Request
from ._tools import run_command


def load(path: Path, *, dim: Mapping[str, int] | None = None, fix: Mapping[str, Any] | None = None,
         state: Mapping[str, str] | None = None, trainable: str | Iterable[str] = (),
         stream: str | int | Iterable[str | int] = ()) -> Model:
    """Returns the model as a module with the node `main`, whose inputs and outputs are those of the model.

    dim: extents of free dimensions, by their names or by input and axis: {"batch": 1, "x.0": 1}.
    fix: constant values for inputs, which then are no longer inputs: {"axes": [0]}. A value is a number, or an array of
    the input's shape.
    state: inputs that take an output of the previous cycle: {"h": "h_out"}.
    trainable: patterns of tensors that become parameters: "fc*".
    stream: axes that become time, of the first input (0) or of an input given by name ("x.1").

    Raises CompileError for a model that cannot be imported (`rmlc explain E0807`) and for options that do not fit it,
    and FileNotFoundError if there is no such file.
    """
    file = os.fspath(path)
    if not os.path.exists(file):
        raise FileNotFoundError(f"no such file: '{file}'")
    if not file.endswith(".onnx"):
        raise ValueError(f"'{file}': expected the file of a model, whose name ends in .onnx")
    options = (
        tuple(f"{name}={_extent(name, value)}" for name, value in _mapping("dim", dim).items()),
        tuple(f"{name}={_value_text(name, value)}" for name, value in _mapping("fix", fix).items()),
        tuple(f"{name}={_text('state', value)}" for name, value in _mapping("state", state).items()),
        tuple(_text("trainable", each) for each in _several(trainable)),
        tuple(str(each) for each in _several(stream)),
    )
    return Model(Request(file, model=options))


def _mapping(option: str, value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"{option}: expected a mapping by name, got {describe(value)}")
    return value


def _several(value: Any) -> Iterable[Any]:
    return [value] if isinstance(value, (str, int)) else value


def _text(option: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{option}: expected names, got {describe(value)}")
    return value


def _extent(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"dim: {name}: expected an integer, got {describe(value)}")
    extent = int(value)
    if extent < 0:
        raise ValueError(f"dim: {name}: expected an extent of at least 0, got {extent}")
    return extent


def _value_text(name: str, value: Any) -> str:
    np = numpy()
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"fix: {name}: {error}") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"fix: {name}: expected numbers, got {describe(value)}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"fix: {name}: a value is infinite or NaN; give finite numbers")
    return json.dumps(array.tolist())


class Model(Module):
    """An ONNX model that has been read and checked. `node` compiles it."""

    @property
    def source(self) -> str:
        """The model as R(ML)² text. Its tensors are in a separate file, which `write` creates."""
        with tempfile.TemporaryDirectory(prefix="rmlc-") as folder:
            # The text contains the name of the file of tensors, which is derived from the name of the model.
            stem = pathlib.Path(self._request.file).stem
            return self.write(pathlib.Path(folder) / f"{stem}.rml").read_text(encoding="utf-8")

    def write(self, file: Path) -> pathlib.Path:
        """Writes the model as a source `file`, and its tensors into a file next to it (.safetensors). Returns the file.

        Raises FileExistsError if one of the two files exists.
        """
        target = pathlib.Path(os.fspath(file))
        for each in (target, target.with_suffix(".safetensors")):
            if each.exists():
                raise FileExistsError(f"'{each}' exists already; give another name or remove it")
        words = ["import", self._request.file, "-o", str(target)]
        for option, values in zip(("--dim", "--fix", "--state", "--trainable", "--stream"), self._request.model):
            for value in values:
                words += [option, value]
        done = run_command(words)
        if done.returncode != 0:
            raise OSError(done.stderr.rstrip("\n"))
        return target

    def diff(self, name: str = "") -> NoReturn:
        """Raises TypeError, because a model has no text to which a derivative could be added."""
        raise TypeError("an ONNX model has no text to which a derivative could be added; `write` it as a source, and "
                        "`rmlc.load` that source")
