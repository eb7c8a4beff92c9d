"""Estimators for scikit-learn around programs that learn row by row: `Classifier` and `Regressor`."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arrays import describe, whole
from ._instance import Instance
from ._node import Module, Node, compile, load

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError("rmlc.sklearn needs scikit-learn: `pip install 'scikit-learn>=1.6'`") from error

Program = str | pathlib.Path | Module

_HEAD = """
import nn;
import optim;
const features = 1;
const rate: f64 = 0.01;
"""
# Without a hidden layer this is multinomial logistic regression.
_CLASSIFIER = """
const classes = 1;
node model(x) -> (scores)
  scores = nn.dense(classes, {last});

node learn(x: f64[features], y: i32) -> (scores: f64[classes])
  wanted = cast(f64, one_hot(y, classes));
  scores, _ = diff[optim.adam(rate)] model(x, true, softmax(scores) - wanted);

node predict(x: f64[features]) -> (probabilities: f64[classes])
  probabilities = softmax(model(x));
"""
_REGRESSOR = """
node model(x) -> (y)
  y = nn.dense(1, {last})[0];

node learn(x: f64[features], y: f64) -> (found: f64)
  found, _ = diff[optim.adam(rate)] model(x, true, found - y);

node predict(x: f64[features]) -> (y: f64)
  y = model(x);
"""


class _Estimator(BaseEstimator):  # type: ignore[misc, unused-ignore]
    _default: str
    _labels: tuple[str, ...]  # types that y may have

    def __init__(self, program: Program | None = None, *, epochs: int = 100, rate: float = 0.01, hidden: int = 0,
                 defines: Mapping[str, Any] | None = None, shuffle: bool = True, random_state: Any = None) -> None:
        self.program = program
        self.epochs = epochs
        self.rate = rate
        self.hidden = hidden
        self.defines = defines
        self.shuffle = shuffle
        self.random_state = random_state

    def _begin(self, sizes: dict[str, int]) -> None:
        """Compiles the program for data of these sizes; the learner begins at cycle 0."""
        if self.program is None:
            hidden = whole(self.hidden, "hidden", 0, 2**31 - 1)
            last = f"tanh(nn.dense({hidden}, x))" if hidden else "x"
            module = compile(_HEAD + self._default.format(last=last), name="<rmlc.sklearn>")
        elif isinstance(self.program, Module):
            module = self.program
        elif isinstance(self.program, pathlib.PurePath):
            module = load(self.program)
        elif isinstance(self.program, str):
            module = compile(self.program, name="<program>")
        else:
            raise TypeError("program: expected a text, a pathlib.Path or a rmlc.Module, got "
                            + describe(self.program))
        rate = {"rate": float(self.rate)} if self.program is None else {}
        defines = {**sizes, **rate, **(self.defines or {})}
        nodes: list[Node] = []
        for name in ("learn", "predict"):
            if name not in module.nodes:
                raise ValueError(f"program: it has no node '{name}'; its nodes are: {', '.join(module.nodes)}")
            nodes.append(module.node(name, defines=defines))
        learner, self._predictor = nodes
        self._check(learner, ("x", "y"), sizes["features"])
        self._check(self._predictor, ("x",), sizes["features"])
        foreign = [path for path in self._predictor.params if path not in learner.params]
        if foreign:
            raise ValueError(f"program: `predict` has a parameter '{foreign[0]}', but `learn` has "
                             f"{', '.join(learner.params) or 'none'}: they are matched by path")
        self._random = check_random_state(self.random_state)
        self._learner: Instance = learner.start(seed=int(self._random.randint(2**31 - 1)))

    def _check(self, node: Node, names: tuple[str, ...], features: int) -> None:
        if tuple(port.name for port in node.inputs) != names:
            raise ValueError(f"program: `{node.name}` must have the inputs {', '.join(names)}, but is {node}")
        if node.inputs[0].shape != (features,):
            raise ValueError(f"program: x of `{node.name}` must be a vector of {features} features, but is "
                             f"{node.inputs[0].type}; `const features = 1;` is set by fit")
        for port, types in zip(node.inputs, (("f32", "f64"), self._labels)):
            if port.dtype not in types or not port.always or (port.name == "y" and port.shape):
                raise ValueError(f"program: {port.name} of `{node.name}` must be {' or '.join(types)} at every cycle, "
                                 f"but is {port.type}")

    def _learn(self, X: Any, y: Any, epochs: int, shuffle: bool) -> None:
        of_x, of_y = (port.numpy_dtype for port in self._learner.node.inputs)
        X, y = np.ascontiguousarray(X, of_x), np.ascontiguousarray(y, of_y)
        for _ in range(epochs):
            order = self._random.permutation(len(X)) if shuffle else slice(None)
            self._learner.run(x=np.ascontiguousarray(X[order]), y=np.ascontiguousarray(y[order]))
        for path, value in self._learner.params.items():
            if value.dtype.kind == "f" and not np.isfinite(value).all():
                raise ValueError(f"the parameter {path} is infinite or NaN after learning: scale the features "
                                 "(sklearn.preprocessing.StandardScaler), or take a smaller rate")

    def _outputs(self, X: Any) -> Any:
        """What `predict` says of each row, from its first cycle on."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        params = self._learner.params
        instance = self._predictor.start(seed=self._learner.seed,
                                         params={path: params[path] for path in self._predictor.params})
        port = self._predictor.outputs[0]
        parts = [instance.run(x=np.ascontiguousarray(X, self._predictor.inputs[0].numpy_dtype))]
        if len(parts[0]) < len(X):
            parts.append(instance.finish())
        if not port.always or sum(map(len, parts)) != len(X):
            raise ValueError(f"program: {port.name} of `predict` is not known for each of the {len(X)} rows")
        return np.concatenate([part[port.name] for part in parts])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_") and hasattr(self, "_learner")


