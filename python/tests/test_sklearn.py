"""Estimators, by scikit-learn's own checks, and compared with its models and with the learning rule in NumPy."""

from __future__ import annotations

import pathlib
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import rmlc

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_moons
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from rmlc.sklearn import Classifier, Regressor

SOFTMAX = """
const features = 1;
const classes = 1;
const rate: f64 = 0.1;
node model(x) -> (scores)
  scores = matmul(param(zeros([classes, features])), x) + param(zeros([classes]));
node learn(x: f64[features], y: i32) -> (scores: f64[classes])
  scores, _ = diff model(x, true, -rate * (softmax(scores) - cast(f64, one_hot(y, classes))));
node predict(x: f64[features]) -> (p: f64[classes])
  p = softmax(model(x));
"""
LEAST_SQUARES = """
const features = 1;
node model(x) -> (y)
  y = sum(param(zeros([features])) * x) + param(0.0);
node learn(x: f32[features], y: f32) -> (e: f32)
  o, _ = diff model(x, true, -0.02 * e);
  e = o - y;
node predict(x: f32[features]) -> (y: f32)
  y = model(x);
"""


@pytest.mark.parametrize("estimator", [Classifier(), Regressor(), Classifier(hidden=8), Regressor(hidden=8)], ids=repr)
def test_estimator_checks(estimator: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = [(each["check_name"], each["exception"]) for each in found if each["status"] not in ("passed", "skipped")]
    assert not failed and len(found) > 45


def test_beside_the_models_of_scikit_learn() -> None:
    X, y = load_iris(return_X_y=True)
    ours = make_pipeline(StandardScaler(), Classifier(random_state=0))
    theirs = make_pipeline(StandardScaler(), LogisticRegression())
    assert cross_val_score(ours, X, y).mean() >= cross_val_score(theirs, X, y).mean() - 0.02
    X, y = load_diabetes(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = Regressor(epochs=200, rate=0.02, random_state=0).fit(X, y)
    assert ours.score(X, y) >= LinearRegression().fit(X, y).score(X, y) - 0.02


def test_a_hidden_layer_learns_what_no_line_divides() -> None:
    X, y = make_moons(300, noise=0.1, random_state=0)
    X = StandardScaler().fit_transform(X)
    assert Classifier(random_state=0).fit(X, y).score(X, y) < 0.92
    assert Classifier(hidden=16, random_state=0).fit(X, y).score(X, y) > 0.97
    x = np.linspace(-2, 2, 200)[:, None]
    wave = np.sin(2 * x[:, 0])
    assert Regressor(random_state=0).fit(x, wave).score(x, wave) < 0.5
    assert Regressor(hidden=16, random_state=0, epochs=400).fit(x, wave).score(x, wave) > 0.97


def softmax_by_hand(X: Any, y: Any, epochs: int) -> Any:
    w, b = np.zeros((3, X.shape[1])), np.zeros(3)
    for _ in range(epochs):
        for row, label in zip(X, y):
            scores = w @ row + b
            p = np.exp(scores - scores.max())
            step = 0.1 * (p / p.sum() - np.eye(3)[label])
            w, b = w - np.outer(step, row), b - step
    scores = X @ w.T + b
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def programs(folder: pathlib.Path) -> list[Any]:
    file = folder / "softmax.rml"
    file.write_text(SOFTMAX)
    return [SOFTMAX, file, rmlc.compile(SOFTMAX)]


def test_programs_of_ones_own(tmp_path: pathlib.Path) -> None:
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    names = np.array(["c", "a", "b"])[y]
    wanted = softmax_by_hand(X, np.array([2, 0, 1])[y], 3)
    for program in programs(tmp_path):
        model = clone(Classifier(program, epochs=3, shuffle=False)).fit(X, names)
        assert list(model.classes_) == ["a", "b", "c"]
        np.testing.assert_allclose(model.predict_proba(X), wanted, rtol=1e-9)
        assert list(model.predict(X[:3])) == ["c"] * 3
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        # Learning row by row equals one epoch in the given order. An unpickled estimator continues with the same bits.
        parts = clone(model)
        for rows in np.array_split(np.arange(len(X)), 7):
            parts.partial_fit(X[rows], names[rows], classes=["a", "b", "c"])
        np.testing.assert_allclose(parts.predict_proba(X), softmax_by_hand(X, np.array([2, 0, 1])[y], 1), rtol=1e-9)
        for each in (again, model):
            each.partial_fit(X, names)
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_regression_in_single_precision() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    y = X @ [1.0, -2.0] + 0.5
    model = Regressor(LEAST_SQUARES, epochs=5, random_state=0).fit(X, y)
    assert model.predict(X).dtype == np.float32
    np.testing.assert_allclose(model.predict(np.array([[1.0, 0.0], [0.0, 1.0]])), [1.5, -1.5], rtol=1e-3)


def test_parameters_are_searched() -> None:
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(Classifier(epochs=5, random_state=0), {"rate": [1e-5, 0.05]}, cv=3).fit(X, y)
    assert search.best_params_ == {"rate": 0.05}
    defined = GridSearchCV(Classifier(SOFTMAX, epochs=5, random_state=0), {"defines": [{"rate": 1e-6}, {"rate": 0.05}]},
                           cv=3).fit(X, y)
    assert defined.best_params_ == {"defines": {"rate": 0.05}}


X4, LABELS = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1])


