#!/usr/bin/env python3
"""Predicts quantiles of the sunspot numbers up to two years ahead: forecaster.py [--epochs N]
[--seed N] [--picture FILE.svg]

Learns from the years 1749 to 1899, stops when the loss on 1900 to 1929 no longer improves, and is
tested on 1930 to 1983. It is compared with two simple forecasts whose quantiles follow from their
own past errors. Needs rmlc and NumPy."""

from __future__ import annotations

import argparse
import pathlib
import sys
from typing import Any

import numpy as np

import rmlc
import rmlc.training

HERE = pathlib.Path(__file__).resolve().parent
RECORD = HERE.parents[1] / "sunspots/sunspots.csv"
AHEAD = np.array([1, 3, 6, 12, 24])  # horizons of the forecasts, in months
LEVELS = np.array([0.1, 0.5, 0.9])
FIRST_YEAR = 1749
# In months: a segment; its beginning without a loss; the input of the linear forecast.
SPAN, WARM_UP, PAST = 120, 24, 36
VALIDATED, TESTED = 12 * (1900 - FIRST_YEAR), 12 * (1930 - FIRST_YEAR)
LAST = int(AHEAD.max())  # number of months at the end of the record without a true value to compare with


def scaled(spots: Any) -> Any:
    """Square roots of large numbers vary as much as those of small ones. Roots keep the order, and
    so the quantiles."""
    return np.sqrt(spots + 1.0) / 5.0


def spots_of(scale: Any) -> Any:
    return np.maximum((5.0 * scale) ** 2 - 1.0, 0.0)


class Record:
    """The record. spots: (months,); z: the same, scaled; x: the input of the program, (months, 2);
    truth: (months, horizons), for the months in which the truth of every horizon is in the
    record."""

    def __init__(self) -> None:
        self.spots = np.loadtxt(RECORD, delimiter=",", skiprows=1, usecols=1)
        self.z = scaled(self.spots)
        year = np.array([self.z[max(0, month - 11) : month + 1].mean() for month in range(len(self.z))])
        self.x = np.stack([self.z, year], axis=1)
        self.count = len(self.z) - LAST
        self.truth = np.stack([self.z[ahead : ahead + self.count] for ahead in AHEAD], axis=1)

    def columns(self, months: int, end: Any) -> dict[str, Any]:
        return {"end": end, "x": self.x[:months], "truth": self.truth[:months]}

    def to_learn(self, epoch: int) -> dict[str, Any]:
        """The rows of one epoch. Segments begin at other months in each epoch."""
        months = VALIDATED - LAST  # number of months whose true values are known in 1899
        place = (np.arange(months) + 37 * epoch) % SPAN
        end = place == SPAN - 1
        end[-1] = True
        age = np.minimum(place, np.arange(months))
        return {**self.columns(months, end), "known": age >= WARM_UP}

    def up_to(self, months: int) -> dict[str, Any]:
        """Returns the inputs of one segment, which ends with the last of these months."""
        return self.columns(months, np.arange(months) == months - 1)


def learn(module: rmlc.Module, record: Record, epochs: int, seed: int) -> tuple[rmlc.Instance, list[float | None]]:
    """Trains. Returns the instance as it was after the best epoch on the validation months, and the
    validation loss of each epoch."""
    instance = module.node("learn").start(seed=seed)
    validation = module.node("forecast"), record.up_to(TESTED - LAST)
    passes = rmlc.training.epochs(instance, record.to_learn, most=epochs, patience=40, validate=validation,
                                  metric=lambda rows: float(rows.loss[VALIDATED:].mean()))
    return instance, [epoch.value for epoch in passes]


def with_errors(record: Record, central: Any, since: int) -> Any:
    """Makes quantiles (months, horizons, 3) of a forecast (months, horizons): adds the quantiles of
    its errors from `since` to 1929."""
    errors = (record.truth - central)[since : TESTED - LAST]
    return central[:, :, None] + np.quantile(errors, LEVELS, axis=0).T


def number_of_now(record: Record) -> Any:
    return with_errors(record, np.repeat(record.z[: record.count, None], len(AHEAD), axis=1), PAST)


