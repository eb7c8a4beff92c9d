#!/usr/bin/env python3
"""Writes a record as the input of sunspots.rml: months.py PASSES < RECORD.csv

Prints the record PASSES times; `first` and `last` are true in its first and its last month."""
import csv
import sys

record = [row["sunspots"] for row in csv.DictReader(sys.stdin)]
flags = [("true" if k == 0 else "false", "true" if k == len(record) - 1 else "false") for k in range(len(record))]
rows = "".join(f"{first},{last},{count}\n" for (first, last), count in zip(flags, record))
print("first,last,sunspots")
for _ in range(int(sys.argv[1])):
    sys.stdout.write(rows)
