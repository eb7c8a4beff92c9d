#!/usr/bin/env python3
"""Draws images with their reconstructions by autoencoder.rml: plot.py PASSES.csv TEST.npz TEST.csv
PICTURE.svg"""
import csv
import math
import pathlib
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from chart import BLUE, FAINT, RED, Panel, Picture

SHOWN, SIDE, LEVELS = 14, 8, 16


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def pixels(path, count):
    with zipfile.ZipFile(path) as archive:
        content = archive.read("image.npy")
    content = content[10 + int.from_bytes(content[8:10], "little") :]
    return [[v / LEVELS for v in content[64 * k : 64 * k + 64]] for k in range(count)]


def draw(picture, left, top, image):
    size = 56 / SIDE
    for at, value in enumerate(image):
        shade = 255 - round(255 * min(1, max(0, value)))
        picture.box(left + size * (at % SIDE), top + size * (at // SIDE), size + 0.2, size + 0.2, f"#{shade:02x}{shade:02x}{shade:02x}")


def main():
    passes, archive, table, path = sys.argv[1:]
    rows, tested = read(passes), read(table)
    picture = Picture(1000, 500, "Digits in eight numbers",
                      f"The mean squared error of {len(tested)} images held out is {float(tested[-1]['error']):.5f}; a pixel is between 0 and 1.")
    picture.text(26, 100, "Images held out, and their reconstructions from eight numbers", 14, more='font-weight="600"')
    for k, image in enumerate(pixels(archive, SHOWN)):
        draw(picture, 26 + 68 * k, 114, image)
        draw(picture, 26 + 68 * k, 180, [float(tested[k][f"y[{at}]"]) for at in range(64)])
    curves = [[math.log10(float(row["error"])) for row in rows[kind::2]] for kind in (0, 1)]
    low = min(map(min, curves))
    panel = Panel(picture, (80, 300, 880, 140), (1, len(curves[0])), (low, -0.5), "Mean squared error of the whole", "passes", "log10")
    panel.line(list(enumerate(curves[0], 1)), BLUE, 1.8, "learned from")
    panel.line(list(enumerate(curves[1], 1)), RED, 1.8, "held out")
    for k, words in (1, "first layer"), (11, "second"), (21, "all layers"):
        picture.text(panel.x(k) + 4, 314, words, 11, colour=FAINT)
        picture.out.append(f'<path d="M{panel.x(k):.1f} 300v140" stroke="#bbbbbb" stroke-dasharray="3 3"/>')
    picture.text(26, 488, "Computed by autoencoder.rml.", 11, colour=FAINT)
    picture.save(path)


main()
