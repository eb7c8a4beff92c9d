#!/usr/bin/env python3
"""Writes the rows of tumours.rml: cells.py TABLE.csv PART [--passes N] > ROWS.csv

The table is divided at random into five parts, of which PART (0 to 4) is held out. The rows are
`passes` times the other tumours, and then the held-out tumours. From each column, the mean over
the tumours learned from is subtracted, and the result is divided by their standard deviation."""
import argparse
import csv
import random
import statistics
import sys


def parts(path):
    """Returns five lists of (numbers, malignant)."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [([float(v) for v in row[:-1]], row[-1] == "T") for row in list(csv.reader(file))[1:]]
    random.Random(1).shuffle(rows)
    return [rows[k::5] for k in range(5)]


def standardised(path, part):
    """Returns the tumours to learn from and those held out, with standardised columns."""
    folds = parts(path)
    held = folds.pop(part)
    learned = sum(folds, [])
    columns = list(zip(*(x for x, _ in learned)))
    about = [(statistics.fmean(c), statistics.pstdev(c)) for c in columns]

    def scaled(rows):
        return [([(v - mean) / spread for v, (mean, spread) in zip(x, about)], malignant) for x, malignant in rows]

    return scaled(learned), scaled(held)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("part", type=int)
    parser.add_argument("--passes", type=int, default=60)
    options = parser.parse_args()
    learned, held = standardised(options.table, options.part)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["train", "end", *(f"x[{k}]" for k in range(30)), "malignant"])
    for _ in range(options.passes):
        for k, (x, malignant) in enumerate(learned, 1):
            out.writerow(["T", "FT"[k == len(learned)], *x, "FT"[malignant]])
    out.writerows(["F", "T", *x, "FT"[malignant]] for x, malignant in held)


if __name__ == "__main__":
    main()
