"""Learning row by row with new features and labels, compared with River's models and the same rules in NumPy."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import rmlc
import rmlc.online


def rows(count: int = 200, seed: int = 0) -> list[tuple[dict[str, Any], float]]:
    """Returns rows with changing features, of which more and more occur."""
    random = np.random.default_rng(seed)
    made = []
    for k in range(count):
        names = random.choice(3 + k // 5, size=3, replace=False)
        x = {f"f{name}": float(random.normal()) for name in names}
        made.append((x, sum(x.values()) + 0.1 * float(random.normal())))
    return made


def dot(w: dict[str, float], x: dict[str, float]) -> float:
    return sum(w.get(name, 0.0) * value for name, value in x.items())


def test_logistic_regression_while_features_appear() -> None:
    model = rmlc.online.BinaryClassifier(rate=0.3, room=2)
    w: dict[str, float] = {}
    b = 0.0
    for x, t in rows():
        p = 1 / (1 + np.exp(-(dot(w, x) + b)))
        assert model.predict_proba_one(x)[True] == pytest.approx(p, rel=1e-12)
        assert model.predict_one(x) == (p > 0.5)
        model.learn_one(x, t > 0)
        for name, value in x.items():
            w[name] = w.get(name, 0.0) - 0.3 * (p - (t > 0)) * value
        b -= 0.3 * (p - (t > 0))
    assert model.room == 64 and len(model.features) == len(w) > 32
    weights = model.instance.params["model.weights"]
    np.testing.assert_allclose(weights[: len(w)], [w[name] for name in model.features], rtol=1e-10)
    assert not weights[len(w) :].any()


def test_linear_and_softmax() -> None:
    linear, softmax = rmlc.online.Regressor(rate=0.05), rmlc.online.Classifier(rate=0.2, room=1)
    w: dict[str, float] = {}
    several: dict[str, dict[str, float]] = {}
    bias: dict[str, float] = {}
    b = 0.0
    for x, t in rows():
        label = "low" if t < -1 else "high" if t > 1 else "middle"
        error = dot(w, x) + b - t
        assert linear.predict_one(x) == pytest.approx(error + t, rel=1e-10, abs=1e-12)
        p = softmax.predict_proba_one(x)
        scores = {c: np.exp(dot(several[c], x) + bias[c]) for c in several}
        assert p == pytest.approx({c: s / sum(scores.values()) for c, s in scores.items()}, rel=1e-10)
        assert softmax.predict_one(x) == (max(p, key=p.__getitem__) if p else None)
        linear.learn_one(x, t)
        softmax.learn_one(x, label)
        several.setdefault(label, {})
        bias.setdefault(label, 0.0)
        scores = {c: np.exp(dot(several[c], x) + bias[c]) for c in several}
        for c, s in scores.items():
            step = 0.2 * ((c == label) - s / sum(scores.values()))
            bias[c] += step
            for name, value in x.items():
                several[c][name] = several[c].get(name, 0.0) + step * value
        for name, value in x.items():
            w[name] = w.get(name, 0.0) - 0.05 * error * value
        b -= 0.05 * error
    assert set(softmax.classes) == {"low", "middle", "high"}


ADAM = """
import optim;
const features = 1;
node model(x) -> (z)
  z = dot(param(zeros([features])), x) + param(0.0);
node main(x: f64[features], y: f64, learn: bool) -> (z: f64, seen: i32)
  z, _ = diff[optim.adam(0.01)] model(x, learn, (z - y) when learn);
  seen = (0 fby seen) + (if learn then 1 else 0);
