#!/usr/bin/env python3
"""Texts for charlm.rml, and what can be said about them without a network.

    text.py rows TEXT PASSES    the input of charlm.rml on stdout: the first nine tenths of the text,
                                to learn from, PASSES times; then the last tenth, not learned
    text.py letters < ROWS      a table with a column of bytes, as text
    text.py report TEXT ROWS    bits per character of the last tenth: as charlm.rml found them, and
                                by counts of single characters, of pairs, triples and fours"""
import collections
import csv
import math
import sys

CLASSES, ADDED = 96, 0.05


def classes(text):
    """Returns the text with only printable ASCII and line ends; all other characters become spaces,
    as in charlm.rml."""
    return bytes(b if b == 10 or 32 <= b <= 126 else 32 for b in text)


def parts(path):
    with open(path, "rb") as file:
        text = file.read()
    cut = len(text) * 9 // 10
    return text[:cut], text[cut:]


def rows(path, passes):
    known, held_out = parts(path)
    print("byte,learn")
    for part, learn, times in ((known, "true", int(passes)), (held_out, "false", 1)):
        for _ in range(times):
            sys.stdout.writelines(f"{b},{learn}\n" for b in part)


def letters():
    sys.stdout.write(bytes(int(row["byte"]) for row in csv.DictReader(sys.stdin)).decode("ascii"))


def bits_by_counts(known, held_out, length):
    """Returns the mean of -log2 of the probability of a character, given the `length - 1`
    characters before it. The probabilities come from counts in the known text, each increased by
    ADDED."""
    known, held_out = classes(known), classes(held_out)
    text = known[len(known) - length + 1 :] + held_out
    follow = collections.Counter(known[k : k + length] for k in range(len(known) - length + 1))
    before = collections.Counter(known[k : k + length - 1] for k in range(len(known) - length + 1))
    total = 0.0
    for k in range(len(held_out)):
        piece = text[k : k + length]
        total -= math.log2((follow[piece] + ADDED) / (before[piece[:-1]] + ADDED * CLASSES))
    return total / len(held_out)


def report(path, table):
    known, held_out = parts(path)
    with open(table, newline="") as file:
        bits = [float(row["bits"]) for row in csv.DictReader(file) if row["held_out"] == "true"]
    print(f"{len(known)} characters to learn from, {len(held_out)} held out; bits per character of these")
    for length, name in enumerate(("single characters", "pairs (bigram)", "triples (trigram)", "fours"), 1):
        print(f"  {name:18} {bits_by_counts(known, held_out, length):.3f}")
    print(f"  {'network':18} {sum(bits) / len(bits):.3f}")


{"rows": rows, "letters": letters, "report": report}[sys.argv[1]](*sys.argv[2:])
