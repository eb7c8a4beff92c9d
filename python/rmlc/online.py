"""Learning from one row at a time, where features are dicts as in River: `learn_one`, `predict_one`.

    model = rmlc.online.BinaryClassifier(rate=0.1)
    for x, y in rows:                      # x: {"age": 31, "colour": "red"}
        p = model.predict_proba_one(x)
        model.learn_one(x, y)

Features become elements of a vector in the order in which they are met; one that a row has not is 0. A text makes a
feature of its own that is 1: "colour=red". Where there are more than there is room for, the program is compiled for
twice as many and goes on: everything that it keeps is carried over, and what is new begins as the program says.
"""

from __future__ import annotations

import importlib
import json
import math
import struct
import zlib
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from ._arrays import describe, whole
from ._errors import RunError
from ._instance import Instance
from ._node import Module, compile

LOGISTIC = """
const features = 1;
const rate: f64 = 0.01;
node model(x) -> (z)
  weights = param(zeros([features]));
  z = dot(weights, x) + param(0.0);
node main(x: f64[features], y: f64, learn: bool) -> (p: f64)
  z, _ = diff model(x, learn, (rate * (y - p)) when learn);
  p = sigmoid(z);
"""
SOFTMAX = """
const features = 1;
const classes = 1;
const rate: f64 = 0.01;
node model(x) -> (z)
  weights = param(zeros([classes, features]));
  z = matmul(weights, x) + param(zeros([classes]));
node main(x: f64[features], y: i32, learn: bool) -> (p: f64[classes])
  z, _ = diff model(x, learn, (rate * (cast(f64, one_hot(y, classes)) - p)) when learn);
  p = softmax(z);
"""
LINEAR = """
const features = 1;
const rate: f64 = 0.01;
node model(x) -> (z)
  weights = param(zeros([features]));
  z = dot(weights, x) + param(0.0);
node main(x: f64[features], y: f64, learn: bool) -> (z: f64)
  z, _ = diff model(x, learn, (rate * (y - z)) when learn);
"""


