"""Observes processes through /proc, for tests that must send a signal at a certain moment."""

import pathlib
import time


def catches(pid, number):
    """True if the process handles the signal; an earlier signal would end it, as it ends any
    program."""
    told = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    mask = next((line.split()[1] for line in told.splitlines() if line.startswith("SigCgt:")), "0")
    return int(mask, 16) >> (number - 1) & 1


def waits(pid):
    """True if all threads sleep at each of several observations, and use almost no processor
    time in between."""
    states, ticks = set(), []
    for look in range(10):
        time.sleep(0.02 * (look > 0))
        used = 0
        for thread in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"):
            fields = thread.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            states.add(fields[0])
            used += int(fields[11]) + int(fields[12])  # ticks in user mode and in the kernel
        ticks.append(used)
    return states == {"S"} and ticks[-1] <= ticks[0] + 1
