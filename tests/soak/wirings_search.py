"""Common parts of the searches `wirings` and `iterations`: programs are printed ten per file,
run, and compared with their oracle."""
import collections
import math
import os
import random
import re
import subprocess
import sys
import tempfile

try:
    import numpy  # the oracle computes with NumPy
except ImportError:  # if this Python lacks NumPy, the system's Python runs the script
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

import wirings_oracle
from constructs import Reached

GROUP = 10
TOLERANCE = {"f64": 1e-9, "f32": 1e-4}
ROUNDING = {"f64": 1e-13, "f32": 1e-6}
TENSORS = {f"s{n}": n for n in range(1, 5)}
NUMBERS = ["x", "u"] + [f"{name}[{i}]" for name, n in TENSORS.items() for i in range(n)]
WITHHELD = "no later row is ever known|rows? (is|are) undetermined"  # messages after which the run ends; the rows
                                                                     # before count
LARGEST = 1e6  # limit of all results; larger ones are not compared


def draw_rows(group, cycles=7):
    """Inputs for the programs of a group. The last two cycles end the segments of values
    sampled by c or not c."""
    r = random.Random(f"rows {group}")
    number = lambda: r.randint(-8, 8) * 0.25 + 0.125
    return {"end": [r.random() < 0.35 for _ in range(cycles - 2)] + [True, True],
            "halt": [r.random() < 0.2 for _ in range(cycles - 2)] + [True, True],
            "c": [r.random() < 0.5 for _ in range(cycles - 2)] + [True, False],
            **{name: [number() for _ in range(cycles)] for name in NUMBERS}}


def dtype_of(number):
    """One in eight groups computes in single precision."""
    return "f32" if number // GROUP % 8 == 7 else "f64"


def table(rows):
    text = lambda v: ("T" if v else "F") if isinstance(v, bool) else repr(v)
    lines = [",".join(rows)] + [",".join(text(v) for v in row) for row in zip(*rows.values())]
    return "\n".join(lines) + "\n"


class Case:
    """A program and its expected results; `expanded` writes iterations as calls."""

    def __init__(self, program, rows, expanded=False, dtype="f64"):
        self.program, self.rows, self.expanded, self.dtype = program, rows, expanded, dtype
        self.number = program.case
        self.prefix = f"{'w' if expanded else 'n'}{self.number}_"
        self.failure = None
        self.known = program.rows_known(rows)  # number of rows that must be written
        self.withheld = False  # whether a run wrote fewer rows than there are cycles
        try:
            self.expected = wirings_oracle.Evaluation(self.program, rows, expanded).results()
        except (OverflowError, ZeroDivisionError):
            self.expected = {}
        values = [v for stream in self.expected.values() for v in stream]
        self.judged = bool(values) and all(math.isfinite(v) and abs(v) < LARGEST for v in values)

    def text(self):
        """The nodes and the calls of main."""
        text = self.program.text(self.prefix, self.expanded) + "node main()\n" + self.program.calls(self.prefix)
        return text.replace("f64", self.dtype)

    def spread(self):
        """How far the results move if each operation is off by a random factor, at most
        ROUNDING."""
        r, size = random.Random(self.number), ROUNDING[self.dtype]
        noisy = wirings_oracle.Evaluation(self.program, self.rows, self.expanded, lambda: 1.0 + size * r.uniform(-1, 1)).results()
        return {name: [abs(a - b) for a, b in zip(stream, noisy[name])] for name, stream in self.expected.items()}

    def difference(self, found):
        """Where the results differ from the expected ones; None if they agree. Columns are
        {name: texts}."""
        spread = None
        for name, stream in self.expected.items():
            if self.prefix + name not in found:
                return f"no column {name}"
            texts = found[self.prefix + name]
            if not self.known <= len(texts) <= len(stream):
                return f"{len(texts)} rows of {len(stream)}"
            self.withheld |= len(texts) < len(stream)
            for t, (expected, got) in enumerate(zip(stream, map(float, texts))):
                if abs(got - expected) <= TOLERANCE[self.dtype] * max(1.0, abs(expected)):
                    continue
                spread = spread or self.spread()
                if not abs(got - expected) <= 10 * spread[name][t]:
                    return f"a wrong value: {name} at {t} is {got!r}, not {expected!r}"
        return None


def file_text(cases):
    heads = "end: bool, halt: bool, c: bool, x: f64, u: f64" + "".join(f", {name}: f64[{n}]" for name, n in TENSORS.items())
    outputs = ", ".join(f"{c.prefix}{name}: {kind}" for c in cases for name, kind in c.program.results().items())
    imports = "".join(f"import {m};\n" for m in ("activation", "loss", "nn", "optim"))
    text = imports + "".join(c.program.text(c.prefix, c.expanded) for c in cases) + \
        f"node main({heads}) -> ({outputs})\n" + "".join(c.program.calls(c.prefix) for c in cases)
    return text.replace("f64", cases[0].dtype)


