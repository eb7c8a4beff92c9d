"""The engines, back ends and tools through which the search `everywhere` sends a program, by the
names of its columns.

A way takes a `Place`, which contains the program and its rows. It returns the difference, or
None. It raises Refused if it cannot treat the program and rmlc says so.
"""
import csv
import io
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/emit_c"))
sys.path.insert(0, str(ROOT / "tests/keys"))
import emit_c_test  # noqa: E402
from together import rows_in_lanes  # noqa: E402


class Refused(Exception):
    pass


class Place:
    """A program with its rows, as CSV or a chronogram, in a folder."""

    def __init__(self, text, rows, compiler, folder):
        self.text, self.rows, self.compiler, self.folder = text, rows, compiler, folder
        self.is_csv = "|" not in rows
        self.program = folder / "program.rml"
        self.program.write_text(text, encoding="utf-8")

    def call(self, *arguments, given=""):
        done = subprocess.run([self.compiler, *map(str, arguments)], input=given, capture_output=True, text=True,
                              cwd=self.folder, timeout=300)
        if done.returncode != 0:
            if re.search(r"error\[E\d+\]", done.stderr) or "cannot be combined with" in done.stderr:
                raise Refused(re.search(r"error.*", done.stderr)[0])
            if self.programs is None and re.search("assumes never happens|so no further input can determine it", done.stderr):
                raise Refused("no value at some cycle")  # raised if the reference engine leaves a value undetermined
            told = "\n".join(part for part in done.stderr.split("\n\n") if not part.startswith("warning"))
            raise AssertionError(f"{' '.join(map(str, arguments))} ends with {done.returncode}: {told[-1500:]}")
        return done.stdout

    def columns(self, text):
        """The columns of a CSV text: {name: texts}."""
        lines = list(csv.reader(io.StringIO(text)))
        return {name: [line[k] for line in lines[1:]] for k, name in enumerate(lines[0])} if lines else {}

    def run(self, options, program=None, rows=None):
        """The columns of a run. Programs with an oracle may round; those judged by the
        reference engine may not."""
        strict = [] if self.programs is not None or "reference" in options else ["--strict-math"]
        given = self.rows if rows is None else rows
        name = "rows.csv" if self.is_csv or rows is not None else "rows.chron"
        (self.folder / name).write_text(given, encoding="utf-8")
        more = ["--"] if "--" not in options else []
        return self.columns(self.call("run", program or self.program, *strict, *options, *more, "--input", name))

    def split(self):
        """The rows as lists of cells, and the header, in either format."""
        if self.is_csv:
            lines = list(csv.reader(io.StringIO(self.rows)))
            return lines[0], lines[1:]
        streams = [line.split("|") for line in self.rows.splitlines() if "|" in line]
        return [name.strip() for name, _ in streams], list(zip(*(cells.split() for _, cells in streams)))


def write_csv(head, lines):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([head, *lines])
    return out.getvalue()


def option(*words):
    return lambda place: place.difference(place.run(list(words)))


def save_and_load(place):
    """Two runs, the second of which begins with the state of the first."""
    head, lines = place.split()
    if not place.is_csv and any("[" in cell or cell == "." for line in lines for cell in line):
        raise Refused("rows of tensors as CSV")
    half = len(lines) // 2
    strict = [] if place.programs is not None else ["--strict-math"]
    first = place.call("run", place.program, *strict, "--", "--save", "state", given=write_csv(head, lines[:half]))
    second = place.call("run", place.program, *strict, "--", "--load", "state", given=write_csv(head, lines[half:]))
    return place.difference(place.columns(first + second.partition("\n")[2]))


def keys(place):
    """Runs the rows for three keys, interleaved."""
    head, lines = place.split()
    if not place.is_csv and any("[" in cell or cell == "." for line in lines for cell in line):
        raise Refused("rows of tensors as CSV")
    r = random.Random(len(lines))
    left, order = {k: list(lines) for k in ("p", "q", "r")}, []
    while any(left.values()):
        k = r.choice([k for k in left if left[k]])
        order.append([k, *left[k].pop(0)])
    found = place.run(["--", "--key", "key_"], rows=write_csv(["key_", *head], order))
    draws = "uniform(" in place.text or "normal(" in place.text  # true if the program draws numbers, which differ
                                                                 # between keys
    for k in left:
        at = [n for n, key in enumerate(found["key_"]) if key == k]
        of_key = {name: [texts[n] for n in at] for name, texts in found.items() if name != "key_"}
        alone = place.run(["--", "--key-seed", k], rows=write_csv(head, lines)) if draws else of_key
        difference = place.difference(of_key) if not draws else None if of_key == alone else f"{of_key}, alone {alone}"
        if difference:
            return f"key {k}: {difference}"
    return None


