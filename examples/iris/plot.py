#!/usr/bin/env python3
"""Draws the result of iris.rml: plot.py PART.csv… PICTURE.svg. Each PART has the inputs and the
outputs of a part."""
import csv
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from chart import BLUE, FAINT, GREEN, INK, RED, Panel, Picture

COLOURS, NAMES = (BLUE, RED, GREEN), ("setosa", "versicolor", "virginica")


def main():
    *tables, path = sys.argv[1:]
    parts = []
    for table in tables:
        with open(table, newline="", encoding="utf-8") as file:
            parts.append(list(csv.DictReader(file)))
    held = [row for part in parts for row in part if row["train"] == "F"]
    wrong = [row for row in held if row["species"] != row["predicted"]]
    picture = Picture(1000, 500, "Irises, by a network with eight hidden units",
                      f"{len(held) - len(wrong)} of {len(held)} flowers are recognised, each by a network that did not see it.")
    panel = Panel(picture, (80, 120, 400, 280), (0.7, 7.2), (0, 2.7), "Held out, by predicted species", "petal length, cm", "petal width, cm")
    for row in held:
        x, y = panel.x(float(row["x[2]"])), panel.y(float(row["x[3]"]))
        picture.out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[int(row["predicted"])]}" fill-opacity="0.6"/>')
        if row in wrong:
            picture.out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6.5" fill="none" stroke="{INK}"/>')
    for k, name in enumerate(NAMES):
        picture.text(80 + 90 * k, 452, name, 12, colour=COLOURS[k])
    picture.text(80 + 90 * 3, 452, "ringed: mistakes", 12, colour=FAINT)
    learned = [[float(row["l"]) for row in part if row["train"] == "T"] for part in parts]
    passes = len(learned[0]) // 120
    curve = [sum(sum(l[120 * k : 120 * k + 120]) for l in learned) / (120 * len(learned)) for k in range(passes)]
    panel = Panel(picture, (580, 120, 380, 280), (1, passes), (0, max(curve)), "Cross entropy, mean of a pass", "passes over 120 flowers", "")
    panel.line(list(enumerate(curve, 1)), RED, 1.8)
    picture.text(26, 482, "Computed by iris.rml.", 11, colour=FAINT)
    picture.save(path)


main()