"""


def test_everything_that_is_kept_is_carried_over() -> None:
    """A learner that starts with little room equals one with enough room, also in moments of the optimiser and counts."""
    small, large = rmlc.online.Regressor(ADAM, room=1), rmlc.online.Regressor(ADAM, room=64)
    for x, t in rows():
        small.learn_one(x, t)
        large.learn_one(x, t)
        assert small.predict_one(x) == pytest.approx(large.predict_one(x), rel=1e-9)
    assert small.room == 64
    assert small.instance.step(np.zeros(64), 0.0, False).seen == 200


def test_texts_and_truth_values() -> None:
    model = rmlc.online.Regressor(rate=0.5)
    model.learn_one({"colour": "red", "new": True, "size": np.float32(2.0)}, 1.0)
    assert model.features == ["colour=red", "new", "size"]
    np.testing.assert_array_equal(model.instance.params["model.weights"][:3], [0.5, 0.5, 1.0])
    assert model.predict_one({"colour": "red"}) == 1.0 and model.predict_one({"colour": "blue"}) == 0.5
    assert len(model.features) == 3  # features that occur only in predictions take no room


def test_copies_and_pickles_go_on() -> None:
    model = rmlc.online.Classifier(rate=0.1, room=2)
    for x, t in rows(50):
        model.learn_one(x, t > 0)
    others = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for x, t in rows(50, seed=1):
        for each in (model, *others):
            each.learn_one(x, t > 0)
        assert all(each.predict_proba_one(x) == model.predict_proba_one(x) for each in others)


@pytest.mark.parametrize("x, y, error, says", [
    ([1.0], True, TypeError, "x: expected a dict of features, got list"),
    ({"a": None}, True, TypeError, "x: 'a': expected a number or a text, got NoneType None"),
    ({"a": float("nan")}, True, ValueError, "x: 'a' is nan; leave out features without a value"),
    ({"a": 1.0}, "yes", ValueError, "y: expected False or True, got str 'yes'"),
    ({"a": 1.0}, None, ValueError, "y: expected False or True"),
])
def test_wrong_rows(x: Any, y: Any, error: type[Exception], says: str) -> None:
    model = rmlc.online.BinaryClassifier()
    with pytest.raises(error, match=says):
        model.learn_one(x, y)
    assert model.instance.cycle == 0 and not model.features


def test_wrong_numbers() -> None:
    for y, error in (("1", None), ("one", TypeError), (float("inf"), ValueError), (None, TypeError)):
        if error is not None:
            with pytest.raises(error, match="y: expected a"):
                rmlc.online.Regressor().learn_one({"a": 1.0}, y)  # type: ignore[arg-type]


@pytest.mark.parametrize("program, error, says", [
    (3, TypeError, "program: expected a text"),
    ("node main(x: f64) -> (y: f64)\n  y = x;\n", rmlc.CompileError, "features"),
    ("const features = 1;\nnode main(x: f64[features]) -> (y: f64)\n  y = sum(x);\n", ValueError,
     "must have latency 0 and the inputs"),
    (rmlc.online.LINEAR.replace("(z: f64)", "(o: f64)") + "  o = post z;\n", ValueError, "must have latency 0"),
    (rmlc.online.LINEAR.replace("(z: f64)", "(o: f64[1])") + "  o = [z];\n", ValueError,
     r"first output must be f64 in every cycle, but it is f64\[1\]"),
])
def test_wrong_programs(program: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        rmlc.online.Regressor(program)


def test_weights_of_river() -> None:
    river = pytest.importorskip("river")
    from river import datasets, linear_model, optim, preprocessing

    ours = rmlc.online.BinaryClassifier(rate=0.05)
    theirs = linear_model.LogisticRegression(optimizer=optim.SGD(0.05), intercept_lr=0.05)
    scaler = preprocessing.StandardScaler()
    for x, y in datasets.Phishing():
        scaler.learn_one(x)
        x = scaler.transform_one(x)
        assert ours.predict_proba_one(x)[True] == pytest.approx(theirs.predict_proba_one(x)[True], rel=1e-9)
        ours.learn_one(x, y)
        theirs.learn_one(x, y)
    weights = dict(zip(ours.features, ours.instance.params["model.weights"]))
    assert weights == pytest.approx(dict(theirs.weights), rel=1e-9) and len(weights) == 9
    assert river.__version__


def test_within_pipelines_of_river() -> None:
    pytest.importorskip("river")
    from river import datasets, evaluate, linear_model, metrics, optim, preprocessing

    scores = []
    for model in (rmlc.online.BinaryClassifier(rate=0.05),
                  linear_model.LogisticRegression(optimizer=optim.SGD(0.05), intercept_lr=0.05)):
        metric = metrics.Accuracy()
        evaluate.progressive_val_score(datasets.Phishing(), preprocessing.StandardScaler() | model, metric)
        scores.append(metric.get())
    assert scores[0] == scores[1] > 0.85
