#!/usr/bin/env python3
"""Draws how digits.rml, or another PROGRAM with the same outputs, learned:
plot.py PASSES.csv TEST.npz TEST.csv PICTURE.svg [PROGRAM]

On the left are loss and errors of each pass, for the images learned from and those held out. On
the right is the confusion matrix, and below are misclassified images."""
import csv
import math
import pathlib
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from chart import BLUE, FAINT, GRID, INK, RED, Panel, Picture, bounds

SHOWN = 12  # number of images in the picture


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def pixels(path):
    """Returns the images of an archive, as bytes."""
    with zipfile.ZipFile(path) as archive:
        content, labels = archive.read("image.npy"), archive.read("label.npy")
    content, labels = (c[10 + int.from_bytes(c[8:10], "little") :] for c in (content, labels))
    size = len(content) // len(labels)
    return [content[k * size : (k + 1) * size] for k in range(len(labels))], list(labels)


def draw_curves(picture, learned, held):
    last = len(learned)
    for top, name, unit, value in (
        (110, "Loss", "log10 of cross entropy", lambda row: math.log10(max(float(row["average_loss"]), 1e-4))),
        (330, "Classified wrong", "percent", lambda row: 100 - 100 * float(row["accuracy"])),
    ):
        series = [[value(row) for row in rows] for rows in (learned, held)]
        y_range = bounds(*series) if top < 300 else (0, max(map(max, series)) * 1.05 or 1)
        panel = Panel(picture, (80, top, 400, 150), (1, max(last, 2)), y_range, name, "pass", unit)
        panel.line(list(enumerate(series[1], 1)), RED, 2, "held out")
        panel.line(list(enumerate(series[0], 1)), BLUE, 2, "learned from")


def draw_confusion(picture, counts):
    left, top, cell = 570, 120, 36
    picture.text(left, 96, "Predicted digit (column) of each digit (row)", 14, more='font-weight="600"')
    most = max(max(n for p, n in enumerate(row) if p != k) for k, row in enumerate(counts)) or 1
    for label, row in enumerate(counts):
        picture.text(left - 10, top + cell * label + 23, str(label), 13, "end")
        picture.text(left + cell * label + cell / 2, top + 10 * cell + 18, str(label), 13, "middle")
        for predicted, count in enumerate(row):
            right = label == predicted
            strength = 0.35 if right else 0.15 + 0.75 * count / most
            x, y = left + cell * predicted, top + cell * label
            colour = BLUE if right else RED
            picture.box(x, y, cell - 2, cell - 2, colour if count else GRID, f'fill-opacity="{strength if count else 0.5:.2f}"')
            if count:
                picture.text(x + cell / 2 - 1, y + 22, str(count), 12, "middle")


def draw_mistakes(picture, images, labels, predicted):
    wrong = [k for k, label in enumerate(labels) if predicted[k] != label]
    picture.text(80, 570, f"Mistakes: {min(len(wrong), SHOWN)} of {len(wrong)}", 14, more='font-weight="600"')
    for place, k in enumerate(wrong[:SHOWN]):
        image, side = images[k], math.isqrt(len(images[k]))
        left, top, size = 80 + 74 * place, 586, 60 / side
        for at, value in enumerate(image):
            shade = 255 - 255 * value // max(image)
            picture.box(left + size * (at % side), top + size * (at // side), size + 0.2, size + 0.2, f"#{shade:02x}{shade:02x}{shade:02x}")
        picture.text(left + 30, top + 80, f"{labels[k]} as {predicted[k]}", 12, "middle", INK)


def main():
    passes, archive, table, path, program = [*sys.argv[1:], "digits.rml"][:5]
    rows, tested = read(passes), read(table)
    images, labels = pixels(archive)
    final = tested[-1]
    counts = [[int(final[f"counts[{a},{b}]"]) for b in range(10)] for a in range(10)]
    about = f"{100 * float(final['accuracy']):.2f} % of {len(tested)} images held out are classified right, after {len(rows) // 2} passes over the others."
    picture = Picture(1000, 710, "Handwritten digits", about)
    draw_curves(picture, rows[0::2], rows[1::2])
    draw_confusion(picture, counts)
    draw_mistakes(picture, images, labels, [int(row["predicted"]) for row in tested])
    picture.text(26, 698, f"Computed by {program}.", 11, colour=FAINT)
    picture.save(path)


main()
