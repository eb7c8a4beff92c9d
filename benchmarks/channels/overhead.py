#!/usr/bin/env python3
"""Measures the overhead of a network: overhead.py [BUILD [REPETITIONS]]. Prints one table.

The program is a chain of 8 layers tanh(matmul(W, x)) of one width, with 18 equations. It runs in one thread, as a
network with a task for each equation (--grain op), where each value of a cycle passes through a ring, and as a network
with a task for each stage. All programs run alternately; the fastest run of each one counts."""

import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release")
REPETITIONS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
LAYERS = 8
CYCLES = {4: 200_000, 16: 200_000, 32: 100_000, 64: 50_000, 128: 20_000, 256: 5_000, 512: 2_000}
PROGRAMS = {"compiled": [], "op": ["--grain", "op"], "stage": ["--grain", "stage"]}
RUNS = [("compiled", None), ("op", 1), ("op", 2), ("stage", 1), ("stage", 2)]


def source(width):
    layers = "\n".join(
        f"  w{k} = param(full([{width}, {width}], {1 / width + 0.001 * k}));\n  v{k} = tanh(matmul(w{k}, v{k - 1}));"
        for k in range(1, LAYERS + 1))
    return (f"node main() -> (y: f32)\n  v0: f32[{width}] = full([{width}], 0.5) fby v0 * 0.999 + 0.001;\n{layers}\n"
            f"  y = v{LAYERS}[0];\n")


def seconds(program, workers, cycles):
    command = [program, "--cycles", str(cycles), "--quiet", "--output", "/dev/null", "--format", "csv"]
    command += ["--workers", str(workers)] if workers else ["--threads", "1"]
    begin = time.monotonic()
    subprocess.run(command, check=True)
    return time.monotonic() - begin


def main():
    print("| width | equation, µs | " + " | ".join(f"{name} {workers}" for name, workers in RUNS[1:]) + " | task, ns |")
    print("|---|---|" + "---|" * len(RUNS))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for width, cycles in CYCLES.items():
            (folder / "chain.rml").write_text(source(width))
            for program, options in PROGRAMS.items():
                subprocess.run([BUILD / "bin/rmlc", "build", folder / "chain.rml", *options, "-o", folder / program], check=True)
            tasks = subprocess.run([BUILD / "bin/rmlc", "show", "tasks", folder / "chain.rml", "--grain", "op"],
                                   check=True, capture_output=True, text=True).stdout.count("\ntask ")
            best = {run: float("inf") for run in RUNS}
            for _ in range(REPETITIONS):
                for run in RUNS:  # subtracts the time of the start
                    once = seconds(folder / run[0], run[1], 1)
                    best[run] = min(best[run], (seconds(folder / run[0], run[1], cycles) - once) / cycles)
            compiled = best[RUNS[0]]
            ratios = " | ".join(f"{best[run] / compiled:.2f}" for run in RUNS[1:])
            print(f"| {width} | {1e6 * compiled / (2 * LAYERS + 2):.3f} | {ratios} | "
                  f"{1e9 * (best[('op', 1)] - compiled) / tasks:.0f} |", flush=True)


main()
