#!/usr/bin/env python3
"""Channels beside Go's, rings beside others': run.py [REPETITIONS [MESSAGES]]. Prints one table.

Wants g++, go, libreaderwriterqueue-dev and libboost-dev. All programs in turn, so that other work on the machine
meets all of them; what counts is each line's fastest repetition."""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
REPETITIONS = int(sys.argv[1]) if len(sys.argv) > 1 else 7
MESSAGES = sys.argv[2] if len(sys.argv) > 2 else "1000000"


def build(folder):
    ours, go = folder / "ours", folder / "go"
    library = sorted((ROOT / "runtime/channel").glob("*.cc"))
    subprocess.run(["g++", "-std=c++20", "-O2", f"-I{ROOT}", HERE / "channels.cc", *library, "-pthread", "-o", ours], check=True)
    subprocess.run(["go", "build", "-o", go, HERE / "channels.go"], check=True)
    return {"ours": ours, "go": go}


def main():
    best = {"ours": {}, "go": {}}
    with tempfile.TemporaryDirectory() as folder:
        programs = build(pathlib.Path(folder))
        for _ in range(REPETITIONS):
            for name, program in programs.items():
                done = subprocess.run([program, MESSAGES], capture_output=True, text=True, check=True)
                for line in done.stdout.splitlines():
                    case, value = line.split()
                    best[name][case] = min(float(value), best[name].get(case, float("inf")))
    print(f"| {'ns per message':18} |   ours |     Go | Go / ours |\n|---|---|---|---|")
    for case, go in best["go"].items():
        ours = best["ours"][case]
        print(f"| {case:18} | {ours:6.1f} | {go:6.1f} | {go / ours:9.2f} |")
    for case, value in best["ours"].items():
        if case not in best["go"]:
            print(f"| {case:18} | {value:6.2f} |        | {1000 / value:6.0f} M/s |")


main()
