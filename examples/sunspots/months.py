#!/usr/bin/env python3
"""A record as the input of sunspots.rml: months.py PASSES < RECORD.csv

Prints PASSES times the record, `first` and `last` true in its first and last month."""
import csv
import sys

record = [row["sunspots"] for row in csv.DictReader(sys.stdin)]
flags = [("true" if k == 0 else "false", "true" if k == len(record) - 1 else "false") for k in range(len(record))]
rows = "".join(f"{first},{last},{count}\n" for (first, last), count in zip(flags, record))
print("first,last,sunspots")
for _ in range(int(sys.argv[1])):
    sys.stdout.write(rows)
