"""Checks the model of the blocking protocol, blocking.pml, with Spin.

  spin_test.py MODEL         run by ctest: searches the smallest sizes, and a model with a mistake, which must be found.
                             For the other sizes it checks that they were searched since the model or the list of
                             sizes changed. Skipped without Spin.
  spin_test.py MODEL --all   searches every state that a few threads can reach, at all sizes; takes minutes. Writes
                             blocking.searched with a digest of the model; commit it with a change of the model.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

MODEL = os.path.abspath(sys.argv[1])
SEARCHED = os.path.splitext(MODEL)[0] + ".searched"
SKIPPED = 77
SMALL = [{"CAP": 0, "SENDERS": 1, "EACH": 2}, {"CAP": 1, "SENDERS": 1, "EACH": 2}]
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
                        ["cc", "-O2" if sizes in RIGHT else "-O0", "-w", "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=3000", "-o", "pan", "pan.c"],
                        ["./pan", "-m1000000", "-w22", "-n"]):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if done.returncode != 0 and command[0] != "./pan":
                sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    found = re.search(r"errors: (\d+)\s+(\d+) states, stored", done.stdout)
    if found is None or "max search depth too small" in done.stdout or "out of memory" in done.stdout:
        sys.exit(f"{sizes}: the search has not ended\n{done.stdout}{done.stderr}")
    message = re.search(r"pan:1: (.*)", done.stdout)
    return int(found.group(1)), int(found.group(2)), message.group(1) if message else ""


def digest():
    """A digest of everything on which a search depends."""
    with open(MODEL, "rb") as model:
        return hashlib.sha256(model.read() + repr(RIGHT).encode()).hexdigest()


def searched():
    """True if all sizes were searched in the current model."""
    try:
        with open(SEARCHED, encoding="utf-8") as file:
            return file.readline().strip() == digest()
    except FileNotFoundError:
        return False


def search(sizes, wanted):
    """Searches. Returns a line with the result, and whether it is the wanted one."""
    errors, states, message = verdict(sizes)
    well = (errors > 0) == wanted
    line = f"{'well' if well else 'NOT WELL'}: {sizes}: {states} states, {message or 'no error'}"
    print(line, flush=True)
    return line, well


def main():
    everything = sys.argv[2:] == ["--all"]
    if not everything and not searched():
        sys.exit(f"{MODEL} has changed since all its sizes were searched: scripts/soak protocol")
    if shutil.which("spin") is None:
        print("skipped: no spin (scripts/setup installs it)")
        sys.exit(SKIPPED)
    found = [search(sizes, False) for sizes in (RIGHT if everything else SMALL)]
    found += [search(sizes, True) for sizes in WRONG]
    if not all(well for _, well in found):
        sys.exit(1)
    if everything:
        with open(SEARCHED, "w", encoding="utf-8") as file:
            file.write("\n".join([digest(), *(line for line, _ in found)]) + "\n")


main()
