"""Products over whole segments give the results of products in single cycles: batched_test.py
RMLC.

Every node of batched.rml runs on the reference engine, compiled cycle by cycle (equal to the
bit), and compiled with products over segments, also if the forward computation waits for its
segment (equal up to rounding).
"""
import csv
import io
import pathlib
import subprocess
import sys

RMLC = sys.argv[1]
PROGRAM = pathlib.Path(__file__).parent / "batched.rml"
CYCLES = 860  # segments of 1 to 9, 700, and 1 to 9 cycles, and a part of a long one


def rows(node, *options):
    done = subprocess.run([RMLC, "run", PROGRAM, "--node", node, "--cycles", str(CYCLES), *options],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{node} {options}: exit status {done.returncode}\n{done.stderr}")
    return list(csv.reader(io.StringIO(done.stdout)))


def near(a, b):
    try:
        x, y = float(a), float(b)
    except ValueError:
        return a == b
    return abs(x - y) <= 1e-9 * max(1.0, abs(y))


problems = []
for node in ("lstm", "samples", "averaged", "rows", "many", "bidirectional", "deep"):
    expected = rows(node, "--engine", "reference")
    if rows(node, "--strict-math") != expected:
        problems.append(f"{node}: --strict-math differs from the reference engine")
    for options in ([], ["-O0"], ["--chunk", "segment"], ["-O0", "--chunk", "segment"], ["--cpu", "generic"]):
        found = rows(node, *options)
        if len(found) < 700 or (not options and len(found) != len(expected)):
            problems.append(f"{node} {options}: {len(found)} rows of {len(expected)}")
        for n, (a, b) in enumerate(zip(found, expected)):
            if len(a) != len(b) or not all(map(near, a, b)):
                problems.append(f"{node} {options}: row {n} is {a}, not {b}")
                break
shown = subprocess.run([RMLC, "show", "steps", PROGRAM, "--node", "samples"], capture_output=True, text=True, check=True)
if shown.stdout.count(" += sum of") != 2:
    problems.append("samples: the gradients of both layers' weights are not added to them as they are computed")
shown = subprocess.run([RMLC, "show", "steps", PROGRAM, "--node", "bidirectional"], capture_output=True, text=True,
                       check=True)
if shown.stdout.count("all instants") != 2:
    problems.append("bidirectional: the forward direction does not wait for the other one")
sys.exit("\n".join(problems)[:4000] or 0)