class _Learner:
    """One instance, which is rebuilt when there is no more room."""

    _program: str
    _label: str  # the type of y
    _supervised = True  # what River's pipelines ask for

    def __init__(self, program: str | Module | None = None, *, rate: float | None = None,
                 defines: Mapping[str, Any] | None = None, room: int = 16, seed: int = 0) -> None:
        if program is not None and not isinstance(program, (str, Module)):
            raise TypeError(f"program: expected a text or a rmlc.Module, got {describe(program)}")
        self.program, self.rate, self.defines, self.seed = program, rate, defines, seed
        self.room = whole(room, "room", 1, 2**31 - 1)
        if isinstance(program, Module):
            self._module = program
        else:
            self._module = compile(program or self._program, name="<rmlc.online>")
        self._places: dict[str, int] = {}
        self._instance = self._compiled()

    @property
    def features(self) -> list[str]:
        """Names of features, in the order of the elements of x."""
        return list(self._places)

    @property
    def instance(self) -> Instance:
        """What runs; another one after features have been met for which there was no room."""
        return self._instance

    def _sizes(self) -> dict[str, int]:
        return {"features": self.room}

    def _output(self) -> tuple[int, ...]:
        return ()

    def _compiled(self) -> Instance:
        rate = {} if self.rate is None else {"rate": float(self.rate)}
        node = self._module.node(defines={**(self.defines or {}), **rate, **self._sizes()})
        wanted = {"x": ("f64", (self.room,)), "y": (self._label, ()), "learn": ("bool", ())}
        found = {port.name: (port.dtype, port.shape) for port in node.inputs if port.always}
        if found != wanted or not node.immediate:
            raise ValueError(f"program: it must answer at once and have the inputs x: f64[features], y: {self._label}, "
                             f"learn: bool, but is {node}")
        first = node.outputs[0]
        if first.dtype != "f64" or first.shape != self._output() or not first.always:
            raise ValueError(f"program: its first output must be f64{list(self._output()) or ''} at every cycle, "
                             f"but is {first.type}")
        self._x = np.zeros(self.room)
        self._single = len(node.outputs) == 1
        return node.start(seed=self.seed)

    def _rebuild(self) -> None:
        old, zero = self._instance, 0 if self._label == "i32" else 0.0
        new = self._compiled()
        # Memories lie in place only after a cycle; from this one nothing is learned.
        for each in (old, new):
            if each.cycle == 0:
                each.step(np.zeros(each.node.inputs[0].shape), zero, False)
        state = bytearray(new.save())
        views, known = _tensors(state), _tensors(old.save())
        for path, into in views.items():
            if path in known and path != "cycles" and not path.startswith("input "):
                into[...] = _corner(known[path], into, path)
        new.load(_checked(state))
        self._instance = new

    def _vector(self, x: Mapping[str, Any], grow: bool) -> Any:
        if not isinstance(x, Mapping):
            raise TypeError(f"x: expected a dict of features, got {describe(x)}")
        given: list[tuple[str, float]] = []
        for name, value in x.items():
            if isinstance(value, str):
                given.append((f"{name}={value}", 1.0))
                continue
            try:
                number = float(value)
            except (TypeError, ValueError):
                raise TypeError(f"x: {name!r}: expected a number or a text, got {describe(value)}") from None
            if not math.isfinite(number):
                raise ValueError(f"x: {name!r} is {number}; leave out what is not known")
            given.append((str(name), number))
        if grow:
            for name, _ in given:
                self._places.setdefault(name, len(self._places))
            if len(self._places) > self.room:
                while len(self._places) > self.room:
                    self.room *= 2
                self._rebuild()
        self._x.fill(0.0)
        for name, number in given:
            place = self._places.get(name)
            if place is not None:
                self._x[place] = number
        return self._x

    def _run(self, x: Any, y: Any, learn: bool) -> Any:
        row = self._instance.step(x, y, learn)
        return row if self._single else row[0]


