"""The model of the blocking protocol, blocking.pml, checked by Spin: spin_test.py MODEL, run by ctest.

Every state that a few threads can reach; then the same with a mistake, which must be found. Skipped without Spin."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

MODEL = os.path.abspath(sys.argv[1])
SKIPPED = 77
RIGHT = [
    {"CAP": 0, "SENDERS": 2, "EACH": 2},
    {"CAP": 0, "SENDERS": 1, "RECEIVERS": 2, "EACH": 2},
    {"CAP": 0, "SENDERS": 2, "EACH": 1, "CLOSES": 1},
    {"CAP": 1, "SENDERS": 1, "EACH": 4},
    {"CAP": 1, "SENDERS": 1, "EACH": 3, "CLOSES": 1},
    {"CAP": 1, "SENDERS": 1, "RECEIVERS": 2, "EACH": 2},
    {"CAP": 1, "SENDERS": 2, "EACH": 1},
    {"CAP": 2, "SENDERS": 1, "EACH": 4},
]
WRONG = [{"CAP": 1, "SENDERS": 1, "EACH": 2, "LOOKS_AGAIN": 0}]


def verdict(sizes):
    """(errors, states) of the whole search."""
    with tempfile.TemporaryDirectory() as folder:
        defined = [f"-D{name}={value}" for name, value in sizes.items()]
        for command in (["spin", *defined, "-a", MODEL],
                        ["cc", "-O2", "-w", "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=3000", "-o", "pan", "pan.c"],
                        ["./pan", "-m1000000", "-w22", "-n"]):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if done.returncode != 0 and command[0] != "./pan":
                sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    found = re.search(r"errors: (\d+)\s+(\d+) states, stored", done.stdout)
    if found is None or "max search depth too small" in done.stdout or "out of memory" in done.stdout:
        sys.exit(f"{sizes}: the search has not ended\n{done.stdout}{done.stderr}")
    message = re.search(r"pan:1: (.*)", done.stdout)
    return int(found.group(1)), int(found.group(2)), message.group(1) if message else ""


def main():
    if shutil.which("spin") is None:
        print("skipped: no spin (scripts/setup installs it)")
        sys.exit(SKIPPED)
    bad = False
    for sizes, wanted in [(s, False) for s in RIGHT] + [(s, True) for s in WRONG]:
        errors, states, message = verdict(sizes)
        well = (errors > 0) == wanted
        bad = bad or not well
        print(f"{'well' if well else 'NOT WELL'}: {sizes}: {states} states, {message or 'no error'}", flush=True)
    sys.exit(1 if bad else 0)


main()
