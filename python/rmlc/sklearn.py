"""Estimators for scikit-learn, `Classifier` and `Regressor`, around programs that learn row by row."""

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
    _labels: tuple[str, ...]  # the allowed types of y

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
        """Compiles the program for data of these sizes, and starts the learner at cycle 0."""
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
                raise ValueError(f"program: it needs a node '{name}', but its nodes are: {', '.join(module.nodes)}")
            nodes.append(module.node(name, defines=defines))
        learner, self._predictor = nodes
        self._check(learner, ("x", "y"), sizes["features"])
        self._check(self._predictor, ("x",), sizes["features"])
        foreign = [path for path in self._predictor.params if path not in learner.params]
        if foreign:
            raise ValueError(f"program: `predict` has the parameter '{foreign[0]}', but the parameters of `learn` are: "
                             f"{', '.join(learner.params) or 'none'}; parameters are matched by path")
        self._random = check_random_state(self.random_state)
        self._learner: Instance = learner.start(seed=int(self._random.randint(2**31 - 1)))

    def _check(self, node: Node, names: tuple[str, ...], features: int) -> None:
        if tuple(port.name for port in node.inputs) != names:
            raise ValueError(f"program: `{node.name}` must have the inputs {', '.join(names)}, but it is {node}")
        if node.inputs[0].shape != (features,):
            raise ValueError(f"program: x of `{node.name}` must be a vector of {features} features, but it is "
                             f"{node.inputs[0].type}; declare `const features = 1;`, which fit sets")
        for port, types in zip(node.inputs, (("f32", "f64"), self._labels)):
            if port.dtype not in types or not port.always or (port.name == "y" and port.shape):
                raise ValueError(f"program: {port.name} of `{node.name}` must be {' or '.join(types)} in every cycle, "
                                 f"but it is {port.type}")

    def _learn(self, X: Any, y: Any, epochs: int, shuffle: bool) -> None:
        of_x, of_y = (port.numpy_dtype for port in self._learner.node.inputs)
        X, y = np.ascontiguousarray(X, of_x), np.ascontiguousarray(y, of_y)
        for _ in range(epochs):
            order = self._random.permutation(len(X)) if shuffle else slice(None)
            self._learner.run(x=np.ascontiguousarray(X[order]), y=np.ascontiguousarray(y[order]))
        for path, value in self._learner.params.items():
            if value.dtype.kind == "f" and not np.isfinite(value).all():
                raise ValueError(f"the parameter {path} is infinite or NaN after learning; scale the features "
                                 "(sklearn.preprocessing.StandardScaler), or use a smaller rate")

    def _outputs(self, X: Any) -> Any:
        """Returns the output of `predict` for each row. The rows are its cycles, starting at cycle 0."""
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
            raise ValueError(f"program: {port.name} of `predict` is not known for each of the {len(X)} rows; `predict` "
                             "must have a value in every cycle and not look ahead beyond the last row")
        return np.concatenate([part[port.name] for part in parts])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_") and hasattr(self, "_learner")


class Classifier(ClassifierMixin, _Estimator):  # type: ignore[misc, unused-ignore]
    """A classifier that learns from rows, one after the other. It is multinomial logistic regression, or any program.

        model = make_pipeline(StandardScaler(), rmlc.sklearn.Classifier(hidden=16)).fit(X, y)

    program: None for the built-in program, which has `hidden` units of tanh (0: none) and softmax, and learns by Adam
    with the rate `rate`. Otherwise a text, a pathlib.Path or a rmlc.Module with two nodes and two constants, which
    `fit` sets:

        const features = 1;  const classes = 1;
        node learn(x: f64[features], y: i32) -> (…)      -- y is from 0 to classes - 1; the outputs are not used
        node predict(x: f64[features]) -> (p: f64[classes])      -- probabilities

    The two nodes use the same parameters, which are matched by path. Floats may be f32.

    epochs: the number of passes over the data in `fit`. `partial_fit` makes one pass, in the given order.
    defines: values for further constants.
    shuffle: whether each epoch has a new order of rows.
    random_state: the source of the orders and the initial parameters.

    The features should have a size of about 1. Raises ValueError for wrong data, for parameters that become infinite or
    NaN, and for programs without the form above. Raises CompileError and RunError like the program.
    """

    _default = _CLASSIFIER
    _labels = ("i32", "i64")

    def fit(self, X: Any, y: Any) -> Classifier:
        """Learns from the start. `X` is (rows, features), and `y` is (rows,), with labels of any kind."""
        epochs = whole(self.epochs, "epochs", 1, 2**63 - 1)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        self._start()
        self._learn(X, labels, epochs, self.shuffle)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Classifier:
        """Continues to learn, with one pass over the rows `X`, `y`.

        `classes` contains all labels that will occur. The first call requires it.
        """
        first = not self.__sklearn_is_fitted__()
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", reset=first)
        check_classification_targets(y)
        if first:
            if classes is None:
                raise ValueError("classes: missing; the first call of partial_fit needs all labels that will occur")
            self.classes_ = np.unique(classes)
            self._start()
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes: expected those of the first call, {list(self.classes_)}, got "
                             f"{list(np.unique(classes))}")
        strange = np.setdiff1d(y, self.classes_)
        if len(strange):
            raise ValueError(f"y: the label {strange[0]!r} is not one of the classes {list(self.classes_)}")
        self._learn(X, np.searchsorted(self.classes_, y), 1, False)
        return self

    def _start(self) -> None:
        classes = len(self.classes_)
        self._begin({"features": self.n_features_in_, "classes": classes})
        port = self._predictor.outputs[0]
        if port.shape != (classes,):
            raise ValueError(f"program: {port.name} of `predict` must be {classes} probabilities, but it is "
                             f"{port.type}; declare `const classes = 1;`, which fit sets")

    def predict_proba(self, X: Any) -> Any:
        """Returns the probabilities, (rows, classes), in the order of `classes_`. `X` is (rows, features)."""
        return self._outputs(X)

    def predict(self, X: Any) -> Any:
        """Returns the most probable labels, (rows,). `X` is (rows, features)."""
        probabilities = self._outputs(X)
        return self.classes_[probabilities.argmax(axis=1)]


class Regressor(RegressorMixin, _Estimator):  # type: ignore[misc, unused-ignore]
    """A regressor that learns a number from rows, one after the other. It is linear regression, or any program.

    `program` is as for `Classifier`, but with a single constant, and with numbers instead of classes:

        const features = 1;
        node learn(x: f64[features], y: f64) -> (…)
        node predict(x: f64[features]) -> (y: f64)

    The built-in program has `hidden` units of tanh (0: none), and reduces the squared error by Adam with the rate
    `rate`. The other arguments are those of `Classifier`.
    """

    _default = _REGRESSOR
    _labels = ("f32", "f64")

    def fit(self, X: Any, y: Any) -> Regressor:
        """Learns from the start. `X` is (rows, features), and `y` is (rows,)."""
        epochs = whole(self.epochs, "epochs", 1, 2**63 - 1)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)
        self._start()
        self._learn(X, y, epochs, self.shuffle)
        return self

    def partial_fit(self, X: Any, y: Any) -> Regressor:
        """Continues to learn, with one pass over the rows `X`, `y`."""
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
            raise ValueError(f"program: {port.name} of `predict` must be a number, but it is {port.type}")

    def predict(self, X: Any) -> Any:
        """Returns the predictions, (rows,). `X` is (rows, features)."""
        return self._outputs(X)