def _tensors(state: bytes | bytearray) -> dict[str, Any]:
    """What a saved state holds, by name, with an axis of bytes; of a bytearray they are views."""
    (size,) = struct.unpack_from("<Q", state)
    made = {}
    for name, about in json.loads(state[8 : 8 + size]).items():
        if name != "__metadata__":
            begin, end = about["data_offsets"]
            count = max(1, math.prod(about["shape"]))
            raw = np.frombuffer(state, np.uint8)[8 + size + begin : 8 + size + end]
            made[name] = raw.reshape(*about["shape"], (end - begin) // count)
    return made


def _checked(state: bytearray) -> bytes:
    """With its checksum: the CRC-32 of all, taken with zeros in its own place."""
    at = state.index(b'"checksum":"') + len(b'"checksum":"')
    state[at : at + 8] = b"00000000"
    state[at : at + 8] = b"%08x" % zlib.crc32(state)
    return bytes(state)


def _corner(value: Any, into: Any, path: str) -> Any:
    """`into`, with what was known before at its beginning."""
    if np.ndim(value) != np.ndim(into) or any(a > b for a, b in zip(np.shape(value), np.shape(into))):
        raise RunError(f"{path}: its shape is {np.shape(value)}, and {np.shape(into)} when there are more features, so "
                       "it cannot be carried over; begin with more `room`")
    made = np.array(into)
    made[tuple(slice(size) for size in np.shape(value))] = value
    return made


class BinaryClassifier(_Learner):
    """Two classes, False and True: logistic regression with plain gradient steps, or a program of one's own.

    program: a text or a module like `LOGISTIC`: a node `main` (or the only one) with these inputs and a first output,
    the probability of True, known at once. Where `learn` is false it must not change what it answers. The constant
    `features` is set to the room that there is.

        node main(x: f64[features], y: f64, learn: bool) -> (p: f64)

    rate: the constant `rate` of the program, 0.01 if none is given.  defines: further ones.  room: for so many features
    at first.  seed: of random functions.  Raises CompileError; ValueError where a program is not as above.
    """

    _program, _label = LOGISTIC, "f64"

    def learn_one(self, x: Mapping[str, Any], y: bool) -> None:
        """x: numbers and texts by name; y: False or True (or 0, 1). Learns from it once."""
        if y not in (False, True):
            raise ValueError(f"y: expected False or True, got {describe(y)}")
        self._run(self._vector(x, True), float(y), True)

    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[bool, float]:
        """Probabilities of False and True."""
        p = float(self._run(self._vector(x, False), 0.0, False))
        return {False: 1.0 - p, True: p}

    def predict_one(self, x: Mapping[str, Any]) -> bool:
        """The more probable one; False if both are."""
        return self.predict_proba_one(x)[True] > 0.5


class Classifier(_Learner):
    """Any number of classes: softmax regression, or a program like `SOFTMAX`.

        node main(x: f64[features], y: i32, learn: bool) -> (p: f64[classes])

    New labels appear as new features do: the program is compiled for one more, by its constant `classes`. The other
    arguments are those of `BinaryClassifier`.
    """

    _program, _label = SOFTMAX, "i32"
    _multiclass = True

    def __init__(self, program: str | Module | None = None, *, rate: float | None = None,
                 defines: Mapping[str, Any] | None = None, room: int = 16, seed: int = 0) -> None:
        self._labels: dict[Hashable, int] = {}
        super().__init__(program, rate=rate, defines=defines, room=room, seed=seed)

    @property
    def classes(self) -> list[Hashable]:
        """Labels, in the order in which they were met."""
        return list(self._labels)

    def _sizes(self) -> dict[str, int]:
        return {"features": self.room, "classes": max(1, len(self._labels))}

    def _output(self) -> tuple[int, ...]:
        return (max(1, len(self._labels)),)

    def learn_one(self, x: Mapping[str, Any], y: Hashable) -> None:
        """x: numbers and texts by name; y: a label of any kind. Learns from it once."""
        self._vector(x, False)  # what is wrong with x is said before y is known
        if y not in self._labels:
            self._labels[y] = len(self._labels)
            if len(self._labels) > 1:
                self._rebuild()
        self._run(self._vector(x, True), self._labels[y], True)

    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[Hashable, float]:
        """Probabilities of the labels that were met; empty before the first."""
        p = self._run(self._vector(x, False), 0, False)
        return {label: float(p[k]) for label, k in self._labels.items()}

    def predict_one(self, x: Mapping[str, Any]) -> Hashable | None:
        """The most probable label; None before the first."""
        p = self.predict_proba_one(x)
        return max(p, key=p.__getitem__) if p else None


class Regressor(_Learner):
    """A number: linear regression with plain gradient steps against half the square of the error, or a program like
    `LINEAR`.

        node main(x: f64[features], y: f64, learn: bool) -> (z: f64)

    The arguments are those of `BinaryClassifier`.
    """

    _program, _label = LINEAR, "f64"

    def learn_one(self, x: Mapping[str, Any], y: float) -> None:
        """x: numbers and texts by name; y: a finite number. Learns from it once."""
        try:
            number = float(y)
        except (TypeError, ValueError):
            raise TypeError(f"y: expected a number, got {describe(y)}") from None
        if not math.isfinite(number):
            raise ValueError(f"y: expected a finite number, got {number}")
        self._run(self._vector(x, True), number, True)

    def predict_one(self, x: Mapping[str, Any]) -> float:
        """What the program says of x."""
        return float(self._run(self._vector(x, False), 0.0, False))


def _register() -> None:
    """Metrics and evaluations of River ask for classes of its own, if it is there."""
    try:
        base = importlib.import_module("river.base")
    except ImportError:
        return
    base.Classifier.register(BinaryClassifier)
    base.Classifier.register(Classifier)
    base.Regressor.register(Regressor)


_register()
