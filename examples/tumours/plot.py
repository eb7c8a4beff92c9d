#!/usr/bin/env python3
"""Draws the result of tumours.rml: plot.py TABLE.csv WEIGHTS.state PART.csv… PICTURE.svg"""
import csv
import json
import math
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from chart import BLUE, FAINT, RED, Panel, Picture


def weights(path):
    content = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack_from("<Q", content)
    begin, end = json.loads(content[8 : 8 + size])["score.w"]["data_offsets"]
    return struct.unpack(f"<{(end - begin) // 8}d", content[8 + size + begin : 8 + size + end])


def main():
    table, state, *parts, path = sys.argv[1:]
    with open(table, newline="", encoding="utf-8") as file:
        names = next(csv.reader(file))[:-1]
    rows = []
    for part in parts:
        with open(part, newline="", encoding="utf-8") as file:
            rows.append(list(csv.DictReader(file)))
    held = [row for part in rows for row in part if row["train"] == "F"]
    right = sum((float(row["probability"]) > 0.5) == (row["malignant"] == "T") for row in held)
    picture = Picture(1000, 560, "Tumours, by logistic regression",
                      f"{right} of {len(held)} are told right, each by weights that were learned without it.")
    panel = Panel(picture, (80, 120, 380, 150), (0, 1), (0, 60), "Held out, by probability", "", "tumours",
                  [(0, "benign"), (0.5, "0.5"), (1, "malignant")])
    for kind, colour in ("F", BLUE), ("T", RED):
        counts = [0] * 20
        for row in held:
            if row["malignant"] == kind:
                counts[min(19, int(20 * float(row["probability"])))] += 1
        panel.line([(k / 20 + d, min(60, n)) for k, n in enumerate(counts) for d in (0, 0.05)], colour, 1.8, "malignant" if kind == "T" else "benign")
    losses = [[float(row["loss"]) for row in part if row["train"] == "T"] for part in rows]
    curve = [math.log10(sum(values) / len(values)) for values in zip(*losses)]
    panel = Panel(picture, (80, 360, 380, 130), (1, len(curve)), (min(curve), 0), "Loss of a pass", "passes", "log10")
    panel.line(list(enumerate(curve, 1)), RED, 1.8)
    picture.text(560, 106, "Weights of the standardised columns", 14, more='font-weight="600"')
    w = weights(state)[1:]
    for k, (weight, name) in enumerate(sorted(zip(w, names), reverse=True)):
        y, x0 = 122 + 13 * k, 790
        size = 120 * abs(weight) / max(map(abs, w))
        picture.text(690, y + 8, name.replace("_", " "), 10, "end")
        picture.box(x0 if weight > 0 else x0 - size, y, size, 9, RED if weight > 0 else BLUE)
    picture.text(26, 548, "Computed by tumours.rml.", 11, colour=FAINT)
    picture.save(path)


main()
