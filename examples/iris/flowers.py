#!/usr/bin/env python3
"""Writes the flowers for iris.rml: flowers.py TABLE.csv PART [--passes N] > ROWS.csv

The table is divided at random into five parts, of which PART (0 to 4) is held out. The rows are
`passes` times the other flowers, each time in another order, and then the held-out flowers."""
import argparse
import csv
import random
import sys

SPECIES = ["setosa", "versicolor", "virginica"]


def parts(path):
    """Returns five lists of (lengths, species), each with a fifth of every species."""
    with open(path, newline="", encoding="utf-8") as file:
        flowers = [([float(v) for v in row[:4]], SPECIES.index(row[4])) for row in list(csv.reader(file))[1:]]
    draw, found = random.Random(1), [[] for _ in range(5)]
    for species in range(3):
        own = [flower for flower in flowers if flower[1] == species]
        draw.shuffle(own)
        for k, flower in enumerate(own):
            found[k % 5].append(flower)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("part", type=int)
    parser.add_argument("--passes", type=int, default=50)
    options = parser.parse_args()
    folds = parts(options.table)
    held = folds.pop(options.part)
    learned, draw = sum(folds, []), random.Random(2)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["train", *(f"x[{k}]" for k in range(4)), "species"])
    for _ in range(options.passes):
        draw.shuffle(learned)
        out.writerows(["T", *x, species] for x, species in learned)
    out.writerows(["F", *x, species] for x, species in held)


if __name__ == "__main__":
    main()
