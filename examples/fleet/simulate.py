#!/usr/bin/env python3
"""Simulates the rows of a fleet: simulate.py ROWS.npz BROKEN.csv [MACHINES [HOURS [SEED]]]

Every machine has a load that varies, weather of its own, and a temperature that depends on both
with coefficients of its own. One machine in 500 breaks in the last third of the time: from then
on its temperature rises every hour. Each hour has the rows of all machines, in a different order."""
import sys

import numpy as np


def main():
    file, broken = sys.argv[1:3]
    machines, hours, seed = (int(a) for a in sys.argv[3:] + ["100000", "48", "0"][len(sys.argv) - 3:])
    draw = np.random.default_rng(seed)
    base, of_load, of_weather = draw.normal(60, 8, machines), draw.normal(12, 3, machines), draw.normal(0.6, 0.2, machines)
    phase = draw.uniform(0, 2 * np.pi, machines)
    breaks = np.full(machines, hours)
    ill = draw.choice(machines, max(machines // 500, 1), replace=False)
    breaks[ill] = draw.integers(2 * hours // 3, hours - 6, len(ill))
    load = draw.uniform(0.2, 0.9, machines)
    columns = {name: [] for name in ("machine", "hour", "load", "weather", "temperature")}
    for hour in range(hours):
        load = np.clip(load + draw.normal(0, 0.08, machines), 0, 1)
        weather = 15 + 8 * np.sin(2 * np.pi * hour / 24 + phase) + draw.normal(0, 0.5, machines)
        heat = np.maximum(hour - breaks, 0) * 1.5 + np.where(hour >= breaks, 6.0, 0.0)
        temperature = base + of_load * load + of_weather * weather + heat + draw.normal(0, 0.5, machines)
        order = draw.permutation(machines)
        for name, values in (("machine", np.arange(machines, dtype=np.int32)), ("hour", np.full(machines, hour, np.int32)),
                             ("load", load), ("weather", weather), ("temperature", temperature)):
            columns[name].append(values[order])
    np.savez(file, **{name: np.concatenate(parts) for name, parts in columns.items()})
    with open(broken, "w", encoding="utf-8") as out:
        out.write("machine,hour\n" + "".join(f"{k},{breaks[k]}\n" for k in sorted(ill)))


main()
