#!/usr/bin/env python3
"""Draws the result of fleet.rml: plot.py ROWS.npz FOUND.npz BROKEN.csv PICTURE.svg

The upper panel shows the first alarm of each machine that gives one, the lower panel a machine
that broke. Prints how many broken machines were found."""
import csv
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from picture import Panel, picture, rounded, steps

MEASURED, EXPECTED, RIGHT, FALSE, BROKEN = "#1f5a8c", "#d9a441", "#c0341d", "#555555", "#f6d9d3"


def main():
    rows_file, found_file, broken_file, file = sys.argv[1:]
    rows, found = np.load(rows_file), np.load(found_file)
    machine, hour, temperature = rows["machine"], rows["hour"], rows["temperature"]
    if not np.array_equal(machine, found["machine"]):
        sys.exit("the rows found are not those of the input")
    with open(broken_file, encoding="utf-8") as lines:
        broken = {int(row["machine"]): int(row["hour"]) for row in csv.DictReader(lines)}
    first = {}
    for k in np.flatnonzero(found["alarm"]):
        first.setdefault(int(machine[k]), int(hour[k]))
    right = {m: h for m, h in first.items() if h >= broken.get(m, 1 << 30)}
    false = {m: h for m, h in first.items() if m not in right}
    machines, hours = int(machine.max()) + 1, int(hour.max()) + 1
    print(f"{machines:,} machines, {len(broken)} of them broke: {len(right)} found, "
          f"{sum(right[m] == broken[m] for m in right)} in the same hour; {len(false)} false alarms")

    out = []
    scale, unit = (1000, "thousands") if machines > 5000 else (1, "number")
    above = Panel(out, (80, 132, 890, 260), (0, hours), (0, machines / scale), "The fleet",
                  "The first alarm of each machine that gives one: its number, and when.")
    above.axes([(h, str(h)) for h in steps(0, hours, 12)], steps(0, machines / scale, 5), unit)
    for some, colour in ((false, FALSE), (right, RIGHT)):
        out += [f'<circle cx="{above.x(h + 0.5):.1f}" cy="{above.y(m / scale):.1f}" r="2.4" fill="{colour}"/>' for m, h in some.items()]
    above.legend([("broken", RIGHT, "dot"), ("false alarm", FALSE, "dot")])

    shown = min(right or broken, key=lambda m: (abs(broken.get(m, 0) - 3 * hours // 4), m))
    at = np.flatnonzero(machine == shown)
    low, high = rounded(np.concatenate([temperature[at], found["expected"][at][3:]]), 10)
    below = Panel(out, (80, 490, 890, 170), (0, hours), (low, high), f"Machine {shown}",
                  "It broke where the band begins. The expected value is predicted from its own earlier rows.")
    below.band(broken[shown], hours, BROKEN)
    below.axes([(h, str(h)) for h in steps(0, hours, 12)], steps(low, high, 5), "degrees")
    below.line([(h + 0.5, v) for h, v in zip(hour[at], found["expected"][at])][3:], EXPECTED, 1.4)
    below.line([(h + 0.5, v) for h, v in zip(hour[at], temperature[at])], MEASURED, 1.4)
    for k in at[found["alarm"][at]]:
        out.append(f'<circle cx="{below.x(hour[k] + 0.5):.1f}" cy="{below.y(temperature[k]):.1f}" r="3" fill="{RIGHT}"/>')
    below.legend([("measured", MEASURED, "line"), ("expected", EXPECTED, "line"), ("alarm", RIGHT, "dot")])
    picture(file, 1000, 720, f"{machines:,} machines, a detector each",
            f"{len(right)} of {len(broken)} broken ones found, {len(false)} false alarms, in {len(machine):,} rows of one stream; hours below.", out)


main()