def as_c(place):
    """Runs the program as C, compiled by gcc, and compares it with `rmlc run --strict-math` to the
    bit."""
    head, lines = place.split()
    rows = "".join(f"{name} | {' '.join(cells)}\n" for name, cells in zip(head, zip(*lines)))
    if place.is_csv:
        rows = tensors_whole(head, lines)
    given = place.folder / "c.chron"
    given.write_text(rows, encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        own = pathlib.Path(folder)
        suite = emit_c_test.Suite(place.compiler, own, ["gcc"])
        run = emit_c_test.Run(place.program, 0, "main", [], horizon=64, may_wait=True, input=given)
        try:
            reason = suite.spell(run, own / "c")
            if reason is not None:
                raise Refused(reason)
            suite.compare(run, own / "c")
        except emit_c_test.Failure as failure:
            if "error[E" in str(failure):
                raise Refused(str(failure)[:200]) from failure
            return str(failure)
    return None


def tensors_whole(head, lines):
    """A chronogram of rows whose tensors have a column for each element."""
    streams = {}
    for name, cells in zip(head, zip(*lines)):
        streams.setdefault(name.split("[")[0], []).append((cells, "[" in name))
    text = ""
    for name, columns in streams.items():
        cells = [",".join(parts) for parts in zip(*(cells for cells, _ in columns))]
        text += f"{name} | {' '.join(f'[{c}]' if columns[0][1] else c for c in cells)}\n"
    return text


def lanes(place):
    """Rows of fifty keys compared with the same rows one by one; enough rows for threads,
    which lanes need."""
    count = rows_in_lanes(place.compiler, place.folder, "program.rml", [], random.Random(1), rows=20_000)
    if not count:
        raise Refused("no lanes")
    return None


def ranks(place):
    """Rows dealt to two and to three ranks, compared with those of the program alone."""
    text = place.text
    if "dealt" not in text:
        head = re.search(r"^node main\((.*)\) -> ", text, re.M)
        dealt = ", ".join(f"{port} dealt end by 2" for port in re.findall(r"\w+: \w+(?:\[\d+\])?", head[1]))
        text = text[:head.start(1)] + dealt + text[head.end(1):]
    program = place.folder / "dealt.rml"
    program.write_text(text, encoding="utf-8")
    alone = place.run(["--strict-math"], program=program)
    head, lines = place.split()
    ends = [line[head.index("end")] == "T" for line in lines]
    # The rows of rank 0 are printed; it has the first micro-batch of each step of two.
    expected = {name: [c for t, c in enumerate(cells) if sum(ends[:t]) % 2 == 0] for name, cells in alone.items()}
    for n in ("2", "3"):
        found = place.run(["--strict-math", "--ranks", n], program=program)
        if found != expected:
            return f"--ranks {n}: {found}, alone {expected}"
    return place.difference(alone)


def demand(place):
    """Runs the program without a schedule, on demand, by `rmlc test`; the expected rows are those
    of the reference engine."""
    test = place.folder / "demand.rml"
    test.write_text("-- run: main\n-- tolerance: 1e-6\n" + place.text, encoding="utf-8")
    head, lines = place.split()
    rows = tensors_whole(head, lines) if place.is_csv else place.rows
    (place.folder / "demand.in.chron").write_text(rows, encoding="utf-8")
    expected = place.call("run", place.program, "--engine", "reference", "--", "--format", "chron", "--input", "demand.in.chron")
    (place.folder / "demand.out.chron").write_text(expected, encoding="utf-8")
    told = place.call("test", "--on-demand", test)
    return None if "1 passed, 0 failed" in told else told[-1500:]


def ports_of_model(place):
    model = (place.folder / "model.rml").read_text()
    head = re.search(r"node main\((.*?)\)\s*->\s*\((.*?)\)\n", model, re.S)
    return [re.findall(r"(\w+): ", part) for part in head.groups()]


def export(place):
    """Exports the program as an ONNX model and imports it again. Its states are inputs and outputs:
    h and h_next."""
    place.call("export", place.program, "-o", "program.onnx")
    place.call("import", "program.onnx", "-o", "model.rml")
    # Names in the model contain dots, names in the imported program do not.
    states = sorted(set(re.findall(rb"([A-Za-z_][\w.]*)_next", (place.folder / "program.onnx").read_bytes())))
    if states:
        options = [word for name in states for word in ("--state", f"{name.decode()}={name.decode()}_next")]
        place.call("import", "program.onnx", "-o", "model.rml", *options)
    inputs, _ = ports_of_model(place)
    head, lines = place.split()
    kept = [k for k, name in enumerate(head) if name.split("[")[0] in inputs]
    if not kept or any(cell == "." or (not place.is_csv and "[" in cell) for line in lines for cell in line):
        raise Refused("a model without inputs, or of tensors")
    rows = write_csv([head[k] for k in kept], [[line[k] for k in kept] for line in lines])
    return place.difference(place.run([], program="model.rml", rows=rows))


def pasted(place):
    """Runs the program with the nodes that `rmlc diff` prints pasted into the file, beside the node
    whose gradient they are."""
    node = re.search(r"\bdiff (\w+)\(", place.text)[1]
    printed = place.call("diff", place.program, "--node", node)
    imports = [line for line in re.findall(r"^import .*\n", printed, re.M) if "program.rml" not in line]
    own = set(re.findall(r"^node (\w+)\(", place.text, re.M))
    parts = [part for part in re.split(r"^(?=node )", printed, flags=re.M) if part.startswith("node ")]
    added = "".join(part for part in parts if re.match(r"node (\w+)", part)[1] not in own)
    whole = place.folder / "pasted.rml"
    whole.write_text("".join(imports) + place.text + added, encoding="utf-8")
    return place.difference(place.run([], program=whole))


def laid_out(place):
    """Runs the program as `rmlc fmt` formats it; a second formatting must not change it."""
    copy = place.folder / "laid_out.rml"
    shutil.copy(place.program, copy)
    place.call("fmt", copy)
    place.call("fmt", "--check", copy)
    return place.difference(place.run([], program=copy))


WAYS = {"-O0": option("-O0"), "-O1": option("-O1"), "-O2": option("-O2"), "-O3": option("-O3"),
        "channels": option("--engine", "channels"), "C": as_c, "lanes": lanes, "--key": keys, "ranks": ranks, "demand": demand,
        "save and load": save_and_load, "export": export, "diff pasted back": pasted, "fmt": laid_out}
