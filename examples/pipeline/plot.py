#!/usr/bin/env python3
"""Draws the result of pipeline.rml: plot.py PASSES.csv PICTURE.svg

The upper panel shows which stage works on which image, in the equations and in the order of
computation; the lower panel shows the loss of each pass."""
import csv
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from chart import BLUE, FAINT, GREEN, GREY, RED, Panel, Picture, bounds

COLOURS, CYCLES, CELL = (BLUE, RED, GREEN, GREY), 8, 42


def draw_stages(picture, left, name, delays):
    """Draws boxes for the work of each stage in each cycle, with the number of the image; delays:
    cycles after the image came."""
    picture.text(left, 100, name, 14, more='font-weight="600"')
    for stage, (work, delay) in enumerate(delays.items()):
        y = 122 + CELL * stage
        picture.text(left + 55, y + 25, work, anchor="end")
        for cycle in range(CYCLES):
            image, x = cycle - delay, left + 62 + CELL * cycle
            colour = COLOURS[image % 4] if image >= 0 else "#ffffff"
            picture.box(x, y, CELL - 3, CELL - 3, colour, 'fill-opacity="0.3" stroke="#dddddd"')
            if image >= 0:
                picture.text(x + CELL / 2 - 1, y + 25, str(image), 13, "middle")
    for cycle in range(CYCLES):
        picture.text(left + 61 + CELL * (cycle + 0.5), 122 + CELL * len(delays) + 16, str(cycle), 12, "middle", FAINT)
    picture.text(left + 55, 122 + CELL * len(delays) + 16, "cycle", 12, "end", FAINT)


def main():
    table, path = sys.argv[1:]
    with open(table, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["over"] == "true"]
    learned, held = rows[0::2], rows[1::2]
    picture = Picture(1000, 580, "A pipeline of three stages that learns",
                      f"{100 * float(held[-1]['accuracy']):.1f} % of the digits held out are classified right after {len(held)} passes.")
    draw_stages(picture, 40, "The equations: which image a stage is at",
                {"stage 1": 0, "stage 2": 1, "stage 3": 2})
    draw_stages(picture, 530, "What is computed in a cycle, from top to bottom",
                {"stage 3": 2, "gradients": 2, "stage 1": 1, "stage 2": 1})
    series = [[math.log10(float(row["average_loss"])) for row in part] for part in (held, learned)]
    panel = Panel(picture, (80, 370, 880, 140), (1, len(learned)), bounds(*series), "Loss, pass by pass", "pass", "log10 of cross entropy")
    for values, colour, label in zip(series, (RED, BLUE), ("held out", "learned from")):
        panel.line(list(enumerate(values, 1)), colour, 2, label)
    picture.text(26, 568, "Computed by pipeline.rml.", 11, colour=FAINT)
    picture.save(path)


main()
