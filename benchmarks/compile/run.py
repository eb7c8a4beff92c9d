#!/usr/bin/env python3
"""Compares compile times, and times from start to first step, with C compilers, PyTorch and JAX.

Usage: [PYTHON=…] [PEERS=…] run.py RMLC      PYTHON: a Python with jax and torch; PEERS: the folder of lstm_equiv.c
Prints the minimum of many runs: milliseconds of processor time, including child processes, and of elapsed time."""
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PEERS = pathlib.Path(os.environ.get("PEERS", HERE.parents[2] / "shared" / "benchmarks" / "ml"))
RUNS = 21


def once(command):
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    took, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, took, done.stdout


def main():
    rmlc = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        own, ours = folder / "ours", HERE / "first_step.rml"
        lstm = HERE.parent / "ml" / "lstm_infer.rml"
        rows = {
            "rmlc build, LSTM of 128": [rmlc, "build", lstm, "-o", folder / "lstm"],
            "rmlc build, LSTM of 64": [
                rmlc, "build", lstm, "-D", "units=64", "-D", "inputs=32", "-o", folder / "lstm"],
            "rmlc build, one that draws its weights": [rmlc, "build", ours, "-o", own],
            "rmlc check": [rmlc, "check", lstm],
        }
        for compiler in ("clang-19", "clang-14", "gcc"):
            if shutil.which(compiler) and (PEERS / "lstm_equiv.c").exists():
                rows[f"{compiler} -O2, LSTM of 64 in C"] = [
                    compiler, "-O2", PEERS / "lstm_equiv.c", "-lm", "-o", folder / compiler]
        rows["start to first step: executable"] = [own, "--cycles", "1"]
        rows["start to first step: rmlc run"] = [rmlc, "run", ours, "--cycles", "1"]
        for compiler in ("clang-19", "gcc"):
            if f"{compiler} -O2, LSTM of 64 in C" in rows:
                rows[f"start to first step: C by {compiler}"] = [folder / compiler]
        rows["/bin/true"] = ["/bin/true"]
        best = {row: (1e9, 1e9) for row in rows}
        for _ in range(RUNS):  # runs the candidates alternately, so that all see the same state of the machine
            for row, command in rows.items():
                processor, wall, _ = once(command)
                best[row] = (min(best[row][0], processor), min(best[row][1], wall))
    print(f"{'ms':42} {'processor':>9} {'wall':>7}")
    for row, (processor, wall) in best.items():
        print(f"{row:42} {1e3 * processor:9.1f} {1e3 * wall:7.1f}")
    for peer, script in ({"JAX": "jax_step.py", "torch.jit": "torch_step.py"} if "PYTHON" in os.environ else {}).items():
        try:
            results = [once([os.environ["PYTHON"], HERE / script]) for _ in range(5)]
        except subprocess.CalledProcessError:
            continue  # skips a package that is not installed
        print(f"{peer + ': whole process':42} {1e3 * min(r[0] for r in results):9.1f} {1e3 * min(r[1] for r in results):7.1f}")
        for k, label in enumerate(["trace, compile, first step", "the same, a second function"]):
            print(f"{peer + ': ' + label:42} {'':9} {min(float(r[2].split()[k]) for r in results):7.1f}")


if __name__ == "__main__":
    main()
