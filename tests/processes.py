"""What the system tells of processes: tests that signal a program look for the moment at which that means something."""

import pathlib
import time


def catches(pid, number):
    """Whether the process looks for the signal; one that comes before ends it, as it ends any program."""
    told = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    mask = next((line.split()[1] for line in told.splitlines() if line.startswith("SigCgt:")), "0")
    return int(mask, 16) >> (number - 1) & 1


def waits(pid):
    """Whether its threads sleep whenever they are looked at, and compute next to nothing meanwhile."""
    states, ticks = set(), []
    for look in range(10):
        time.sleep(0.02 * (look > 0))
        used = 0
        for thread in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"):
            fields = thread.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            states.add(fields[0])
            used += int(fields[11]) + int(fields[12])  # for itself, and in the system
        ticks.append(used)
    return states == {"S"} and ticks[-1] <= ticks[0] + 1
