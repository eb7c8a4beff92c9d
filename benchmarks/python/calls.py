#!/usr/bin/env python3
"""Calls of the Python package whose instructions scripts/counts counts: calls.py step|run|run_in_c TIMES.

`step` calls the PID of examples/pid TIMES times, `run` gives it TIMES rows in one call, and `run_in_c` gives them to
`pid_run` of its C interface. scripts/counts uses two numbers TIMES. All three compile and import the same, so the
difference of two counts contains only the calls."""

import pathlib
import sys
import tempfile

import numpy as np
import rmlc
from pid_in_c import pid_in_c

ROOT = pathlib.Path(__file__).resolve().parents[2]


def step(node, times):
    call = node.start().step
    for _ in range(times):
        call(50.0, 48.0)


def run(node, columns, _):
    node.start().run(columns)


def run_in_c(node, columns, command):
    with tempfile.TemporaryDirectory() as folder:
        pid_in_c(node, pathlib.Path(folder))(*columns.values(), command)


def main():
    what, times = sys.argv[1], int(sys.argv[2])
    node = rmlc.load(ROOT / "examples/pid/pid.rml").node("pid", cpu="x86-64-v3")
    if what == "step":
        return step(node, times)
    draw = np.random.default_rng(0)
    columns = {"target": draw.normal(50, 1, times), "measured": draw.normal(48, 2, times)}
    {"run": run, "run_in_c": run_in_c}[what](node, columns, np.empty(times))


main()
