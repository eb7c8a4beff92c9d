#!/usr/bin/env python3
"""Draws the results of sunspots.rml: plot.py MONTHS.csv PASSES.csv PICTURE.svg

The upper panel shows the test months and the forecasts made a year before, the lower panel the
errors of each pass."""
import csv
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from chart import BLUE, FAINT, GREEN, GREY, RED, Panel, Picture, bounds

LEARNED = 2172  # number of months to learn from, as in sunspots.rml


def read(path):
    with open(path, newline="") as file:
        return [{name: v if name == "month" else float(v) for name, v in row.items()} for row in csv.DictReader(file)]


def main():
    months, passes, path = sys.argv[1:]
    shown, passes = read(months)[LEARNED:], read(passes)
    final = passes[-1]
    start = int(shown[0]["month"][:4])
    times = [start + k / 12 for k in range(len(shown))]
    picture = Picture(1000, 660, "Sunspots, forecast a year ahead",
                      f"Root mean square errors from {start} on, after {len(passes)} passes over the months before: "
                      f"memory {final['lstm_tested']:.1f}, linear {final['linear_tested']:.1f}, the number of now {final['naive_tested']:.1f}.")
    series = {name: [row[name] for row in shown] for name in ("sunspots", "forecast", "linear_forecast")}
    panel = Panel(picture, (80, 110, 880, 250), (times[0], times[-1]), bounds(*series.values()),
                  "Months that were not learned from", "", "sunspots")
    panel.line(list(zip(times, series["forecast"])), RED, 2, "long short-term memory")
    panel.line(list(zip(times, series["linear_forecast"])), GREEN, 1.2, "linear")
    panel.line(list(zip(times, series["sunspots"])), BLUE, 0.8, "counted")
    names = (("lstm_tested", RED, "memory"), ("linear_tested", GREEN, "linear"), ("naive_tested", GREY, "the number of now"))
    high = 1.3 * final["naive_tested"]
    panel = Panel(picture, (80, 440, 880, 150), (1, max(2, len(passes))), (20, high),
                  "Errors in these months, pass by pass", "pass", "sunspots")
    for name, colour, label in names:
        panel.line([(k, min(row[name], high)) for k, row in enumerate(passes, 1)], colour, 2, label, name == "naive_tested")
    picture.text(26, 645, "Data: monthly sunspot numbers, World Data Center SILSO, Brussels. Computed by sunspots.rml.", 11, colour=FAINT)
    picture.save(path)


main()