def run(cases, compiler, folder, options):
    """The columns of the results of some cases, or the message of a failure."""
    path = os.path.join(folder, "wirings.rml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(file_text(cases))
    try:
        done = subprocess.run([compiler, "run", path, *options], input=table(cases[0].rows), capture_output=True,
                              text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return None, "no answer after 120 s"
    if done.returncode != 0 and not re.search(WITHHELD, done.stderr):
        told = [m for m in done.stderr.split("\n\n") if not m.startswith("warning")]
        return None, f"status {done.returncode}: " + "\n".join(told).replace(folder + "/", "")[:3000]
    lines = [line.split(",") for line in done.stdout.splitlines()]
    return {name: [line[k] for line in lines[1:]] for k, name in enumerate(lines[0])}, None


def check(cases, compiler, folder, options):
    """Judges some cases, all in one run if possible, and notes the failures."""
    columns, message = run(cases, compiler, folder, options)
    # If one program withholds rows, they are missing from all others of the run.
    missing = columns is not None and any(len(texts) < len(cases[0].rows["end"]) for texts in columns.values())
    if (columns is None or missing) and len(cases) > 1:
        half = len(cases) // 2
        check(cases[:half], compiler, folder, options)
        check(cases[half:], compiler, folder, options)
        return
    for case in cases:
        failure = message or case.difference(columns)
        if failure:
            case.failure = (failure, options)


def kind(failure):
    """A failure without the names and places in it."""
    message = failure.splitlines()[0] if failure.startswith("status") else failure.split(":")[0]
    message = re.sub(r"`[^`]*`", "`…`", re.sub(r"status 1: error", "error", message))
    present = r"(present )?(at every cycle|never|only when (not )?`…`( and (not )?`…`)*)"
    return re.sub(present, "at …", message)


def columns_of(case, group):
    """The columns of tests/coverage.md that a program has reached."""
    return ["reference", "-O0" if group % 2 else "-O2"] + ["first derivative", "second derivative"][:case.program.order]


class Failures:
    def __init__(self, folder):
        self.folder = folder
        self.counts, self.shortest = collections.Counter(), {}

    def note(self, case):
        what, options = case.failure
        name = kind(what)
        self.counts[name] += 1
        text = file_text([case])
        if name not in self.shortest or len(text) < len(self.shortest[name][1]):
            self.shortest[name] = (case, text, what, options)

    def tell(self):
        for name, count in self.counts.most_common():
            case, text, what, options = self.shortest[name]
            print(f"{count} times {name}; case {case.number}, {' '.join(options)}:\n{what}\n{text}")
        if not self.folder:
            return
        os.makedirs(self.folder, exist_ok=True)
        with open(os.path.join(self.folder, "README"), "w", encoding="utf-8") as readme:
            for k, (name, count) in enumerate(self.counts.most_common()):
                case, text, what, options = self.shortest[name]
                place = os.path.join(self.folder, f"kind{k}")
                readme.write(f"kind{k}: {count} times {name} (case {case.number}, {' '.join(options)})\n")
                with open(place + ".rml", "w", encoding="utf-8") as f:
                    f.write("".join(f"-- {line}\n" for line in what.splitlines()) + text)
                with open(place + ".csv", "w", encoding="utf-8") as f:
                    f.write(table(case.rows))
                with open(place + ".expected", "w", encoding="utf-8") as f:
                    f.writelines(f"{n}: {s}\n" for n, s in case.expected.items())


def search(draw):
    """The search: `draw` yields the cases of a number, given the rows of its group. Returns the exit status.

    With --values as a fourth argument, only wrong values make it fail.
    """
    first, count, build = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    compiler = os.path.join(build, "bin/rmlc")
    if not os.path.exists(compiler):
        subprocess.run(["ninja", "-C", build, "bin/rmlc"], check=True, stdout=subprocess.DEVNULL)
    counts = dict(cases=0, large=0, order1=0, order2=0, order3=0, withheld=0, refused=0, wrong=0)
    reached = Reached()
    values_alone = "--values" in sys.argv
    failures = Failures(sys.argv[4] if len(sys.argv) > 4 and not values_alone else None)
    with tempfile.TemporaryDirectory() as folder:
        for group in range(first // GROUP, (first + count - 1) // GROUP + 1):
            rows = draw_rows(group)
            numbers = range(max(first, group * GROUP), min(first + count, (group + 1) * GROUP))
            cases = [case for n in numbers for case in draw(n, rows)]
            for options in (["--engine", "reference"], ["-O0"] if group % 2 else ["-O2"]):
                good = [c for c in cases if c.judged and not c.failure]
                if good:
                    check(good, compiler, folder, options)
            for case in cases:
                counts["cases"] += 1
                counts["large"] += not case.judged
                counts[f"order{case.program.order}"] += 1
                counts["withheld"] += case.withheld
                if case.failure:
                    counts["refused" if "error[E" in case.failure[0] else "wrong"] += 1
                    failures.note(case)
                elif case.judged:
                    reached.note(columns_of(case, group), case.text())
    failures.tell()
    reached.tell()
    print(*(f"{name}={n}" for name, n in counts.items()))
    found = [name for name in failures.counts if not values_alone or name.startswith("a wrong value")]
    return 1 if found else 0
