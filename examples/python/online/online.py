#!/usr/bin/env python3
"""Compares learners in R(ML)² with River's own, in River's pipelines: online.py [--rows N]
[--picture FILE.svg]

Each learner predicts a row before it learns from it. Needs rmlc and River (`pip install river`),
which contains the data."""

from __future__ import annotations

import argparse
import itertools
import pathlib
import sys
import time
from typing import Any

import numpy as np

import rmlc
import rmlc.online

try:
    from river import datasets, forest, linear_model, neighbors, optim, preprocessing, tree
except ImportError as error:
    raise ImportError("this example needs River: `pip install river`") from error

HERE = pathlib.Path(__file__).resolve().parent
RECENT = 500  # the picture shows the accuracy over this number of latest rows


def waves() -> Any:
    """A classifier that runs the program of this folder, kernel.rml."""
    return rmlc.online.BinaryClassifier(rmlc.load(HERE / "kernel.rml"), room=2)


BANANAS: dict[str, Any] = {
    "River, logistic regression": lambda: linear_model.LogisticRegression(optim.SGD(0.03)),
    "River, Hoeffding tree": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=0),
    "River, forest of 10 trees": lambda: forest.ARFClassifier(10, seed=0),
    "River, 5 of 500 neighbours": lambda: neighbors.KNNClassifier(5, engine=neighbors.LazySearch(window_size=500)),
    "rmlc, kernel.rml": waves,
}
PHISHING: dict[str, Any] = {
    "River, logistic regression": lambda: linear_model.LogisticRegression(optim.SGD(0.03)),
    "rmlc, logistic regression": lambda: rmlc.online.BinaryClassifier(rate=0.03),
}
Rows = list[tuple[dict[str, float], bool]]


def measured(model: Any, rows: Rows) -> tuple[Any, float]:
    """Runs a model behind a scaler to mean 0 and variance 1. Returns which rows were predicted
    correctly, and rows per second."""
    pipeline = preprocessing.StandardScaler() | model
    right = []
    begin = time.perf_counter()
    for x, y in rows:
        right.append(pipeline.predict_one(x) == y)
        pipeline.learn_one(x, y)
    return np.array(right), len(rows) / (time.perf_counter() - begin)


def at_once(rows: Rows) -> tuple[Any, float]:
    """Runs the same program over arrays, in one call; River's scaler scales the features before.
    Returns the same as `measured`."""
    scaler: Any = preprocessing.StandardScaler()
    scaled = []
    for x, _ in rows:
        scaler.learn_one(x)
        scaled.append(list(scaler.transform_one(x).values()))
    inputs = {"x": np.array(scaled), "y": np.array([float(y) for _, y in rows]), "learn": np.ones(len(rows), bool)}
    instance = rmlc.load(HERE / "kernel.rml").node(defines={"features": 2}).start()
    begin = time.perf_counter()
    p = instance.run(inputs).p
    return (p > 0.5) == (inputs["y"] == 1.0), len(rows) / (time.perf_counter() - begin)


def compared(title: str, models: dict[str, Any], rows: Rows) -> dict[str, Any]:
    """Compares the models and prints a table. Returns, for each model, which rows were predicted
    correctly."""
    print(f"{title}, {len(rows)} rows{'':12s}right   rows a second")
    found = {}
    for name, make in models.items():
        found[name], speed = measured(make(), rows)
        print(f"  {name:32s}{found[name].mean():7.4f}{speed:15,.0f}")
    return found


def draw(found: dict[str, Any], file: str) -> None:
    sys.path.append(str(HERE.parents[1]))
    from chart import BLUE, GREEN, GREY, RED, Panel, Picture

    count = len(next(iter(found.values())))
    picture = Picture(1000, 420, "Bananas, row by row",
                      f"How many of the last {RECENT} rows were predicted rightly, each before it was learned from.")
    panel = Panel(picture, (70, 140, 900, 220), (0, count), (0.4, 0.95), "", "rows")
    colours = dict(zip(found, (GREY, GREEN, "#b08900", BLUE, RED)))
    left = 70.0
    for name, right in found.items():
        sums = np.concatenate([[0], np.cumsum(right)])
        at = np.arange(100, count + 1, 20)
        since = np.maximum(at - RECENT, 0)
        panel.line(list(zip(at, (sums[at] - sums[since]) / (at - since))), colours[name], 1.8)
        picture.box(left, 112, 20, 4, colours[name])
        picture.text(left + 26, 119, name.removeprefix("River, "))
        left += 60 + 7.0 * len(name.removeprefix("River, "))
    picture.save(file)


def main(arguments: list[str] | None = None) -> dict[str, float]:
    parser = argparse.ArgumentParser(description="Learners of R(ML)² in River's pipelines, beside River's own")
    parser.add_argument("--rows", type=int, help="at most")
    parser.add_argument("--picture", metavar="FILE.svg")
    options = parser.parse_args(arguments)
    if options.rows is not None and options.rows < RECENT:
        parser.error(f"--rows: expected at least {RECENT}, got {options.rows}")
    data: Any = datasets
    phishing: Rows = list(itertools.islice(data.Phishing(), options.rows))
    same = compared("Phishing", PHISHING, phishing)
    bananas: Rows = list(itertools.islice(data.Bananas(), options.rows))
    found = compared("Bananas", BANANAS, bananas)
    right, speed = at_once(bananas)
    print(f"  {'the same, in one call':32s}{right.mean():7.4f}{speed:15,.0f}")
    if options.picture:
        draw(found, options.picture)
    return {name: float(each.mean()) for part in (found, {f"{k}, Phishing": v for k, v in same.items()})
            for name, each in part.items()} | {"in one call": float(right.mean())}


if __name__ == "__main__":
    main()
