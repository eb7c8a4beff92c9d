#!/usr/bin/env python3
"""How long rmlc takes: median processor time (one thread) of `check` and of `build --emit obj`.

Usage: measure.py RMLC [EQUATIONS…]   (default 100 1000 10000; 100000 takes minutes)"""
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

COMMANDS = {
    "check": ["check"],
    "obj -O0": ["build", "--emit", "obj", "-O", "0"],
    "obj -O2": ["build", "--emit", "obj", "-O", "2"],
}
TARGETS = {("check", 100): 0.030, ("obj -O2", 100): 0.150, ("check", 100_000): 60, ("obj -O0", 100_000): 60}


def seconds(command, runs):
    times = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: {done.stderr}")
    return statistics.median(times)


def main():
    rmlc = sys.argv[1]
    sizes = [int(a) for a in sys.argv[2:]] or [100, 1000, 10_000]
    generate = pathlib.Path(__file__).with_name("generate.py")
    print(f"{'equations':>9}  {'command':8} {'seconds':>9} {'us/equation':>12}  target")
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        source, output = pathlib.Path(folder, "program.rml"), pathlib.Path(folder, "program.o")
        for size in sizes:
            with open(source, "w") as file:
                subprocess.run([sys.executable, generate, str(size)], stdout=file, check=True)
            for name, arguments in COMMANDS.items():
                command = [rmlc, *arguments, str(source), "--node", "main"]
                if arguments[0] == "build":
                    command += ["-o", str(output)]
                took = seconds(command, 11 if size <= 1000 else 3 if size <= 10_000 else 1)
                target = TARGETS.get((name, size))
                verdict = "" if target is None else f"{target:g} s {'met' if took <= target else 'MISSED'}"
                missed |= target is not None and took > target
                print(f"{size:9}  {name:8} {took:9.3f} {1e6 * took / size:12.1f}  {verdict}", flush=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"peak memory of any run: {peak / 1024:.0f} MiB")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