def linear(record: Record) -> Any:
    """A linear function of the last months, fitted by least squares to everything that was known at
    the end of 1929."""
    padded = np.concatenate([np.zeros(PAST - 1), record.z])
    past = np.lib.stride_tricks.sliding_window_view(padded, PAST)[: record.count]
    past = np.concatenate([past, np.ones((record.count, 1))], axis=1)
    known = slice(PAST, TESTED - LAST)
    return with_errors(record, past @ np.linalg.lstsq(past[known], record.truth[known], rcond=None)[0], PAST)


def losses(record: Record, quantiles: Any) -> Any:
    """The mean pinball loss of the test months for each horizon, summed over the levels, in
    sunspots."""
    above = spots_of(record.truth[TESTED:, :, None]) - spots_of(quantiles[TESTED:])
    return np.maximum(LEVELS * above, (LEVELS - 1.0) * above).sum(axis=2).mean(axis=0)


def inside(record: Record, quantiles: Any) -> Any:
    """For each horizon, the share of test months between the outer quantiles, which should be
    0.8."""
    truth = record.truth[TESTED:]
    return ((truth >= quantiles[TESTED:, :, 0]) & (truth <= quantiles[TESTED:, :, 2])).mean(axis=0)


def forecasts(record: Record, epochs: int, seed: int) -> dict[str, Any]:
    """The quantiles (months, horizons, 3) of each method, by its name."""
    module = rmlc.load(HERE / "forecaster.rml")
    instance, values = learn(module, record, epochs, seed)
    print(f"{len(values)} epochs, the best of them {np.argmin(np.array(values, float)) + 1}")
    node = module.node("forecast")
    rows = node.start(params={path: instance.params[path] for path in node.params}).run(record.up_to(record.count))
    return {"number of now": number_of_now(record), "linear": linear(record), "memory (GRU)": rows.quantiles}


def draw(record: Record, found: dict[str, Any], file: str) -> None:
    sys.path.append(str(HERE.parents[1]))
    from chart import BLUE, GREEN, GREY, RED, Panel, Picture

    picture = Picture(1000, 700, "Sunspots, predicted",
                      "Learned from 1749 to 1899, tested on the months shown. "
                      "The band should contain 8 of 10 months.")
    years = FIRST_YEAR + np.arange(len(record.z)) / 12
    twelve = int(np.argmax(AHEAD == 12))
    bands = spots_of(found["memory (GRU)"][TESTED:, twelve])
    when = years[TESTED:][: len(bands)] + 1
    panel = Panel(picture, (70, 120, 900, 270), (1931, 1983), (0, 300), "A year ahead", y_unit="sunspots")
    there = [f"{panel.x(a):.1f} {panel.y(b):.1f}" for a, b in
             [*zip(when, bands[:, 0]), *zip(when[::-1], bands[::-1, 2])]]
    picture.out.append(f'<path d="M{"L".join(there)}Z" fill="{RED}" opacity="0.22"/>')
    panel.line(list(zip(when, bands[:, 1])), RED, 1.4, "predicted")
    panel.line(list(zip(when, record.spots[TESTED + 12 :])), BLUE, 1.0, "observed")
    panel = Panel(picture, (70, 480, 900, 160), (0, 25), (0, 50), "Loss for each horizon", "months", "sunspots",
                  [(int(ahead), str(ahead)) for ahead in AHEAD])
    for colour, (name, quantiles) in zip((GREY, GREEN, RED), found.items()):
        panel.line(list(zip(AHEAD, losses(record, quantiles))), colour, 2.0, name)
    picture.save(file)


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    parser = argparse.ArgumentParser(description="Sunspots, up to two years ahead, as quantiles")
    parser.add_argument("--epochs", type=int, default=300, help="at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--picture", metavar="FILE.svg")
    options = parser.parse_args(arguments)
    if options.epochs < 1:
        parser.error(f"--epochs: expected at least 1, got {options.epochs}")
    record = Record()
    found = forecasts(record, options.epochs, options.seed)
    print(f"{'months ahead':16s}" + "".join(f"{ahead:8d}" for ahead in AHEAD))
    for name, quantiles in found.items():
        print(f"{name:16s}" + "".join(f"{value:8.2f}" for value in losses(record, quantiles)))
    print(f"{'in the band':16s}" + "".join(f"{share:8.0%}" for share in inside(record, found["memory (GRU)"])))
    if options.picture:
        draw(record, found, options.picture)
    return {name: losses(record, quantiles) for name, quantiles in found.items()}


if __name__ == "__main__":
    main()
