#!/usr/bin/env python3
"""Draws the result of experts.rml: plot.py VALUES.csv PICTURE.svg

The upper panel shows the answers of the machine in each regime, and the answers of the mixture in
the colours of its experts. The lower panel shows errors and the number of selected experts over
time."""
import csv
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from chart import BLUE, FAINT, GREEN, GREY, RED, Panel, Picture

COLOURS, LAST = (BLUE, RED, GREEN), 1300
BORDERS = (-1, -0.33, 0.33, 1)


def dot(picture, panel, x, y, colour, size):
    picture.out.append(f'<circle cx="{panel.x(x):.1f}" cy="{panel.y(y):.1f}" r="{size}" fill="{colour}"/>')


def main():
    table, path = sys.argv[1:]
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    told = [{name: float(row[name]) for name in ("mixture_loss", "single_loss", "mean_asked")} for row in rows if row["told"] == "true"]
    recent = [[float(row[f"gates[{k}]"]) for k in range(3)] + [float(row[name]) for name in ("temperature", "load", "answer", "y")]
              for row in rows[-LAST:]]
    end = told[-10:]
    means = [sum(row[name] for row in end) / len(end) for name in ("mixture_loss", "single_loss", "mean_asked")]
    picture = Picture(1000, 700, "Three experts, and a gate that learns which one to ask",
                      f"Mean squared error of the last {len(end)} reports: {means[0]:.4f}, with {means[2]:.2f} experts asked on average; "
                      f"a single network {means[1]:.4f}.")
    for regime in range(3):
        low, high = BORDERS[regime], BORDERS[regime + 1]
        panel = Panel(picture, (80 + 310 * regime, 110, 260, 200), (-1, 1), (-1.3, 1.3),
                      f"Temperature {low} to {high}", "load", "answer" if regime == 0 else "")
        for *gates, temperature, load, answer, y in recent:
            if low <= temperature < high:
                dot(picture, panel, load, answer, "#d5d5d5", 2.2)
        for *gates, temperature, load, answer, y in recent:
            if low <= temperature < high:
                dot(picture, panel, load, y, COLOURS[gates.index(max(gates))], 1.3)
    picture.text(80, 366, "Grey: the machine. In colours: the mixture's answers before the step, by the expert whose gate was largest.", 12, colour=FAINT)
    thousands = range(1, len(told) + 1)
    series = [[math.log10(row[name]) for row in told] for name in ("mixture_loss", "single_loss")]
    panel = Panel(picture, (80, 430, 400, 180), (0, len(told)), (math.floor(min(map(min, series))), 0), "Mean squared error", "thousands of cycles", "log10")
    panel.line(list(zip(thousands, series[1])), GREY, 1.6, "single network")
    panel.line(list(zip(thousands, series[0])), RED, 1.6, "mixture")
    panel = Panel(picture, (560, 430, 400, 180), (0, len(told)), (0, 3), "Experts asked, on average (at first all)", "thousands of cycles", "")
    panel.line(list(zip(thousands, [row["mean_asked"] for row in told])), BLUE, 1.6)
    picture.text(26, 688, "Computed by experts.rml.", 11, colour=FAINT)
    picture.save(path)


main()
