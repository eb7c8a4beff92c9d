#!/usr/bin/env python3
"""Measures how time and memory grow with cycles, lengths of segments, equations and hidden units.

Usage: run.py RMLC [cycles|segments|equations|backward|hidden|programs]…   (default: all but programs)
  cycles     10^3 … 10^8 cycles: nanoseconds per cycle, and peak memory
  segments   segments of 10 … 10^5 cycles: the same
  equations  10 … 10^5 equations: processor time and memory of `check` and `build --emit obj`
  backward   10 … 1000 nested backward recurrences: the same
  hidden     a step of an LSTM of 8 … 4096 units, compared with the time to read or multiply its weights
  programs   memory.py: the acceptance programs at 20,000 and 2,000,000 cycles
Fails if memory grows with cycles, or if an equation costs several times as much in a large program as in a
small one."""
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ALLOWED_MIB = 1.0


def build(rmlc, source, output, *options):
    subprocess.run([rmlc, "build", source, "-o", output, *map(str, options)], check=True)


def run(program, cycles):
    """Returns the seconds per cycle and the peak MiB of a run whose rows are discarded. A shell starts the program, so
    that the memory of this interpreter is not counted."""
    done = subprocess.run(
        ["/bin/sh", "-c", '"$@"; exit $?', "sh", program, "--cycles", str(cycles), "--stats", "--quiet"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True,
    )
    number = lambda pattern: float(re.search(pattern, done.stderr).group(1))
    return cycles / number(r"speed\s+(\d+)"), number(r"peak memory\s+([\d.]+)")


def best(program, cycles):
    results = [run(program, cycles) for _ in range(5 if cycles <= 1_000_000 else 2)]
    return min(r[0] for r in results), min(r[1] for r in results)


def cycles(rmlc, folder):
    program = folder / "cycles"
    build(rmlc, HERE / "cycles.rml", program)
    print(f"{'cycles':>12} {'ns / cycle':>10} {'peak MiB':>9}")
    peaks = []
    for n in (10**k for k in range(3, 9)):
        seconds, peak = best(program, n)
        peaks.append(peak)
        print(f"{n:12,} {1e9 * seconds / n:10.1f} {peak:9.1f}", flush=True)
    return max(peaks) <= min(peaks) + ALLOWED_MIB


def segments(rmlc, folder):
    program = folder / "segments"
    print(f"{'length':>12} {'ns / cycle':>10} {'peak MiB':>9}")
    for length in (10**k for k in range(1, 6)):
        build(rmlc, HERE / "segments.rml", program, "-D", f"length={length}")
        seconds, peak = best(program, 1_000_000)
        print(f"{length:12,} {seconds * 1e3:10.1f} {peak:9.1f}", flush=True)
    return True


def compile_once(command):
    """Returns the processor seconds and the peak MiB of one compilation. Another interpreter starts the compiler, so
    that the memory of this one is not counted."""
    script = 'import resource,subprocess,sys; subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL, check=True); ' \
             'r = resource.getrusage(resource.RUSAGE_CHILDREN); print(r.ru_utime + r.ru_stime, r.ru_maxrss / 1024)'
    text = subprocess.run([sys.executable, "-c", script, *map(str, command)], capture_output=True, text=True, check=True)
    seconds, peak = text.stdout.split()
    return float(seconds), float(peak)


def compilations(rmlc, folder, script, sizes, small):
    """Returns whether an equation of the largest program costs little more than one of a small program."""
    source, output = folder / "program.rml", folder / "program.o"
    commands = {"check": ["check"], "obj -O0": ["build", "--emit", "obj", "-O0", "-o", output],
                "obj -O2": ["build", "--emit", "obj", "-O2", "-o", output]}
    print(f"{'equations':>12}" + "".join(f" | {name:>8} {'us each':>8} {'MiB':>6}" for name in commands))
    each = {}
    for size in sizes:
        with open(source, "w") as file:
            subprocess.run([sys.executable, HERE / script, str(size)], stdout=file, check=True)
        print(f"{size:12,}", end="")
        for name, words in commands.items():
            runs = [compile_once([rmlc, *words, source]) for _ in range(7 if size <= 1000 else 1)]
            seconds, peak = min(runs)
            each[name, size] = seconds / size
            print(f" | {seconds:7.3f}s {1e6 * seconds / size:8.1f} {peak:6.0f}", end="", flush=True)
        print()
    return all(each[name, sizes[-1]] <= 4 * each[name, small] for name in commands)


def equations(rmlc, folder):
    return compilations(rmlc, folder, "equations.py", [10**k for k in range(1, 6)], 1000)


def backward(rmlc, folder):
    return compilations(rmlc, folder, "backward.py", [10**k for k in range(1, 4)], 100)


def hidden(rmlc, folder):
    print(f"{'units':>12} {'step us':>10} {'reading':>10} {'arithmetic':>10} {'functions':>10} {'of the limit':>13}")
    for units in (2**k for k in range(3, 13)):
        lib, program = folder / "lstm_infer.o", folder / "hidden"
        build(rmlc, HERE.parent / "ml" / "lstm_infer.rml", lib, "--emit", "lib", "-O3", "--cpu", "native",
              "-D", f"units={units}", "-D", f"inputs={units // 2}")
        subprocess.run(["cc", "-O3", "-march=native", "-ffast-math", f"-DUNITS={units}", "-include",
                        folder / "lstm_infer.h", HERE / "hidden.c", lib, "-lm", "-o", program], check=True)
        text = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        times = [float(word) / 1e3 for word in text.split()]
        step, reading, arithmetic, functions = times
        limit = max(reading, arithmetic + functions)
        print(f"{units:12}" + "".join(f" {t:10.3f}" for t in times) + f" {limit / step:12.0%}", flush=True)
    return True


def main():
    rmlc = str(pathlib.Path(sys.argv[1]).resolve())
    tables = {"cycles": cycles, "segments": segments, "equations": equations, "backward": backward,
              "hidden": hidden}
    wanted = sys.argv[2:] or list(tables)
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted:
            if name == "programs":
                good &= subprocess.run([sys.executable, HERE / "memory.py", rmlc]).returncode == 0
            elif tables[name](rmlc, pathlib.Path(folder)):
                print()
            else:
                print(f"{name}: GROWS\n")
                good = False
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"peak memory of any process: {peak / 1024:.0f} MiB")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
