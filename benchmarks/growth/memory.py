#!/usr/bin/env python3
"""Compares the peak memory of short and long runs: the acceptance programs at 20,000 and 2,000,000 cycles.

Usage: memory.py RMLC [SHORT LONG]. Each program is compiled and reads the inputs of its test repeatedly,
as CSV from standard input. Fails if a long run needs over 1 MiB more than the short run."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests" / "acceptance"
ALLOWED_MIB = 1.0
# (program, node, name of the test with the inputs)
PROGRAMS = [
    ("case01_counter", "counters", "case01_counter"),
    ("case01_fir", "filter", "case01_fir"),
    ("case01_kalman", "kalman", "case01_kalman"),
    ("case01_pid", "loop", "case01_pid"),
    ("case02_multirate", "deep", "case02_deep"),
    ("case02_multirate", "lookahead", "case02_deep"),
    ("case03_backfill", "nested", "case03_backfill"),
    ("case04_batch_norm", "train", "case04_train"),
    ("case05_pipelines", "train3", "case05_train3"),
    ("case06_lstm", "every_cycle", "case06_every_cycle"),
    ("case07_bidirectional", "every_cycle", "case06_every_cycle"),
    ("case08_two_cuts", "inputs", "case08_inputs"),
    ("case09_experts", "recurrent", "case09_recurrent"),
    ("case10_agent", "agent", "case10_agent"),
]


def csv_of_chronogram(text):
    """Returns the header and rows of a chronogram as CSV. A tensor [1,2] becomes two columns, and an absent value an
    empty field."""
    columns = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("--"):
            continue
        name, values = line.split("|")
        name, values = name.strip(), values.split()
        shape = next((v for v in values if v.startswith("[")), None)
        if shape is None:
            columns.append((name, ["" if v == "." else v for v in values]))
            continue
        rows = shape.strip("[]").split(";")
        for i in range(len(rows)):
            for j in range(rows[0].count(",") + 1):
                cells = ["" if v == "." else v.strip("[]").split(";")[i].split(",")[j] for v in values]
                place = f"{j}" if len(rows) == 1 else f"{i},{j}"
                columns.append((f"{name}[{place}]", cells))
    header = ",".join(f'"{name}"' for name, _ in columns)
    return header + "\n", "".join(",".join(row) + "\n" for row in zip(*(cells for _, cells in columns)))


def run(program, header, rows, cycles):
    """Returns the peak memory in MiB, the longest segment, and the cycles per second of one run."""
    with tempfile.TemporaryFile() as stats, open(os.devnull, "w") as null:
        # A shell starts the program, so that the memory of this interpreter is not counted.
        command = ["/bin/sh", "-c", 'p=$1; shift; "$p" "$@"; exit $?', "sh", program]
        child = subprocess.Popen(
            [*command, "--stats", "--quiet", "--cycles", str(cycles)], stdin=subprocess.PIPE, stdout=null, stderr=stats
        )
        repeat = rows * max(1, 20_000 // rows.count("\n"))
        left = cycles
        try:
            child.stdin.write(header.encode())
            while left > 0:
                child.stdin.write(repeat.encode())
                left -= repeat.count("\n")
            child.stdin.close()
        except BrokenPipeError:
            pass  # the program stops reading after the requested number of cycles, which is no error
        status = child.wait()
        stats.seek(0)
        text = stats.read().decode()
    if status != 0:
        sys.exit(f"{program}: exit status {status}\n{text}")
    number = lambda pattern: float(re.search(pattern, text).group(1))
    return number(r"peak memory\s+([\d.]+)"), number(r"longest segment\s+(\d+)"), number(r"speed\s+(\d+)")


def main():
    rmlc = sys.argv[1]
    short, long = (int(a) for a in sys.argv[2:4]) if len(sys.argv) > 3 else (20_000, 2_000_000)
    print(f"{'program':21} {'node':12} {'MiB at':>9} {'MiB at':>10} {'longest':>8} {'cycles/s':>9}")
    print(f"{'':34} {short:9,} {long:10,} {'segment':>8}")
    grown = False
    with tempfile.TemporaryDirectory() as folder:
        for name, node, inputs in PROGRAMS:
            program = str(pathlib.Path(folder, f"{name}_{node}"))
            build = [rmlc, "build", str(TESTS / f"{name}.rml"), "--node", node, "-o", program]
            subprocess.run(build, check=True)
            header, rows = csv_of_chronogram((TESTS / f"{inputs}.in.chron").read_text())
            before, _, _ = run(program, header, rows, short)
            after, segment, speed = run(program, header, rows, long)
            grows = after > before + ALLOWED_MIB
            grown |= grows
            print(
                f"{name:21} {node:12} {before:9.1f} {after:10.1f} {segment:8.0f} {speed:9.0f}"
                f"{'  GROWS' if grows else ''}",
                flush=True,
            )
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
