"""Scores are those of the command over the same rows, and those that NumPy computes."""

from __future__ import annotations

import csv
import io
import pathlib
from typing import Any

import numpy as np
import pytest
from conftest import Command

import rmlc
from rmlc.evaluation import Scores

LINE = """
import optim;
const rate: f64 = 0.1;
node line(x) -> (y)
  y = param(0.0) * x + param(0.0);
node main(x: f64, y: f64) -> (guess: f64, large: bool, is_large: bool)
  guess, _ = diff[optim.sgd(rate)] line(x, true, guess - y);
  large = guess > 0.0;
  is_large = y > 0.0;
"""
METRICS = ["mae:guess:y", "root=rmse:guess:y", "r2:guess:y", "accuracy:large:is_large", "f1:large:is_large"]


def data(count: int = 300) -> tuple[Any, Any]:
    random = np.random.default_rng(4)
    x = random.normal(size=count)
    return x, 3 * x + 0.5 + 0.3 * random.normal(size=count)


def by_the_command(command: Command, folder: pathlib.Path, table: str, *words: str) -> tuple[str, list[dict[str, str]]]:
    """Returns the output of the command, and the rows that it writes."""
    (folder / "line.rml").write_text(LINE, encoding="utf-8")
    (folder / "rows.csv").write_text(table, encoding="utf-8")
    done = command("eval", "line.rml", "--progressive", "--input", "rows.csv", "--output", "values.csv", *words,
                   cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout, list(csv.DictReader(io.StringIO((folder / "values.csv").read_text(encoding="utf-8"))))


@pytest.mark.parametrize("more", [{}, {"window": 20}, {"warm_up": 50}, {"defines": {"rate": 0.01}}])
def test_scores_are_those_of_the_command(command: Command, tmp_path: pathlib.Path, more: dict[str, Any]) -> None:
    x, y = data()
    scores = rmlc.compile(LINE).evaluate(x=x, y=y, metrics=METRICS, **more)
    words = [word for each in METRICS for word in ("--metric", each)]
    for option, value in more.items():
        words += ["-D", "rate=0.01"] if option == "defines" else [f"--{option.replace('_', '-')}", str(value)]
    table = "x,y\n" + "".join(f"{a!r},{b!r}\n" for a, b in zip(x.tolist(), y.tolist()))
    shown, rows = by_the_command(command, tmp_path, table, *words)
    assert str(scores) + "\n" == shown
    for name, score in scores.items():
        values = np.array([float(row[name]) for row in rows])
        np.testing.assert_array_equal(score.over_time.values, values)
        np.testing.assert_array_equal(score.over_time.dense(), values)
        assert score.value == float(score) == values[-1]
        assert score.rows == 300 - more.get("warm_up", 0)


def test_scores_are_those_of_numpy() -> None:
    x, y = data()
    guesses = []
    w = b = 0.0
    for a, t in zip(x, y):
        guesses.append(w * a + b)
        error = guesses[-1] - t
        w, b = w - 0.1 * error * a, b - 0.1 * error
    guess = np.array(guesses)
    scores = rmlc.compile(LINE).evaluate({"x": x, "y": y}, metrics=METRICS)
    assert list(scores) == ["mae", "root", "r2", "accuracy", "f1"]
    mean = np.abs(guess - y).cumsum() / np.arange(1, 301)
    np.testing.assert_allclose(scores["mae"].over_time.values, mean, rtol=1e-9)
    assert scores["root"].value == pytest.approx(np.sqrt(np.mean((guess - y) ** 2)))
    assert scores["r2"].value == pytest.approx(1 - np.sum((guess - y) ** 2) / np.sum((y - y.mean()) ** 2))
    hits, said, true = ((guess > 0) & (y > 0)).sum(), (guess > 0).sum(), (y > 0).sum()
    assert scores["accuracy"].value == pytest.approx(((guess > 0) == (y > 0)).mean())
    assert scores["f1"].value == pytest.approx(2 * hits / (said + true))


def test_a_truth_that_is_missing() -> None:
    module = rmlc.compile("""
node main(x: f32, given: bool, y: f32 when given) -> (guess: f32)
  guess = 2.0 * x;
""")
    y = [1.0, None, 5.5, None]
    score = module.evaluate(x=[1.0, 2.0, 3.0, 4.0], given=[True, False, True, False], y=y, metrics="mae:guess:y")["mae"]
    assert (score.value, score.rows) == (0.75, 2)
    assert score.over_time.values.tolist() == [1.0, 0.75] and score.over_time.at.tolist() == [0, 2]
    assert np.isnan(score.over_time.dense()[[1, 3]]).all()


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_tensors_of_every_kind(dtype: str) -> None:
    module = rmlc.compile(f"""
node main(m: {dtype}[2, 3], k: i64, y: i64) -> (guess: i64)
  guess = k + (if sum(cast(f64, m)) > 1.0 then 1 else 0);
""")
    m = np.zeros((4, 2, 3), np.float32)
    m[1, 1, 2] = m[2, 0, 0] = 1.5
    k = np.array([2**62, 2**62, -5, 0])
    y = k + np.array([0, 1, 1, 1])
    assert module.evaluate(m=m, k=k, y=y, metrics="accuracy:guess:y")["accuracy"].value == 0.75


def test_a_node_without_inputs_and_its_seed() -> None:
    module = rmlc.compile("""
node other() -> (y: i32)
  y = 0;
node draws() -> (guess: f64, y: f64)
  y = uniform([], 0.0, 1.0);
  guess = 0.5 fby y;
""")
    scores = [module.evaluate(metrics="mse:guess:y", name="draws", cycles=9, seed=seed)["mse"].value for seed in (1, 2)]
    for seed, score in zip((1, 2), scores):
        y = module.node("draws").start(seed=seed).run(cycles=9).y
        assert score == pytest.approx(np.mean((y - np.concatenate([[0.5], y[:-1]])) ** 2))
    assert scores[0] != scores[1]


def test_predictions_that_know_too_much_are_refused() -> None:
    module = rmlc.compile("node main(x: f64, y: f64) -> (guess: f64)\n  guess = x + 0.1 * y;", name="early.rml")
    with pytest.raises(rmlc.CompileError, match="depends on the truth `y` of the same row") as caught:
        module.evaluate(x=[1.0], y=[2.0], metrics="mae:guess:y")
    assert caught.value.diagnostics[0].code == "E0904"
    place = caught.value.diagnostics[0].place
    assert place and (place.file, place.line) == ("early.rml", 1)


@pytest.mark.parametrize(("more", "error", "text"), [
    ({"metrics": []}, ValueError, "metrics: give at least one NAME:PREDICTION:TRUTH"),
    ({"metrics": ["mean:guess:y"]}, ValueError, "metrics: unknown metric 'mean'; the metrics are accuracy"),
    ({"metrics": ["mae:guess"]}, ValueError, r"metrics: 'mae:guess' does not have the form \[COLUMN=\]NAME:PREDICTION:TRUTH"),
    ({"metrics": [("mae", "guess", "y")]}, TypeError, "metrics: expected texts"),
    ({"metrics": ["mae:gess:y"]}, rmlc.CompileError, "did you mean `guess`"),
    ({"metrics": ["mae:guess:y", "mae:guess:y"]}, rmlc.CompileError, "the name `mae` is already used"),
    ({"window": 1}, ValueError, "window: 1 is not in the range 2 to 1048576"),
    ({"warm_up": -1}, ValueError, "warm_up: -1"),
    ({"warm_up": 3}, rmlc.RunError, "mae has no rows to measure: all 3 belong to the warm-up"),
    ({"seed": 0.5}, TypeError, "seed: expected an integer"),
    ({"x": [1, 2]}, ValueError, "3 cycles, but other inputs have 2"),
    ({"x": None}, TypeError, "x: missing"),
    ({"z": [1.0]}, TypeError, "no input 'z'"),
    ({"y": [1.0, float("nan"), 2.0]}, rmlc.RunError, "the truth 'y' is NaN in cycle 1"),
    ({"name": "nothing"}, rmlc.CompileError, "nothing"),
    ({"options": ["--no-such"]}, ValueError, "options: unknown option '--no-such'"),
])
def test_wrong_arguments(more: dict[str, Any], error: type[Exception], text: str) -> None:
    given: dict[str, Any] = {"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.0], "metrics": ["mae:guess:y"], **more}
    with pytest.raises(error, match=text):
        rmlc.compile(LINE).evaluate(**given)


def test_scores_without_any_are_a_table_as_well() -> None:
    assert str(Scores()) == "metric  rows  value"
