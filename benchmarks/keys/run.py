#!/usr/bin/env python3
"""Compares one learner per key with River: run.py RMLC [CASE…], with a Python that has river and numpy.

`rmlc run --key` runs on the same rows as a dictionary of River's models. Both predict each row before they learn from
it. Our program reads its rows from a file and writes the results to a file; it gets the rows ten times, because it
needs less time for them. River's rows are in memory, and its predictions are discarded. Speeds are rows per second, the
best of three runs, which alternate. The first predictions of both are checked to be equal. Afterwards the memory of a
million keys of examples/anomaly is measured: per key, and for the whole process."""

import io
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
from river import linear_model, optim, preprocessing

RMLC = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
PASSES = 3
KEYS, ROWS, TIMES = 2000, 200_000, 10


def linear_of_river():
    return preprocessing.StandardScaler() | linear_model.LinearRegression(optimizer=optim.SGD(0.005), intercept_lr=0.05)


def squares_of_river():
    return linear_model.BayesianLinearRegression(alpha=0.001, beta=1.0)


def classes_of_river():
    return preprocessing.StandardScaler() | linear_model.SoftmaxRegression(optimizer=optim.SGD(0.03))


# Program; constants; names of the features, the truth and the prediction; River's model; the part of a row that River
# gets.
CASES = {
    "linear": (ROOT / "examples/online/linear.rml", {"features": 2, "rate": 0.01, "rate_of_mean": 0.1}, ["x[0]", "x[1]"], "y",
               "guess", linear_of_river, lambda a, b: {0: a, 1: b}),
    "fleet": (ROOT / "examples/fleet/fleet.rml", {"limit": 1e9}, ["load", "weather"], "temperature", "expected",
              squares_of_river, lambda a, b: {0: 1.0, 1: a, 2: 0.1 * b}),
    "softmax": (ROOT / "examples/online/softmax.rml", {"features": 2, "classes": 5, "rate": 0.03}, ["x[0]", "x[1]"], "label",
                "guess", classes_of_river, lambda a, b: {0: a, 1: b}),
}


def rows():
    draw = np.random.default_rng(0)
    key = draw.integers(0, KEYS, ROWS).astype(np.int32)
    a, b = draw.uniform(0, 1, ROWS), draw.uniform(5, 25, ROWS)
    slope = draw.normal(0, 3, (KEYS, 3))
    return key, a, b, 20 + slope[key, 0] + slope[key, 1] * a + 0.2 * slope[key, 2] * b + draw.normal(0, 0.3, ROWS)


def of_river(make, given, truth, keys):
    models, guesses = {}, []
    start = time.perf_counter()
    for key, x, y in zip(keys, given, truth):
        model = models.get(key)
        if model is None:
            model = models[key] = make()
        guesses.append(model.predict_one(x))
        model.learn_one(x, y)
    return guesses, time.perf_counter() - start


def run_ours(program, constants, table, found, more):
    command = [RMLC, "run", program, "--key", "key:i32", "--input", table, "--output", found, "--stats", *more]
    for name, value in constants.items():
        command += ["-D", f"{name}={value}"]
    start = time.perf_counter()
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    return float(re.search(r"speed +(\d+)", done.stderr)[1]), time.perf_counter() - start


def measure(name, folder):
    program, constants, features, truth, guess, make, convert = CASES[name]
    keys, a, b, y = rows()
    if name == "softmax":
        y = np.clip((y - 16) / 2, 0, 4).astype(np.int32)
    inputs = {"x": np.stack([a, b], 1)} if "[" in features[0] else dict(zip(features, (a, b)))
    columns = {"key": keys, **inputs, truth: y}
    np.savez(folder / "rows.npz", **{k: np.tile(v, (TIMES, *[1] * (v.ndim - 1))) for k, v in columns.items()})
    text = io.StringIO()
    np.savetxt(text, np.stack([keys, a, b, y], 1), "%d,%.17g,%.17g,%.17g")
    (folder / "rows.csv").write_text(",".join(["key", *features, truth]) + "\n" + TIMES * text.getvalue())
    given = [convert(p, q) for p, q in zip(a.tolist(), b.tolist())]
    speeds = {"csv": [], "npz": []}
    river = []
    for _ in range(PASSES):
        guesses, seconds = of_river(make, given, y.tolist(), keys.tolist())
        river.append(ROWS / seconds)
        for form in speeds:
            speeds[form].append(run_ours(program, constants, folder / f"rows.{form}", folder / f"found.{form}", [])[0])
    with np.load(folder / "found.npz") as found:
        said = np.array([-1 if g is None else g for g in guesses])
        differ = np.abs(found[guess][:ROWS] - said) / (1 + np.abs(said))
    later = np.mean(differ[ROWS // 2:])
    print(f"| {name} | {KEYS:,} | {max(river):,.0f} | {max(speeds['csv']):,.0f} | {max(speeds['csv']) / max(river):,.0f} | "
          f"{max(speeds['npz']):,.0f} | {max(speeds['npz']) / max(river):,.0f} | {later:.1e} |", flush=True)


def a_million(folder):
    """Measures the memory of a million keys, beyond the memory of the process with one key."""
    peaks = []
    for keys in (1, 1_000_000):
        np.savez(folder / "rows.npz", key=np.arange(1_000_000, dtype=np.int32) % keys, value=np.linspace(70, 90, 1_000_000))
        done = subprocess.run([RMLC, "run", ROOT / "examples/anomaly/anomaly.rml", "--key", "key:i32", "--input",
                               folder / "rows.npz", "--output", folder / "found.csv", "--stats"], capture_output=True, text=True,
                              check=True)
        peaks.append(float(re.search(r"peak memory +([\d.]+)", done.stderr)[1]) * 2**20)
        of_each = int(re.search(r"of each +(\d+)", done.stderr)[1])
        speed = re.search(r"speed +(\d+)", done.stderr)[1]
        print(f"{keys:,} keys: {of_each:,} bytes each, peak {peaks[-1] / 2**20:,.0f} MiB, {int(speed):,} rows a second", flush=True)
    print(f"beyond one key: {(peaks[1] - peaks[0]) / 1e6:,.0f} bytes a key, {100 * (peaks[1] - peaks[0]) / (1e6 * of_each) - 100:.1f} % "
          "more than what is kept of each")


def main():
    wanted = sys.argv[2:] or [*CASES, "memory"]
    with tempfile.TemporaryDirectory() as folder:
        print("| model | keys | River, rows a second | rmlc, CSV | ratio | rmlc, npz | ratio | difference (mean) |\n|---|---|---|---|---|---|---|---|")
        for name in wanted:
            if name in CASES:
                measure(name, pathlib.Path(folder))
        if "memory" in wanted:
            a_million(pathlib.Path(folder))


if __name__ == "__main__":
    main()