class Classifier(ClassifierMixin, _Estimator):  # type: ignore[misc, unused-ignore]
    """Learns classes from rows, one after the other: multinomial logistic regression, or a program of one's own.

        model = make_pipeline(StandardScaler(), rmlc.sklearn.Classifier(hidden=16)).fit(X, y)

    program: None for the one that is built in: `hidden` units of tanh (0: none) and softmax, moved by Adam with `rate`.
    Else a text, a pathlib.Path or a rmlc.Module with two nodes and two constants, which `fit` sets:

        const features = 1;  const classes = 1;
        node learn(x: f64[features], y: i32) -> (…)      -- y from 0 to classes - 1; what it yields is not looked at
        node predict(x: f64[features]) -> (p: f64[classes])      -- probabilities

    Both use the same parameters, matched by path. Floats may be f32.
    epochs: passes over the data of `fit`; `partial_fit` makes one, in the given order.  defines: further constants.
    shuffle: in each epoch another order.  random_state: of orders and first parameters.

    Features should be of about the size of 1. Raises ValueError for wrong data, parameters that run away and programs
    that are not as above; CompileError; RunError.
    """

    _default = _CLASSIFIER
    _labels = ("i32", "i64")

    def fit(self, X: Any, y: Any) -> Classifier:
        """X: (rows, features); y: (rows,), labels of any kind. Learns from the start."""
        epochs = whole(self.epochs, "epochs", 1, 2**63 - 1)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        self._start()
        self._learn(X, labels, epochs, self.shuffle)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Classifier:
        """Goes on from rows X, y, once. `classes`: all labels there will be; needed the first time."""
        first = not self.__sklearn_is_fitted__()
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", reset=first)
        check_classification_targets(y)
        if first:
            if classes is None:
                raise ValueError("classes: all labels there will be, to be given at the first call of partial_fit")
            self.classes_ = np.unique(classes)
            self._start()
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes: {list(np.unique(classes))}, but at the first call they were "
                             f"{list(self.classes_)}")
        strange = np.setdiff1d(y, self.classes_)
        if len(strange):
            raise ValueError(f"y: the label {strange[0]!r} is none of the classes {list(self.classes_)}")
        self._learn(X, np.searchsorted(self.classes_, y), 1, False)
        return self

    def _start(self) -> None:
        classes = len(self.classes_)
        self._begin({"features": self.n_features_in_, "classes": classes})
        port = self._predictor.outputs[0]
        if port.shape != (classes,):
            raise ValueError(f"program: {port.name} of `predict` must be {classes} probabilities, but is {port.type}; "
                             "`const classes = 1;` is set by fit")

    def predict_proba(self, X: Any) -> Any:
        """X: (rows, features). Returns (rows, classes), in the order of `classes_`."""
        return self._outputs(X)

    def predict(self, X: Any) -> Any:
        """X: (rows, features). Returns (rows,), the most probable labels."""
        probabilities = self._outputs(X)
        return self.classes_[probabilities.argmax(axis=1)]


class Regressor(RegressorMixin, _Estimator):  # type: ignore[misc, unused-ignore]
    """Learns a number from rows, one after the other: linear regression, or a program of one's own.

    program: as for `Classifier`, with one constant, and numbers:

        const features = 1;
        node learn(x: f64[features], y: f64) -> (…)
        node predict(x: f64[features]) -> (y: f64)

    The one that is built in has `hidden` units of tanh (0: none), and is moved by Adam with `rate` against the square
    of the error. The other arguments are those of `Classifier`.
    """

    _default = _REGRESSOR
    _labels = ("f32", "f64")

    def fit(self, X: Any, y: Any) -> Regressor:
        """X: (rows, features); y: (rows,). Learns from the start."""
        epochs = whole(self.epochs, "epochs", 1, 2**63 - 1)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)
        self._start()
        self._learn(X, y, epochs, self.shuffle)
        return self

    def partial_fit(self, X: Any, y: Any) -> Regressor:
        """Goes on from rows X, y, once."""
        first = not self.__sklearn_is_fitted__()
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True, reset=first)
        if first:
            self._start()
        self._learn(X, y, 1, False)
        return self

    def _start(self) -> None:
        self._begin({"features": self.n_features_in_})
        port = self._predictor.outputs[0]
        if port.shape or port.dtype not in ("f32", "f64"):
            raise ValueError(f"program: {port.name} of `predict` must be a number, but is {port.type}")

    def predict(self, X: Any) -> Any:
        """X: (rows, features). Returns (rows,)."""
        return self._outputs(X)
