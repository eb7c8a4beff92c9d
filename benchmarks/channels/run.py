#!/usr/bin/env python3
"""Compares channels with those of Go, and rings with those of other libraries: run.py [REPETITIONS [MESSAGES]].

Prints one table. Needs g++, go, libreaderwriterqueue-dev, libboost-dev and libboost-context-dev. All programs run
alternately, so that other load of the machine affects all of them. The fastest repetition of each line counts."""

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
    subprocess.run(["g++", "-std=c++20", "-O2", f"-I{ROOT}", HERE / "channels.cc", *library, "-pthread", "-lboost_context", "-o", ours], check=True)
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
    print("| ns per message | fibers | Go / fibers | threads | Go / threads | Go |\n|---|---|---|---|---|---|")
    for case, go in best["go"].items():
        fibers, threads = best["ours"].get("fibers/" + case), best["ours"][case]
        first = f"{fibers:.1f} | {go / fibers:.2f}" if fibers else "|"
        print(f"| {case} | {first} | {threads:.1f} | {go / threads:.2f} | {go:.1f} |")
    print("\n| ring | ns per message | M/s |\n|---|---|---|")
    for case, value in best["ours"].items():
        if case.startswith("ring/"):
            print(f"| {case.removeprefix('ring/')} | {value:.2f} | {1000 / value:.0f} |")


main()
