#!/usr/bin/env python3
"""Draws how well words.rml finds words: plot.py PASSES.csv VERSES.txt LAST.csv PICTURE.svg

The upper panel shows the scores of each pass. Below are held-out verses as each reader divides
them, with wrong borders in red."""
import csv
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from chart import BLUE, FAINT, GREEN, INK, RED, Panel, Picture

SHOWN = 6  # number of verses in the picture


def divided(words, says):
    """Returns the letters and borders of a verse, each with whether it is right; a wrong or a
    missing border is not."""
    at = 0
    for word in words:
        for place, letter in enumerate(word):
            if at > 0 and (says[at] or place == 0):
                yield "|" if says[at] else "\u00b7", says[at] == (place == 0)
            yield letter, True
            at += 1


def main():
    passes, verses, last, path = sys.argv[1:]
    with open(passes, newline="") as file:
        rows = [{name: float(v) for name, v in row.items()} for row in csv.DictReader(file)]
    held = rows[1::2]
    with open(verses, encoding="utf-8") as file:
        lines = [line.split() for line in file]
    with open(last, encoding="utf-8") as file:
        says = [[field == "true" for field in line.split(",")[:2]] for line in file]
    picture = Picture(1000, 690, "Where words begin, in verses without spaces",
                      f"{held[-1]['both_f1']:.3f} (F1) when reading in both directions, {held[-1]['forward_f1']:.3f} when reading forward, "
                      "in verses held out.")
    panel = Panel(picture, (80, 110, 880, 160), (1, max(2, len(held))), (0.4, 1), "Words found", "pass", "F1")
    for name, colour, label in (("both_f1", BLUE, "both directions"), ("forward_f1", GREEN, "forward")):
        panel.line([(k, row[name]) for k, row in enumerate(rows[0::2], 1)], colour, 1.2, label + ", learned from", True)
        panel.line([(k, row[name]) for k, row in enumerate(held, 1)], colour, 2, label)
    picture.text(80, 340, "Verses held out: | a border, \u00b7 a border missed", 14, more='font-weight="600"')
    at = 0
    for k, words in enumerate(lines[:SHOWN]):
        length = sum(map(len, words))
        for reader, (name, colour) in enumerate((("forward", GREEN), ("both", BLUE))):
            x, y = 150, 372 + 50 * k + 20 * reader
            picture.text(140, y, name, 12, "end", colour)
            for sign, right in divided(words, [s[reader] for s in says[at : at + length]]):
                border = sign in "|\u00b7"
                picture.text(x, y, sign, 15, colour=RED if not right else FAINT if border else INK,
                             more='font-family="DejaVu Sans Mono, monospace"' + ("" if right else ' font-weight="700"'))
                x += 10.5
        at += length
    picture.text(26, 678, "Verses: Shakespeare. Computed by words.rml.", 11, colour=FAINT)
    picture.save(path)


main()
