#!/usr/bin/env python3
"""Compares online learning with River, on River's data sets: run.py RMLC, with a Python that has river.

Both get the same rows in the same order, and predict each row before they learn from it. River's score is the best of
the listed models of the same kind. A speed is the number of rows per second, for prediction, metric and learning
together. It is the best of three runs, which alternate. The rows are repeated: River computes 50,000 rows and our
program a million, because it needs less time for each. River's rows are in memory. Our program reads its rows from a
file, once as numbers (.npz) and once as CSV."""

import csv
import io
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
from river import datasets, linear_model, metrics, multiclass, neighbors, optim, preprocessing

RMLC = pathlib.Path(sys.argv[1]).resolve()
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/online"
PASSES, TIMED_ROWS, OUR_TIMED_ROWS = 3, 50_000, 1_000_000


def numbers(row):
    return list(row.values())


def season(row):
    """Returns sine and cosine waves with the periods of a day and of a week."""
    when = row["Time"]
    hour = when.hour + when.minute / 60
    day = [f(2 * math.pi * k * hour / 24) for k in (1, 2, 3) for f in (math.sin, math.cos)]
    week = (when.weekday() * 24 + hour) / 168
    return day + [math.sin(2 * math.pi * week), math.cos(2 * math.pi * week)]


def scaled(model):
    return lambda: preprocessing.StandardScaler() | model()


def logistic(rate):
    return scaled(lambda: linear_model.LogisticRegression(optimizer=optim.SGD(rate)))


def linear(rate, of_mean):
    return scaled(lambda: linear_model.LinearRegression(optimizer=optim.SGD(rate), intercept_lr=of_mean))


def softmax(rate):
    return scaled(lambda: linear_model.SoftmaxRegression(optimizer=optim.SGD(rate)))


def one_vs_rest(rate):
    return scaled(lambda: multiclass.OneVsRestClassifier(
        linear_model.LogisticRegression(optimizer=optim.SGD(rate))))


def nearest():
    return neighbors.KNNClassifier(n_neighbors=5, engine=neighbors.LazySearch(window_size=500))


RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
CLASSIFY, REGRESS = ("accuracy", metrics.Accuracy), ("mae", metrics.MAE)

# River's gradient of the squared error is twice the error; ours is the error. So the learning rates of our linear
# models are twice those of River.
# Name; data set; features; truth; program and constants; metric; River's models.
CASES = [
    ("Phishing", datasets.Phishing, numbers, "label", "logistic", {"rate": 0.03}, CLASSIFY,
     {f"logistic {r}": logistic(r) for r in RATES}),
    ("Shuttle", datasets.Shuttle, numbers, "label", "logistic", {"rate": 0.01}, CLASSIFY,
     {f"logistic {r}": logistic(r) for r in (0.003, 0.01, 0.03)}),
    ("ImageSegments", datasets.ImageSegments, numbers, "label", "softmax", {"rate": 0.1}, CLASSIFY,
     {**{f"softmax {r}": softmax(r) for r in RATES}, **{f"one against rest {r}": one_vs_rest(r) for r in RATES}}),
    ("TrumpApproval", datasets.TrumpApproval, numbers, "y", "linear", {"rate": 0.006, "rate_of_mean": 0.6}, REGRESS,
     {f"linear {r}, {m}": linear(r, m) for r in RATES[:5] for m in (0.01, 0.1, 0.3)}),
    ("WaterFlow", datasets.WaterFlow, season, "y", "linear", {"rate": 0.002, "rate_of_mean": 0.6}, REGRESS,
     {f"linear {r}, {m}": linear(r, m) for r in RATES[:5] for m in (0.01, 0.1, 0.3)}),
    ("Bananas", datasets.Bananas, numbers, "label", "neighbours", {}, CLASSIFY, {"5 of 500 neighbours": nearest}),
]


def of_river(make, rows, metric):
    """Returns the score of a River model and the seconds that it took."""
    model, score = make(), metric()
    start = time.perf_counter()
    for x, y in rows:
        guess = model.predict_one(x)
        if guess is not None:
            score.update(y, guess)
        model.learn_one(x, y)
    return score.get(), time.perf_counter() - start


def of_ours(program, constants, metric, truth, table):
    """Returns the score, the rows per second, and the seconds from start to end, including compilation."""
    command = [RMLC, "eval", EXAMPLES / f"{program}.rml", "--progressive", "--metric", f"{metric}:guess:{truth}",
               "--input", table, "--stats"]
    for name, value in constants.items():
        command += ["-D", f"{name}={value}"]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - start
    score = float(done.stdout.split("\n")[1].split()[-1])
    return score, float(re.search(r"speed +(\d+)", done.stderr)[1]), seconds


def write(folder, name, rows, truth, classes, times=1):
    """Writes the rows `times` times to NAME.csv and NAME.npz. Returns the number of features."""
    width = len(rows[0][0])
    truths = [y if classes is None else classes.index(y) for _, y in rows]
    dtype = np.float64 if classes is None else np.int32 if len(classes) > 2 else np.bool_
    np.savez(folder / f"{name}.npz", x=np.tile(np.array([x for x, _ in rows], np.float64), (times, 1)),
             **{truth: np.tile(np.array(truths, dtype), times)})
    text = io.StringIO()
    out = csv.writer(text)
    for (x, _), y in zip(rows, truths):
        out.writerow([float(v) for v in x] + ["FT"[y] if dtype is np.bool_ else y])
    header = ",".join([f"x[{k}]" for k in range(width)] + [truth]) + "\n"
    (folder / f"{name}.csv").write_text(header + times * text.getvalue(), encoding="utf-8")
    return width


def measure(case, folder):
    name, data, features, truth, program, constants, (metric, score), models = case
    rows = [(features(x), y) for x, y in data()]
    classes = sorted({y for _, y in rows}) if truth == "label" else None
    width = write(folder, name, rows, truth, classes)
    given = {**constants, **({} if program == "neighbours" else {"features": width})}
    if program == "softmax":
        given["classes"] = len(classes)
    theirs = [(dict(enumerate(map(float, x))), y) for x, y in rows]
    better = max if metric == "accuracy" else min
    scores = {what: of_river(make, theirs, score)[0] for what, make in models.items()}
    best = better(scores, key=scores.get)
    value, _, whole = of_ours(program, given, metric, truth, folder / f"{name}.csv")
    times = math.ceil(TIMED_ROWS / len(rows))
    write(folder, "timed", rows, truth, classes, math.ceil(OUR_TIMED_ROWS / len(rows)))
    speeds, river = {"npz": 0.0, "csv": 0.0}, 0.0
    for _ in range(PASSES):
        river = max(river, times * len(rows) / of_river(models[best], times * theirs, score)[1])
        for form in speeds:
            speeds[form] = max(speeds[form], of_ours(program, given, metric, truth, folder / f"timed.{form}")[1])
    print(f"| {name} | {len(rows):,} | {metric} | {scores[best]:.4f} ({best}) | {value:.4f} | {river:,.0f} | "
          + " | ".join(f"{speed:,.0f} | {speed / river:,.0f}" for speed in speeds.values())
          + f" | {whole * 1000:,.0f} |", flush=True)


def main():
    print("| data | rows | measure | River's best | rmlc | River, rows a second | rmlc, npz | ratio | rmlc, CSV | ratio | "
          "whole command, ms |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    wanted = sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            if not wanted or case[0] in wanted:
                measure(case, pathlib.Path(folder))


main()
