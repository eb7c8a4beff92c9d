"""Learning from one row at a time, with features as dicts like in River: `learn_one`, `predict_one`.

    model = rmlc.online.BinaryClassifier(rate=0.1)
    for x, y in rows:                      # x: {"age": 31, "colour": "red"}
        p = model.predict_proba_one(x)
        model.learn_one(x, y)

Features become elements of a vector, in the order of their first occurrence. A feature that a row does not have is 0. A
text becomes a separate feature with the value 1: "colour=red". If there are more features than room for them, the
program is compiled for twice as many. All its state is carried over, and the new elements start with the values of the
program.
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
    """A learner with one instance, which is rebuilt when there is no more room for features."""

    _program: str
    _label: str  # type of the labels y
    _supervised = True  # River's pipelines read this attribute

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
        """The names of the features, in the order of the elements of x."""
        return list(self._places)

    @property
    def instance(self) -> Instance:
        """The running instance. It is replaced when there is no more room for new features."""
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
            raise ValueError("program: the node must have latency 0 and the inputs x: f64[features], "
                             f"y: {self._label}, learn: bool, but it is {node}")
        first = node.outputs[0]
        if first.dtype != "f64" or first.shape != self._output() or not first.always:
            raise ValueError(f"program: its first output must be f64{list(self._output()) or ''} in every cycle, "
                             f"but it is {first.type}")
        self._x = np.zeros(self.room)
        self._single = len(node.outputs) == 1
        return node.start(seed=self.seed)

    def _rebuild(self) -> None:
        old, zero = self._instance, 0 if self._label == "i32" else 0.0
        new = self._compiled()
        # The memories get their places in the first cycle. Run one that does not learn.
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
                raise ValueError(f"x: {name!r} is {number}; leave out features without a value")
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
    """Returns the tensors of a saved state by name, with a last axis of bytes. Those of a bytearray are views."""
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
    """Returns the state with a new checksum: the CRC-32 of all bytes, with zeros in the place of the checksum."""
    at = state.index(b'"checksum":"') + len(b'"checksum":"')
    state[at : at + 8] = b"00000000"
    state[at : at + 8] = b"%08x" % zlib.crc32(state)
    return bytes(state)


def _corner(value: Any, into: Any, path: str) -> Any:
    """Returns `into`, with the old value at its beginning."""
    if np.ndim(value) != np.ndim(into) or any(a > b for a, b in zip(np.shape(value), np.shape(into))):
        raise RunError(f"{path}: its shape {np.shape(value)} becomes {np.shape(into)} for more features, so its value "
                       "cannot be carried over; give more `room` at the start")
    made = np.array(into)
    made[tuple(slice(size) for size in np.shape(value))] = value
    return made


class BinaryClassifier(_Learner):
    """A classifier for the classes False and True. It is logistic regression with plain gradient steps, or any program.

    program: a text or a module like `LOGISTIC`. Its node `main`, or its only node, has the inputs below. Its first
    output is the probability of True, known in the same cycle. A cycle where `learn` is false must not change later
    predictions. The constant `features` is set to the number of features for which there is room.

        node main(x: f64[features], y: f64, learn: bool) -> (p: f64)

    rate: the value of the constant `rate` of the program. The default of the built-in program is 0.01.
    defines: values for further constants.
    room: the number of features for which there is room at the start.
    seed: the seed of random functions.

    Raises CompileError, and ValueError if a program does not have the form above.
    """

    _program, _label = LOGISTIC, "f64"

    def learn_one(self, x: Mapping[str, Any], y: bool) -> None:
        """Learns from one row. `x` holds numbers and texts by name, and `y` is False or True (or 0 or 1)."""
        if y not in (False, True):
            raise ValueError(f"y: expected False or True, got {describe(y)}")
        self._run(self._vector(x, True), float(y), True)

    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[bool, float]:
        """Returns the probabilities of False and True for the row `x`."""
        p = float(self._run(self._vector(x, False), 0.0, False))
        return {False: 1.0 - p, True: p}

    def predict_one(self, x: Mapping[str, Any]) -> bool:
        """Returns the more probable class for the row `x`, and False if both are equally probable."""
        return self.predict_proba_one(x)[True] > 0.5


class Classifier(_Learner):
    """A classifier for any number of classes. It is softmax regression, or a program like `SOFTMAX`.

        node main(x: f64[features], y: i32, learn: bool) -> (p: f64[classes])

    For a new label, the program is compiled again with one more class, by its constant `classes`. The arguments are
    those of `BinaryClassifier`.
    """

    _program, _label = SOFTMAX, "i32"
    _multiclass = True

    def __init__(self, program: str | Module | None = None, *, rate: float | None = None,
                 defines: Mapping[str, Any] | None = None, room: int = 16, seed: int = 0) -> None:
        self._labels: dict[Hashable, int] = {}
        super().__init__(program, rate=rate, defines=defines, room=room, seed=seed)

    @property
    def classes(self) -> list[Hashable]:
        """The labels, in the order of their first occurrence."""
        return list(self._labels)

    def _sizes(self) -> dict[str, int]:
        return {"features": self.room, "classes": max(1, len(self._labels))}

    def _output(self) -> tuple[int, ...]:
        return (max(1, len(self._labels)),)

    def learn_one(self, x: Mapping[str, Any], y: Hashable) -> None:
        """Learns from one row. `x` holds numbers and texts by name, and `y` is a label of any kind."""
        self._vector(x, False)  # checks x before y becomes a known label
        if y not in self._labels:
            self._labels[y] = len(self._labels)
            if len(self._labels) > 1:
                self._rebuild()
        self._run(self._vector(x, True), self._labels[y], True)

    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[Hashable, float]:
        """Returns the probabilities of the known labels for the row `x`. It is empty before the first label."""
        p = self._run(self._vector(x, False), 0, False)
        return {label: float(p[k]) for label, k in self._labels.items()}

    def predict_one(self, x: Mapping[str, Any]) -> Hashable | None:
        """Returns the most probable label for the row `x`, and None before the first label."""
        p = self.predict_proba_one(x)
        return max(p, key=p.__getitem__) if p else None


class Regressor(_Learner):
    """A regressor for a number. It is linear regression, or a program like `LINEAR`.

        node main(x: f64[features], y: f64, learn: bool) -> (z: f64)

    The built-in program makes plain gradient steps that reduce half the squared error. The arguments are those of
    `BinaryClassifier`.
    """

    _program, _label = LINEAR, "f64"

    def learn_one(self, x: Mapping[str, Any], y: float) -> None:
        """Learns from one row. `x` holds numbers and texts by name, and `y` is a finite number."""
        try:
            number = float(y)
        except (TypeError, ValueError):
            raise TypeError(f"y: expected a number, got {describe(y)}") from None
        if not math.isfinite(number):
            raise ValueError(f"y: expected a finite number, got {number}")
        self._run(self._vector(x, True), number, True)

    def predict_one(self, x: Mapping[str, Any]) -> float:
        """Returns the prediction of the program for the row `x`."""
        return float(self._run(self._vector(x, False), 0.0, False))


def _register() -> None:
    """Registers the classes with River, if it is installed. Its metrics and evaluations check for its base classes."""
    try:
        base = importlib.import_module("river.base")
    except ImportError:
        return
    base.Classifier.register(BinaryClassifier)
    base.Classifier.register(Classifier)
    base.Regressor.register(Regressor)


_register()