@pytest.mark.parametrize("options, error, says", [
    ({"program": "node main() -> (y: i32)\n  y = 1;\n"}, ValueError, "needs a node 'learn', but its nodes are: main"),
    ({"program": SOFTMAX.replace("y: i32", "label: i32").replace("(y,", "(label,")}, ValueError,
     "inputs x, y, but it is"),
    ({"program": SOFTMAX.replace("i32", "f64").replace("one_hot(y", "one_hot(cast(i32, y)")}, ValueError,
     "y of `learn` must be i32 or i64 in every cycle, but it is f64"),
    ({"program": SOFTMAX.replace("p: f64[classes])\n  p = softmax(model(x))", "p: f64)\n  p = sum(model(x))")},
     ValueError, "must be 2 probabilities, but it is f64"),
    ({"program": SOFTMAX.replace("p = softmax(model(x))", "p = softmax(x[0] * param(ones([classes])))")}, ValueError,
     "has the parameter '"),
    ({"program": "const features"}, rmlc.CompileError, "E01"),
    ({"program": SOFTMAX.replace("const classes = 1;", "").replace("classes", "2")}, rmlc.CompileError, "classes"),
    ({"program": 3}, TypeError, "program: expected a text"),
    ({"program": pathlib.Path("/no/such.rml")}, FileNotFoundError, "no/such"),
    ({"epochs": 0}, ValueError, "epochs"),
    ({"hidden": 2.5}, TypeError, "hidden"),
    ({"program": SOFTMAX.replace("softmax(scores)", "scores"), "defines": {"rate": 1e9}, "epochs": 60}, ValueError,
     "infinite or NaN after learning"),
])
def test_what_is_wrong_is_said(options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        Classifier(**options).fit(X4, LABELS)


def test_wrong_calls() -> None:
    with pytest.raises(ValueError, match="classes: missing; the first call of partial_fit needs all labels"):
        Classifier().partial_fit(X4, LABELS)
    model = Classifier().partial_fit(X4, LABELS, classes=[0, 1])
    with pytest.raises(ValueError, match="y: the label .*7.* is not one of the classes"):
        model.partial_fit(X4, [7, 0, 0, 0])
    with pytest.raises(ValueError, match="classes: expected those of the first call"):
        model.partial_fit(X4, LABELS, classes=[0, 1, 2])
    late = LEAST_SQUARES.replace("y = model(x);", "y = post model(x);")
    with pytest.warns(rmlc.UndeterminedWarning), pytest.raises(ValueError, match="not known for each of the 4 rows"):
        Regressor(late).fit(X4 / 8, LABELS).predict(X4)
