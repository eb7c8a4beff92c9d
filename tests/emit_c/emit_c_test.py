"""Compares programs as C99 (`rmlc build --emit c`) with `rmlc run --strict-math`: rows must be
equal to the bit, and faults must be of the same kind at the same cycle.

Every run of every program of the language tests, and of the examples with expectations, is
written as C, compiled with all warnings as errors, and run. A program that `--emit c` refuses
must be listed in refused.txt with the compiler's reason. An unneeded line is an error as well, so
the list can only get shorter.

    emit_c_test.py RMLC [--programs FOLDER…] [--compilers gcc,clang-19] [--sanitize] [--bless] [--keep FOLDER]
"""

import argparse
import concurrent.futures
import dataclasses
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FLAGS = ["-fno-builtin", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-ffp-contract=off", "-fPIC"]
SEGMENT = 4096  # limit of a segment, in instants; no test has longer ones
FORMATS = {"bool": "B", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q",
           "f16": "e", "bf16": "H", "f32": "f", "f64": "d"}


@dataclasses.dataclass
class Run:
    file: pathlib.Path
    number: int
    node: str
    options: list
    cycles: int | None = None
    seed: int = 0
    horizon: int = 0
    level: int = 0
    may_wait: bool = False  # rows may be later than those of `run` where it evaluates on demand
    input: pathlib.Path | None = None
    links: list = dataclasses.field(default_factory=list)

    @property
    def name(self):
        path = os.path.relpath(self.file, ROOT)
        return f"{path}#{self.number}" if self.number else path


@dataclasses.dataclass
class Port:
    name: str
    dtype: str
    shape: tuple
    clock: str

    @property
    def elements(self):
        return math.prod(self.shape)

    @property
    def always(self):
        return self.clock == "base"

    @property
    def tensor(self):
        return bool(self.shape)

    @property
    def c_name(self):
        return re.sub(r"[^A-Za-z0-9]", "_", self.name)


def read_runs(file):
    runs, links = [], []
    for line in file.read_text().splitlines():
        directive = re.match(r"-- (run|input|link): *(.*)", line)
        if directive is None:
            continue
        what, rest = directive.groups()
        words = rest.split()
        if what == "link":
            links += [file.parent / word for word in words]
        elif what == "input":
            runs[-1].input = file.parent / words[0]
        else:
            runs.append(read_run(file, len(runs), words))
    given = file.with_suffix(".in.chron")
    for run in runs:
        run.input = run.input or (given if given.exists() else None)
    for run in runs:
        run.links = links
    return runs


def read_run(file, number, words):
    run = Run(file, number, words[0], ["--node", words[0]])
    rest = iter(words[1:])
    for word in rest:
        if word == "--cycles":
            run.cycles = int(next(rest))
        elif word == "--seed":
            run.seed = int(next(rest))
        elif word == "--horizon":
            run.horizon = int(next(rest))
        elif word == "-D":
            run.options += ["-D", next(rest)]
        else:
            raise SystemExit(f"{file}: `run` with {word}")
    return run


def read_chronogram(text):
    rows = {}
    for line in text.splitlines():
        if "|" in line:
            name, cells = line.split("|", 1)
            rows.setdefault(name.strip(), []).extend(cells.split())
    return rows


def ports_of(header, direction):
    return [Port(name, dtype, tuple(int(n) for n in shape.strip("[]").split(",") if n), clock)
            for name, dtype, shape, clock in
            re.findall(rf"^ \*   {direction} (\S+): (\w+)(\[[^\]]*\])?, (.+)$", header, re.M)]


def number(text, dtype):
    if dtype == "bool":
        return int(text in ("T", "1", "true"))
    if dtype == "bf16":
        bits = struct.unpack("I", struct.pack("f", float(text)))[0]
        return (bits + 0x7fff + (bits >> 16 & 1)) >> 16 & 0xffff if text != "nan" else 0x7fc0
    if dtype in ("f16", "f32", "f64"):
        return float(text)
    return int(text)


def pack(cell, port):
    texts = [x for x in re.split(r"[\[\],;]+", cell) if x]
    if port.elements > 0 and len(texts) != port.elements:
        raise ValueError(f"{port.name}: {cell}")
    return struct.pack("=" + FORMATS[port.dtype] * port.elements, *(number(x, port.dtype) for x in texts))


def has_nan(data, dtype):
    """The elements, with None for each NaN, since a chronogram does not show the payload."""
    values = struct.unpack("=" + FORMATS[dtype] * (len(data) // struct.calcsize(FORMATS[dtype])), data)
    if dtype == "bf16":
        return tuple(None if x & 0x7fff > 0x7f80 else x for x in values)
    bits = struct.unpack("=" + {"e": "H", "f": "I", "d": "Q"}.get(FORMATS[dtype], FORMATS[dtype]) * len(values), data)
    return tuple(None if x != x else b for x, b in zip(values, bits))


C_TYPES = {"bool": "uint8_t", "f16": "uint16_t", "bf16": "uint16_t", "f32": "float", "f64": "double"}


def c_type(port):
    return C_TYPES.get(port.dtype, f"{port.dtype.replace('u', 'uint').replace('i', 'int', 1)}_t"
                       if port.dtype[0] == "i" else f"uint{port.dtype[1:]}_t")


def driver(node, header, inputs, outputs, run):
    """A program that reads rows from stdin and writes rows to stdout, with one flag before
    each port."""
    straight = f"{node}_step(" in header
    lines = [f'#include "{node}.h"', "#include <stdio.h>", f"static {node}_state state;", "int main(void) {",
             "  int64_t cycles, k; int32_t fault = 0;",
             "  if (fread(&cycles, sizeof cycles, 1, stdin) != 1) return 1;", f"  {node}_init(&state);"]
    if f"{node}_seed(" in header:
        lines.append(f"  {node}_seed(&state, UINT64_C({run.seed}));")
    for port in inputs + outputs:
        lines.append(f"  static {c_type(port)} {port.c_name}_v[{max(port.elements, 1)}]; uint8_t {port.c_name}_f = 1;")
    lines.append("  for (k = 0; k < cycles && fault == 0; ++k) {")
    for port in inputs:
        lines.append(f"    if (fread(&{port.c_name}_f, 1, 1, stdin) != 1) return 1;")
        lines.append(f"    if (fread({port.c_name}_v, sizeof {port.c_name}_v[0], {port.elements}, stdin) != {port.elements}) return 1;")
    given = ["&state"]
    for port in inputs:
        given += [] if port.always else [f"{port.c_name}_f"]
        given.append(f"{port.c_name}_v" if port.tensor else f"{port.c_name}_v[0]")
    taken = []
    for port in outputs:
        taken += [] if port.always else [f"&{port.c_name}_f"]
        taken.append(f"{port.c_name}_v")
    row = "".join(f" fwrite(&{p.c_name}_f, 1, 1, stdout); fwrite({p.c_name}_v, sizeof {p.c_name}_v[0], {p.elements}, stdout);"
                  for p in outputs)
    faults = f"int32_t {node}_step(" in header or f"int32_t {node}_push(" in header
    if straight:
        call = f"{node}_step({', '.join(given + taken)});"
        lines.append(f"    {'fault = ' if faults else ''}{call}")
        lines.append(f"    if (fault == 0) {{ putchar(1);{row} }}")
    else:
        lines.append(f"    fault = {node}_push({', '.join(given)});")
        lines.append(f"    while ({node}_pop({', '.join(['&state'] + taken)}) == 1) {{ putchar(1);{row} }}")
    lines.append("  }")
    if faults:
        lines.append("  putchar(2); if (fault != 0) { fprintf(stderr, \"%d cycle %lld: %s\\n\", (int)fault, "
                     f"(long long)state.fault_cycle, {node}_message(&state)); }}")
    lines += ["  return 0;", "}"]
    return "\n".join(lines) + "\n"


def rows_for(run, inputs, rows):
    present = [len(cells) for name, cells in rows.items()]
    cycles = run.cycles if run.cycles is not None else max(present, default=0)
    if inputs and run.cycles is not None:
        cycles = min(run.cycles, max(present, default=0))
    data = [struct.pack("=q", cycles)]
    for k in range(cycles):
        for port in inputs:
            cell = rows[port.name][k] if k < len(rows.get(port.name, [])) else "."
            data.append(b"\0" + bytes(port.elements * struct.calcsize(FORMATS[port.dtype])) if cell == "."
                        else b"\1" + pack(cell, port))
    return b"".join(data)


def read_rows(data, outputs):
    """By output: the cells of each row, None if absent."""
    found = {port.name: [] for port in outputs}
    at = 0
    while at < len(data) and data[at] == 1:
        at += 1
        for port in outputs:
            size = port.elements * struct.calcsize(FORMATS[port.dtype])
            found[port.name].append(has_nan(data[at + 1:at + 1 + size], port.dtype) if data[at] else None)
            at += 1 + size
    return found


def expected_rows(text, outputs):
    rows = read_chronogram(text)
    known = min((cells.index("?") for cells in rows.values() if "?" in cells), default=None)  # no later row is known
    rows = {name: cells[:known] for name, cells in rows.items()}
    return {port.name: [None if cell == "." else has_nan(pack(cell, port), port.dtype) for cell in rows.get(port.name, [])]
            for port in outputs}


class Failure(Exception):
    pass


class Suite:
    def __init__(self, rmlc, folder, compilers, sanitize=False):
        self.rmlc, self.folder, self.sanitize = rmlc, folder, sanitize
        self.compilers = [c for c in compilers if shutil.which(c)]

    def spell(self, run, folder):
        """Returns None, or the message with which the compiler refuses the program."""
        folder.mkdir(parents=True)
        linked = [word for source in run.links for word in ("--link", self.library(source))]
        result = subprocess.run([self.rmlc, "build", run.file, *run.options, *linked, "--emit", "c", "-o",
                                 folder / f"{run.node}.c", "--color", "never"], capture_output=True, text=True)
        if result.returncode == 0:
            return None
        reasons = re.findall(r"--emit c does not support (.*)", result.stderr)
        if "error[E0701]" in result.stderr:
            return "no schedule"
        if not reasons or list(folder.iterdir()):
            raise Failure(f"is not refused as it should be: {result.stderr}")
        return ", ".join(sorted({reason.replace(", a kernel of the runtime", "") for reason in reasons}))

    def reference(self, run):
        command = [self.rmlc, "run", run.file, *run.options, "--strict-math", "-O", str(run.level), "--color", "never"]
        for source in run.links:
            command += ["--link", self.library(source)]
        command += ["--format", "chron", "--quiet", "--seed", str(run.seed)]
        command += ["--cycles", str(run.cycles)] if run.cycles is not None else []
        command += ["--horizon", str(run.horizon)] if run.horizon else []
        return subprocess.run(command, input=run.input.read_bytes() if run.input else b"", capture_output=True)

    def on_demand(self, run):
        command = [self.rmlc, "show", "schedule", run.file, *run.options]
        return subprocess.run(command, capture_output=True, text=True).stdout.startswith("on demand: ")

    def library(self, source):
        path = self.folder / f"{source.stem}.so"
        if not path.exists():
            subprocess.run(["gcc", "-shared", "-fPIC", "-ffp-contract=off", source, "-o", path], check=True)
        return path

    def check(self, run, folder):
        reason = self.spell(run, folder)
        if reason is None:
            self.compare(run, folder)
        return reason

    def compare(self, run, folder):
        """Compiles the C code with each compiler and compares its rows with the reference."""
        header = (folder / f"{run.node}.h").read_text()
        inputs, outputs = ports_of(header, "in "), ports_of(header, "out")
        (folder / "drive.c").write_text(driver(run.node, header, inputs, outputs, run))
        rows = read_chronogram(run.input.read_text()) if run.input else {}
        given = rows_for(run, inputs, rows)
        reference = self.reference(run)
        expected = expected_rows(reference.stdout.decode(), outputs)
        said = reference.stderr.decode()
        for compiler in self.compilers:
            self.drive(run, folder, compiler, given, outputs, expected, said, reference.returncode)

    def drive(self, run, folder, compiler, given, outputs, expected, said, code):
        program = folder / "drive"
        segment = f"-D{run.node}_SEGMENT={run.horizon or SEGMENT}"
        extra = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"] if self.sanitize else []
        built = subprocess.run([compiler, *FLAGS, *extra, "-O1", segment, folder / "drive.c", folder / f"{run.node}.c", *run.links,
                                "-o", program, "-lm"], capture_output=True, text=True)
        if built.returncode != 0:
            raise Failure(f"{compiler}: {built.stderr}")
        ran = subprocess.run([program], input=given, capture_output=True)
        if ran.returncode != 0:
            raise Failure(f"{compiler}: stops with {ran.returncode}: {ran.stderr.decode()[:2000]}")
        found = read_rows(ran.stdout, outputs)
        if run.may_wait and self.on_demand(run):
            expected = {name: cells[:len(found[name])] for name, cells in expected.items()}
        for port in outputs:
            if found[port.name] != expected[port.name]:
                at = next((k for k, (a, b) in enumerate(zip(found[port.name], expected[port.name])) if a != b), "the end")
                raise Failure(f"{compiler}: {port.name} differs at {at}: {len(found[port.name])} rows, {len(expected[port.name])} expected\n"
                              f"  {found[port.name][at] if isinstance(at, int) else ''}\n  {expected[port.name][at] if isinstance(at, int) else ''}")
        fault = ran.stderr.decode()
        cycle = re.search(r"cycle (\d+)", said)
        if (code != 0) != bool(fault) or (fault and cycle and f"cycle {cycle[1]}:" not in fault):
            raise Failure(f"{compiler}: fault {fault!r}, expected {said!r}")
        told = re.match(r"(\d) cycle \d+: (\S+:\d+:\d+): (.*)", fault)  # faults 4 and 6 have no place
        if fault and fault[0] not in "46" and (told is None or told[2] not in said or told[3] not in said):
            raise Failure(f"{compiler}: fault {fault!r}, expected {said!r}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rmlc")
    parser.add_argument("--programs", nargs="+", type=pathlib.Path,
                        default=[ROOT / folder for folder in ("tests/language", "tests/training", "tests/acceptance", "examples/pid")])
    parser.add_argument("--only", default="")
    parser.add_argument("--compilers", default="gcc,clang-19")
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    files = [file for folder in arguments.programs for file in sorted(folder.resolve().rglob("*.rml"))
             if "imported" not in file.parts]
    runs = [run for file in files for run in read_runs(file) if arguments.only in str(file)]
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(exist_ok=True)
        suite = Suite(arguments.rmlc, folder, arguments.compilers.split(","), arguments.sanitize)
        refused, failed = {}, []

        def one(numbered):
            k, run = numbered
            try:
                return run, suite.check(run, folder / str(k)), None
            except (Failure, ValueError, KeyError) as failure:
                return run, None, str(failure)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for run, reason, failure in pool.map(one, enumerate(runs)):
                if reason is not None:
                    refused[run.name] = reason
                if failure is not None:
                    failed.append(f"{run.name}: {failure}")
    listed = HERE / "refused.txt"
    text = "".join(f"{name}: {reason}\n" for name, reason in sorted(refused.items()))
    if arguments.bless:
        listed.write_text(text)
    elif arguments.programs == parser.get_default("programs") and not arguments.only and text != listed.read_text():
        failed.append("what is refused is not what refused.txt says (--bless writes it)")
    print(f"{len(runs)} runs: {len(runs) - len(refused) - len(failed)} equal with {', '.join(suite.compilers)}, "
          f"{len(refused)} refused, {len(failed)} wrong")
    print("\n".join(failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
