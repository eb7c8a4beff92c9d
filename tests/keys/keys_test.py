"""`rmlc run --key`: keys_test.py RMLC, run by ctest.

The expected rows come from plain runs. The rows of a key must be, to the bit, those of a run
of its rows alone with the seed of the key. The time at which a row is written also follows
from plain runs: the first n rows of a key, followed by a wrong line, give exactly the rows
that n rows determine. Further tests cover formats, types of keys, shared parameters, and
refused inputs."""

import json
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import zlib

import numpy as np

RMLC = sys.argv[1]
SEED = 7

# A program with cells, a window, parameters and random numbers.
LEARNER = """import nn;
import optim;

node net(kernel, bias, x) -> (y)
  hidden = param(glorot_uniform([24, 24]));
  y = sum(nn.affine(kernel, bias, tanh(nn.affine(hidden, zeros([24]), x))));

node predictor(x, wanted) -> (e)
  kernel = param(glorot_uniform([2, 24]));
  bias = param(zeros([2]));
  miss = net(kernel, bias, x) - wanted;
  e = miss * miss;

node main(x: f32) -> (y: f32, n: i32, noise: f32, late: f32)
  n = 1 fby n + 1;
  past = concat((zeros([24]) fby past)[1:], [x]);
  learn = n > 3;
  y, _, _ = diff[optim.adam(0.01)] predictor(past, x, learn, 1.0 when learn);
  noise = sum(normal([3], 0.0, 1.0));
  late = 0.0 fby 0.5 fby x;
"""

# A parameter that some keys use late and some never; its initial value is random.
LATER = """import optim;

node line(x) -> (y)
  y = param(sum(uniform([3], -1.0, 1.0))) * x;

node main(x: f64) -> (y: f64, n: i64)
  n = 1 fby n + 1;
  late = n > 4;
  guess, _ = diff[optim.sgd(0.1)] line(x when late, true, 1.0 when late);
  y = merge late guess (0.0 when not late);
"""

# Memories with elements of all sizes, small and large.
KINDS = """node main(x: f64) -> (y: f64, odd: bool, far: i8, near: i16, sum: f32, parts: f64[3])
  odd = false fby not odd;
  far = 1 fby far * 3 + 1;
  near = 7 fby near * 5 + cast(i16, far);
  sum = cast(f32, x) + (0.0 fby 0.5 * sum);
  flags = zeros_of_truth fby flags != [odd, x > 0.0, x > 1.0];
  zeros_of_truth = [false, false, false];
  rows = (zeros([9, 7]) fby 0.5 * rows) + x;
  bytes = (far_ones fby bytes + far_ones);
  far_ones = cast(i8, ones([45]));
  parts = [rows[8, 6], rows[0, 0] + cast(f64, sum(cast(i32, bytes))), if flags[1] then 1.0 else 2.0];
  y = x + (0.0 fby y);
"""

# A program with so many equations that they are compiled as several functions.
LONG = "node main(x: f64) -> (y: f64, s: f64)\n" + "".join(
    f"  a{k} = 0.5 * (0.0 fby a{k}) + {'x' if k == 0 else f'sin(a{k - 1})'};\n" for k in range(1200)) + \
    "  y = a1199;\n  s = (0.0 fby s) + a3 * a650;\n"

# A constant matrix, of which the code keeps a transposed copy.
STILL = """import nn;

node main(x: f32) -> (y: f32)
  w = param(glorot_uniform([80, 80]));
  past = concat((zeros([80]) fby past)[1:], [x]);
  y = sum(tanh(nn.affine(w, zeros([80]), past)));
"""

# Rows wait for the end of their batch; the rows of the last batch are never known.
CENTER = """node main(end: bool, x: f64) -> (y: f64, k: i32)
  sum = fby_end(end, 0.0, sum) + x;
  count = fby_end(end, 0.0, count) + 1.0;
  y = x - backfill(sum / count, end);
  k = 0 fby k + 1;
"""

# A row waits for the next row of its key.
NEXT = """node main(end: bool, x: f64) -> (d: f64)
  d = if end then 0.0 else (post x) - x;
"""

# Tensors wait in queues that grow.
TENSORS = """node main(end: bool, x: f64) -> (y: f64[3], k: i32)
  y = backfill([x, x + 1.0, 2.0 * x], end);
  k = 0 fby k + 1;
"""

COUNTER = """node main(x: f64) -> (y: f64)
  y = x + (0.0 fby y);
"""

LINE = """import optim;
node line(x) -> (y)
  y = param(0.25) * x + param(sum(uniform([1], -1.0, 1.0)));
node main(x: f64, wanted: f64) -> (guess: f64)
  guess, _ = diff[optim.sgd(0.1)] line(x, true, guess - wanted);
"""

FAULTS = """node main(x: i32) -> (y: i32)
  y = 100 / x + (0 fby y);
"""


def run(*arguments, text="", status=0, limit=None, command=None):
    def set_limit():
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    done = subprocess.run([*(command or [RMLC, "run"]), *map(str, arguments)], input=text, capture_output=True, text=True,
                          preexec_fn=set_limit)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def build(program):
    """Builds an executable for this processor."""
    executable = program.with_suffix("")
    run(program, "-o", executable, "--cpu", "native", command=[RMLC, "build"])
    return executable


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def same(found, expected, what):
    if found == expected:
        return
    a, b = found.splitlines(), expected.splitlines()
    for k in range(max(len(a), len(b))):
        if a[k:k + 1] != b[k:k + 1]:
            raise AssertionError(f"{what}: line {k + 1}: found {a[k:k + 1]}, expected {b[k:k + 1]}")


def rows_by_key(rows):
    """rows: (key, cells). Returns the rows of each key, in the order in which the keys first
    occur."""
    by_key = {}
    for key, cells in rows:
        by_key.setdefault(key, []).append(cells)
    return by_key


def table(names, rows):
    return ",".join(names) + "\n" + "".join(",".join(row) + "\n" for row in rows)


def known_after(program, names, rows, seed, waits):
    """For each number of rows, the number of rows that they determine; and all rows at the end
    of the input."""
    if not waits:
        return list(range(len(rows) + 1)), run(program, "--quiet", *seed, text=table(names, rows))[0].splitlines()
    numbers, wrong = [], table(names, [["wrong"] * len(names)]).split("\n")[1]
    for n in range(len(rows) + 1):
        text = table(names, rows[:n]) + wrong + "\n"
        out, _ = run(program, "--quiet", *seed, text=text, status=1)
        numbers.append(len(out.splitlines()) - 1)
    out, _ = run(program, "--quiet", *seed, text=table(names, rows))
    return numbers, out.splitlines()


def expected_rows(program, names, rows, waits=True):
    """The output of the run with keys, assembled from one run for each key."""
    alone = {key: known_after(program, names, own, ["--seed", SEED, "--key-seed", key], waits)
             for key, own in rows_by_key(rows).items()}
    header = next(iter(alone.values()))[1][0]
    lines, seen, left = [f"machine,{header}"], {key: 0 for key in alone}, {key: 0 for key in alone}
    places = {key: [k for k, (other, _) in enumerate(rows) if other == key] for key in alone}
    for key, _ in rows:
        seen[key] += 1
        numbers, out = alone[key]
        lines += [f"{key},{row}" for row in out[1 + left[key]:1 + numbers[seen[key]]]]
        left[key] = max(left[key], numbers[seen[key]])
    rest = [(places[key][n], f"{key},{out[1 + n]}") for key, (_, out) in alone.items()
            for n in range(left[key], len(out) - 1)]
    return "\n".join(lines + [row for _, row in sorted(rest)]) + "\n"


def separate_runs(folder):
    """Compares rows, their order and their bits."""
    some = random.Random(1)

    def number():
        return repr(some.uniform(-4, 4))

    def truth():
        return some.choice("FFT")

    cases = [("learner", LEARNER, ["x"], lambda: [number()]), ("later", LATER, ["x"], lambda: [number()]),
             ("kinds", KINDS, ["x"], lambda: [number()]), ("long", LONG, ["x"], lambda: [number()]), ("still", STILL, ["x"], lambda: [number()]),
             ("counter", COUNTER, ["x"], lambda: [number()]),
             ("center", CENTER, ["end", "x"], lambda: [truth(), number()]),
             ("tensors", TENSORS, ["end", "x"], lambda: [truth(), number()]),
             ("next", NEXT, ["end", "x"], lambda: [truth(), number()])]
    for name, source, names, cells in cases:
        program = folder / f"{name}.rml"
        program.write_text(source)
        rows = [(f"pump-{some.choice('aabcdddde')}", cells()) for _ in range(50)]
        text = table(["machine", *names], [[key, *own] for key, own in rows])
        wanted = expected_rows(program, names, rows, name in ("center", "tensors", "next"))
        for more in ([], ["--threads", "1"], ["-O0"], ["--engine", "reference"]):
            if more == ["--engine", "reference"] and name in ("learner", "still", "long"):
                continue  # skips a program with products or sines, which the engines round differently
            found, _ = run(program, "--key", "machine", "--seed", SEED, "--quiet", *more, text=text)
            if more == ["-O0"] and name in ("learner", "still", "long"):
                check(len(found.splitlines()) == len(wanted.splitlines()), f"{name}: rows of -O0")
                continue
            same(found, wanted, f"{name} {more}")
        # An executable copies the memories of each key; a run in memory uses them in place.
        found, _ = run("--key", "machine", "--seed", SEED, "--quiet", text=text, command=[build(program)])
        same(found, wanted, f"{name}, built")
        # The column of the key may be anywhere.
        behind = table([*names, "machine"], [[*own, key] for key, own in rows])
        found, _ = run(program, "--key", "machine", "--seed", SEED, "--quiet", text=behind)
        same(found, wanted, f"{name}, keys behind")


def seed_of_key(seed, text):
    """The seed of a key, as docs/manual/keys.md defines it."""
    all_bits = 2**64 - 1
    hashed = 0xCBF29CE484222325
    for byte in text.encode():
        hashed = (hashed ^ byte) * 0x100000001B3 & all_bits
    hashed = hashed + seed * 0x9E3779B97F4A7C15 & all_bits
    hashed = (hashed ^ hashed >> 30) * 0xBF58476D1CE4E5B9 & all_bits
    hashed = (hashed ^ hashed >> 27) * 0x94D049BB133111EB & all_bits
    return hashed ^ hashed >> 31


def seeds(folder):
    program = folder / "noise.rml"
    program.write_text("node main(x: f64) -> (y: f64)\n  y = x + sum(normal([2], 0.0, 1.0));\n")
    together, _ = run(program, "--key", "m", "--seed", SEED, text="m,x\npump,1\nä,1\ntrue,1\n-7,1\n")
    typed = [run(program, "--key", f"m:{t}", "--seed", SEED, text=f"m,x\n{k},1\n")[0].splitlines()[1] for t, k in (("bool", "T"), ("i16", "-7"))]
    check(together.splitlines()[3:5] == typed, f"{together}, {typed}")
    for key, line in zip(("pump", "ä", "true", "-7"), together.splitlines()[1:]):
        alone, _ = run(program, "--seed", seed_of_key(SEED, key), text="x\n1\n")
        check(line == f"{key},{alone.splitlines()[1]}", f"seed of {key}: {line}, {alone}")
    check(len(set(line.split(",")[1] for line in together.splitlines()[1:])) == 4, "every key draws its own")


def formats(folder):
    program = folder / "counter.rml"
    program.write_text(COUNTER)
    keys, values = [3, -1, 3, 3, -1, 200], [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    sums = [1.0, 2.0, 5.0, 13.0, 18.0, 32.0]
    text = "m,x\n" + "".join(f"{k},{x}\n" for k, x in zip(keys, values))
    expected = "m,y\n" + "".join(f"{k},{y:g}\n" for k, y in zip(keys, sums))
    for type_ in ("", ":text", ":i16", ":i64"):
        same(run(program, "--key", "m" + type_, text=text)[0], expected, f"csv{type_}")
    lines = "".join(json.dumps({"m": k, "x": x}) + "\n" for k, x in zip(keys, values))
    found = [json.loads(line) for line in run(program, "--key", "m", "--format", "jsonl", text=lines)[0].splitlines()]
    check(found == [{"m": str(k), "y": y} for k, y in zip(keys, sums)], f"jsonl: {found}")
    found = [json.loads(line) for line in run(program, "--key", "m:i32", "--format", "jsonl", text=lines)[0].splitlines()]
    check(found == [{"m": k, "y": y} for k, y in zip(keys, sums)], f"jsonl, i32: {found}")
    texts = ['a "b"', "true", "0", "ä\\u0000"]
    lines = '{"m": "a \\"b\\"", "x": 1}\n{"m": true, "x": 1}\n{"m": 0, "x": 1}\n{"m": "ä\\\\u0000", "x": 1}\n'
    found = [json.loads(line)["m"] for line in run(program, "--key", "m", "--format", "jsonl", text=lines)[0].splitlines()]
    check(found == texts, f"jsonl texts: {found}")
    np.savez(folder / "in.npz", m=np.array(keys, np.int16), x=np.array(values))
    run(program, "--key", "m:i16", "--input", folder / "in.npz", "--output", folder / "out.npz")
    with np.load(folder / "out.npz") as out:
        check(out["m"].dtype == np.int16 and out["m"].tolist() == keys and out["y"].tolist() == sums, "npz")
    np.save(folder / "m.npy", np.array([True, False, True]))
    np.save(folder / "x.npy", np.array([1.0, 2.0, 3.0]))
    out, _ = run(program, "--key", "m:bool", "--input", f"m={folder / 'm.npy'}", "--input", f"x={folder / 'x.npy'}")
    same(out, "m,y\ntrue,1\nfalse,2\ntrue,4\n", "npy")
    # Keys in cells that need quotes; long keys; --cycles.
    long = "k" * 1000
    out, _ = run(program, "--key", "m", "--cycles", 3, text=f'm,x\n"a, ""b""",1\n{long},2\n"a, ""b""",3\nc,4\n')
    same(out, f'm,y\n"a, ""b""",1\n{long},2\n"a, ""b""",4\n', "quotes")
    # Blanks within quotes are part of a key, as in JSON. A key is written such that it is read
    # back unchanged.
    out, _ = run(program, "--key", "m", "--save", folder / "blanks.state", text='m,x\n" a",1\na,2\n  a ,4\n"a",8\n" ",16\n')
    same(out, 'm,y\n" a",1\na,2\na,6\na,14\n" ",16\n', "blanks")
    lines = "".join(json.dumps({"m": key, "x": 32}) + "\n" for key in (" a", "a", " "))
    out, _ = run(program, "--key", "m", "--load", folder / "blanks.state", "--format", "jsonl", text=lines)
    check([json.loads(line)["y"] for line in out.splitlines()] == [33, 46, 48], f"blanks in jsonl: {out}")
    (folder / "latin.csv").write_bytes("m,x\na,1\nMüller,2\n".encode("latin-1"))
    out, told = run(program, "--key", "m", "--input", folder / "latin.csv", status=1)
    check("latin.csv:3:1: " in told and "is not UTF-8" in told and "iconv" in told and out == "m,y\na,1\n", told)
    out, told = run(program, "--key", "m", "--stats", text="m,x\na,1\nb,2\na,3\n")
    check("keys             2\n" in told and "cycles           3\n" in told, told)


def parameters(folder):
    program = folder / "line.rml"
    program.write_text(LINE)
    some = random.Random(2)
    rows = [(some.choice("abc"), [repr(some.uniform(-1, 1)), repr(some.uniform(-1, 1))]) for _ in range(50)]
    text = table(["m", "x", "wanted"], [[key, *own] for key, own in rows])
    plain = table(["x", "wanted"], [own for _, own in rows])
    # All memories are shared, so the rows are those of one instance that reads all rows, with the
    # seed of the first key.
    expected, _ = run(program, "--seed", SEED, "--key-seed", rows[0][0], text=plain)
    found, _ = run(program, "--key", "m", "--share", "*", "--seed", SEED, text=text)
    same("".join(line.split(",", 1)[1] + "\n" for line in found.splitlines()), expected, "all shared")
    # One of two parameters is shared by all keys. The expected rows are computed here.
    firsts = {key: run(program, "--seed", SEED, "--key-seed", key, text="x,wanted\n0,0\n")[0].split("\n")[1] for key in "abc"}
    paths = json.loads((lambda b: b[8:8 + int.from_bytes(b[:8], "little")])(saved_parameters(program, folder)))
    names = sorted(name for name in paths if name.startswith("line"))
    check(len(names) == 2, f"parameters: {names}")
    found, _ = run(program, "--key", "m", "--share", names[0], "--seed", SEED, text=text)
    slope, offset = 0.25, {key: float(first) for key, first in firsts.items()}
    for (key, (x, wanted)), line in zip(rows, found.splitlines()[1:]):
        guess = slope * float(x) + offset[key]
        check(line.split(",")[0] == key and abs(float(line.split(",")[1]) - guess) < 1e-9, f"shared slope: {line}, {guess}")
        slope -= 0.1 * (guess - float(wanted)) * float(x)
        offset[key] -= 0.1 * (guess - float(wanted))
    # Every key begins with the loaded values.
    run(program, "--save", folder / "line.state", text=plain)
    alone = {key: run(program, "--load-params", folder / "line.state", "--quiet",
                      text=table(["x", "wanted"], own))[0].splitlines()[1:] for key, own in rows_by_key(rows).items()}
    found, _ = run(program, "--key", "m", "--load-params", folder / "line.state", "--quiet", text=text)
    for line in found.splitlines()[1:]:
        key, cell = line.split(",")
        check(alone[key].pop(0) == cell, f"loaded parameters: {line}")
    begin_as_before(folder)


# A parameter that is used in the first row, one that is used late, and rows that wait.
BEGINNINGS = (
    "node main(x: f64, c: bool) -> (y: f64)\n  g = param(1.0);\n  y = g * x + (0.0 fby y);\n",
    "node main(x: f64, c: bool) -> (y: f64)\n  g = param(1.0 when c);\n  y = merge c (g * (x when c)) (0.0 when not c);\n",
    "node main(x: f64, c: bool) -> (y: f64)\n  g = param(1.0);\n  y = g * backfill(x, c);\n",
)


def begin_as_before(folder):
    """New keys of a resumed run begin with the values that the run was given; shared
    parameters begin with those of the first key."""
    (folder / "five.rml").write_text("node main(x: f64) -> (y: f64)\n  g: f64 = param(5.0);\n  y = g * x;\n")
    run(folder / "five.rml", "--save", folder / "five.state", text="x\n1\n")
    rows = [["a", "1", "F"], ["a", "2", "T"], ["b", "3", "T"], ["c", "4", "F"], ["b", "5", "T"], ["c", "6", "T"], ["d", "7", "T"]]
    for k, source in enumerate(BEGINNINGS):
        (folder / "old.rml").write_text(source)
        (folder / "new.rml").write_text(source.replace("g = param", "gain = param").replace("= g *", "= gain *")
                                        .replace("(g *", "(gain *"))
        whole, _ = run(folder / "old.rml", "--key", "m", "--load-params", folder / "five.state", text=table(["m", "x", "c"], rows))
        for cut in range(1, len(rows)):
            # The memories between units have no other name.
            for program, more in (("old", []), ("new", []), ("new", ["--map", "g=gain"]))[:3 if k < 2 else 1]:
                first, _ = run(folder / "old.rml", "--key", "m", "--load-params", folder / "five.state", "--save", folder / "s",
                               text=table(["m", "x", "c"], rows[:cut]))
                # The state is loaded and saved once more without rows, so that it is loaded
                # twice. Parameters that began in between must not be lost.
                run(folder / f"{program}.rml", "--key", "m", "--load", folder / "s", *more, "--save", folder / "s", text="m,x,c\n")
                rest, _ = run(folder / f"{program}.rml", "--key", "m", "--load", folder / "s", text=table(["m", "x", "c"], rows[cut:]))
                same(first + rest.split("\n", 1)[1], whole, f"begin as before: {k}, {program}, cut at {cut}")
    _, told = run(folder / "old.rml", "--key", "m", "--load-params", folder / "s", text="m,x,c\n", status=1)
    check("keys, each with its own parameters; load it in a run with --key, by --load" in told, told)
    _, told = run(folder / "old.rml", "--key-seed", "a", "--load", folder / "s", text="x,c\n", status=1)
    check("keys; load it in a run with --key" in told, told)
    (folder / "last.rml").write_text("node main(x: f64) -> (w: f64)\n  p = param(0.0, true, x);\n  w = p;\n")
    run(folder / "last.rml", "--key", "m", "--save", folder / "s", text="m,x\na,1\nb,10\nc,100\n")
    found, _ = run(folder / "last.rml", "--key", "m", "--share", "p", "--load", folder / "s", text="m,x\nb,7\nc,8\nd,9\n")
    same(found, "m,w\nb,1\nc,8\nd,16\n", "shared from now on")


def queues(folder):
    """The end of a run frees the queues of every key, also queues that grew since the key's
    last row."""
    program = folder / "queues.rml"
    program.write_text(TENSORS)
    executable = build(program)
    for keys in (2, 70):
        for last in (0, 1, keys - 1):
            # Every key ends a batch. Then more and more rows of one key wait, until the input
            # ends with or without the end of its batch.
            rows = [[str(k), "T", str(k)] for k in range(keys)] + [[str(last), "F", str(k)] for k in range(3)]
            rows += [["0", "T", "7"]] + [[str(last), "F", str(k)] for k in range(100)]
            for end in ([], [[str(last), "T", "9"]]):
                text = table(["m", "end", "x"], rows + end)
                waiting = 0 if end else 103 if last > 0 else 100
                for command in ([RMLC, "run", program], [executable]):
                    found, _ = run("--key", "m", "--quiet", text=text, command=command)
                    what = f"queues of {keys} keys, the last is {last}, {end}"
                    check(len(found.splitlines()) == 1 + len(rows) + len(end) - waiting, what)
                    if end:
                        check(found.splitlines()[-100:] == [f"{last},9,10,18,{k}" for k in range(*counts(last))], f"{what}: {found[-300:]}")


def counts(last):
    """The numbers of the last hundred rows of the key, whose rows are counted from 0."""
    rows = 1 + 3 + 100 + 1 + (1 if last == 0 else 0)
    return rows - 100, rows


def saved_parameters(program, folder):
    run(program, "--save", folder / "names.state", text="x,wanted\n1,1\n")
    return (folder / "names.state").read_bytes()


def states(folder):
    """A run that is interrupted and resumed gives the rows of an uninterrupted one."""
    some = random.Random(3)
    for name, source in (("learner", LEARNER), ("center", CENTER), ("tensors", TENSORS), ("line", LINE)):
        program = folder / f"{name}.rml"
        program.write_text(source)
        names = {"learner": ["x"], "center": ["end", "x"], "tensors": ["end", "x"], "line": ["x", "wanted"]}[name]
        rows = [[some.choice("aabbcd"), *[some.choice("FFT") if n == "end" else repr(some.uniform(-3, 3)) for n in names]]
                for _ in range(80)]
        more = ["--share", "*"] if name == "line" else []
        whole, _ = run(program, "--key", "m", "--seed", SEED, "--quiet", *more, text=table(["m", *names], rows))
        file, state, out = folder / "rows.csv", folder / f"{name}.state", folder / f"{name}.csv"
        for path in (state, out):
            path.unlink(missing_ok=True)
        for count in (13, 14, 50, 80):
            file.write_text(table(["m", *names], rows[:count]))
            run(program, "--key", "m", "--seed", SEED, "--quiet", "--resume", state, *more, "--input", file, "--output", out)
            if count < 80:
                expected, _ = run(program, "--key", "m", "--seed", SEED, "--quiet", *more, text=table(["m", *names], rows[:count]))
                same(out.read_text(), expected, f"{name}: resumed at {count}")
        same(out.read_text(), whole, f"{name}: resumed")
        # A run may also continue with rows from another input.
        first, _ = run(program, "--key", "m", "--seed", SEED, "--quiet", *more, "--save", state, text=table(["m", *names], rows[:30]))
        rest, _ = run(program, "--key", "m", "--quiet", *more, "--load", state, text=table(["m", *names], rows[30:]))
        same(first + "".join(line + "\n" for line in rest.splitlines()[1:]), whole, f"{name}: loaded")
        _, told = run(program, "--load", state, text=table(names, []), status=1)
        check("keys; load it in a run with --key" in told, told)
        _, told = run(program, "--key", "m", "--load", state, "--seed", 1, text=table(["m", *names], []), status=1)
        check("was saved by a run with seed 7" in told, told)
        file.write_text(table(["m", *names], [["z", *row[1:]] for row in rows]))
        _, told = run(program, "--key", "m", "--resume", state, "--input", file, "--output", out, status=1)
        check("are not those that" in told or "was not an output" in told, told)
        damaged = bytearray(state.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        state.write_bytes(damaged)
        _, told = run(program, "--key", "m", "--load", state, text=table(["m", *names], []), status=1)
        check("damaged" in told or "checksum" in told, told)
        run(program, "--save", state, text=table(names, [row[1:] for row in rows]))
        _, told = run(program, "--key", "m", "--load", state, text=table(["m", *names], []), status=1)
        check("the state of one instance, saved by a run without --key" in told, told)
    counter = folder / "counter.rml"
    counter.write_text(COUNTER)
    rows = [["ab"[k % 2], str(k)] for k in range(10)]
    _, told = run(counter, "--key", "m", "--save", folder / "every.state", "--save-every", 4, text=table(["m", "x"], rows) + "a,wrong\n", status=1)
    rest, _ = run(counter, "--key", "m", "--load", folder / "every.state", text=table(["m", "x"], rows[8:]))
    same(rest, "m,y\na,20\nb,25\n", "the state after eight rows")


def read_tensors(path):
    """The metadata and, for each tensor, its type, shape and bytes."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    head, rest = json.loads(data[8:8 + length]), data[8 + length:]
    metadata = head.pop("__metadata__")
    return metadata, {name: (t["dtype"], t["shape"], rest[slice(*t["data_offsets"])]) for name, t in head.items()}


def write_of_format_2(path, metadata, states, texts):
    """Writes states of keys in format 2, which had one checkpoint per key."""
    ends = lambda parts: np.cumsum([len(p) for p in parts]).astype(np.int64).tobytes()
    none = np.zeros(len(states), np.int64).tobytes()
    tensors = [("ends of states", "I64", ends(states)), ("ends of keys", "I64", ends(texts)), ("waiting rows", "I64", b""),
               ("ends of waiting rows", "I64", none), ("states", "U8", b"".join(states)), ("keys", "U8", b"".join(texts))]
    head, at = {"__metadata__": {**metadata, "version": "2", "checksum": "00000000"}}, 0
    for name, dtype, data in tensors:
        head[name] = {"dtype": dtype, "shape": [len(data) // (8 if dtype == "I64" else 1)], "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(head, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    whole = len(text).to_bytes(8, "little") + text + b"".join(data for _, _, data in tensors)
    path.write_bytes(whole.replace(b'"checksum":"00000000"', b'"checksum":"%08x"' % zlib.crc32(whole), 1))


def columns(folder):
    """A file of many keys contains the values of the files of single runs. Files of format 2
    can be resumed."""
    some = random.Random(5)
    for name, source in (("learner", LEARNER), ("later", LATER), ("kinds", KINDS)):
        program = folder / f"{name}.rml"
        program.write_text(source)
        rows = [[some.choice(["a", "bb", "ä", "never"][:3 + (k == 20)]), repr(some.uniform(-3, 3))] for k in range(60)]
        text, rest = table(["m", "x"], rows[:30]), table(["m", "x"], rows[30:])
        whole, _ = run(program, "--key", "m", "--seed", SEED, "--quiet", text=table(["m", "x"], rows))
        first = table(whole.split("\n")[0].split(","), [line.split(",") for line in whole.splitlines()[1:31]])
        commands = {"run": [RMLC, "run", program], "built": [build(program)]}
        for how, command in commands.items():
            state = folder / f"{name}-{how}.state"
            found, _ = run("--key", "m", "--seed", SEED, "--quiet", "--save", state, text=text, command=command)
            same(found, first, f"{name}, {how}")
        metadata, tensors = read_tensors(folder / f"{name}-run.state")
        built = read_tensors(folder / f"{name}-built.state")[1]
        check(tensors == built and metadata["version"] == "3" and metadata["seed"] == str(SEED), f"{name}: {metadata}")
        alone, texts = [], [key.encode() for key in rows_by_key(rows[:30])]
        check(tensors["keys"][2] == b"".join(texts), f"{name}: keys")
        for k, (key, own) in enumerate(rows_by_key([(row[0], row[1:]) for row in rows[:30]]).items()):
            one = folder / "one.state"
            run(program, "--seed", SEED, "--key-seed", key, "--save", one, "--quiet", text=table(["x"], own))
            of_one, memories = read_tensors(one)
            alone.append(one.read_bytes())
            cycles = np.frombuffer(tensors["cycles of keys"][2], np.int64)
            check(cycles[k] == len(own), f"{name}: cycles of '{key}'")
            unbegun = {n.removeprefix("begun ") for n, t in tensors.items() if n.startswith("begun ") and t[2][k] == 0}
            check(unbegun == set(json.loads(of_one["unbegun"])), f"{name}, '{key}': {unbegun}, {of_one['unbegun']}")
            mine = {n: t for n, t in memories.items() if not n.startswith("input ") and n != "cycles"}
            check(set(mine) == {n.removeprefix("each ") for n in tensors if n.startswith("each ")} - unbegun, f"{name}: {set(mine)}")
            for n, (dtype, shape, data) in mine.items():
                all_ = tensors["each " + n]
                check(all_[:2] == (dtype, [len(texts), *shape]), f"{name}: {n}: {all_[:2]}")
                check(all_[2][k * len(data):(k + 1) * len(data)] == data, f"{name}: '{n}' of '{key}'")
        write_of_format_2(folder / f"{name}-old.state", metadata, alone, texts)
        for how, command in commands.items():
            for state in (f"{name}-run.state", f"{name}-built.state", f"{name}-old.state"):
                found, _ = run("--key", "m", "--quiet", "--load", folder / state, text=rest, command=command)
                same(first + "".join(line + "\n" for line in found.splitlines()[1:]), whole, f"{how} goes on with {state}")
    # Names of another program; memories that this program lacks; damage that no checksum detects.
    line = folder / "sum.rml"
    line.write_text("node main(x: f64) -> (y: f64)\n  total = x + (0.0 fby total);\n  y = total;\n")
    other = folder / "renamed.rml"
    other.write_text("node main(x: f64) -> (y: f64)\n  all_ = x + (0.0 fby all_);\n  y = all_;\n".replace("all_", "sum_"))
    run(line, "--key", "m", "--save", folder / "sum.state", text="m,x\na,1\nb,2\na,4\n")
    for more in ([], ["--map", "total=sum_"]):
        found, told = run(other, "--key", "m", "--load", folder / "sum.state", *more, text="m,x\nb,1\na,1\n")
        same(found, "m,y\nb,3\na,6\n", f"renamed {more}: {told}")
    many = folder / "two.rml"
    many.write_text("node main(x: f64) -> (y: f64, n: i32)\n  total = x + (0.0 fby total);\n  y = total;\n  n = 1 fby n + 1;\n")
    _, told = run(many, "--key", "m", "--load", folder / "sum.state", text="m,x\n", status=1)
    check("saved by a program whose state differs" in told, told)


def values(folder):
    """Keys that are numbers: every dtype, many keys, and states that were saved with keys as
    texts."""
    program = folder / "counter.rml"
    program.write_text(COUNTER)
    for type_ in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        short, range_ = type_[0] + type_.lstrip("uint"), np.iinfo(type_)
        keys = [range_.max, range_.min, 1, range_.max - 1, range_.min, range_.max]
        found, _ = run(program, "--key", f"m:{short}", text="m,x\n" + "".join(f"{k},{n}\n" for n, k in enumerate(keys)))
        same(found, "m,y\n" + "".join(f"{k},{n}\n" for k, n in zip(keys, (0, 1, 2, 3, 5, 5))), type_)
    # Enough keys for the tables to grow, far apart and close together, with and without a thread
    # that reads ahead.
    some = np.random.default_rng(4)
    kinds = np.concatenate([np.arange(5000), some.integers(-2**63, 2**63 - 1, 5000)]).astype(np.int64)
    keys = np.concatenate([some.choice(kinds, 40_000), kinds])
    np.savez(folder / "many.npz", m=keys, x=np.ones(len(keys)))
    seen, sums = {}, []
    for k in keys.tolist():
        seen[k] = seen.get(k, 0) + 1
        sums.append(seen[k])
    for threads in (1, 2):
        run(program, "--key", "m:i64", "--threads", threads, "--input", folder / "many.npz", "--output", folder / "out.npz")
        with np.load(folder / "out.npz") as out:
            check((out["m"] == keys).all() and out["y"].tolist() == sums, f"many keys, {threads} threads")
    for first, second, status in (("m", "m:i16", 0), ("m:i16", "m", 0), ("m", "m:i16", 1)):
        pump = "pump,1\n" if status else ""
        run(program, "--key", first, "--save", folder / "values.state", text="m,x\n-3,1\n4,2\n" + pump)
        found, told = run(program, "--key", second, "--load", folder / "values.state", text="m,x\n4,1\n-3,1\n", status=status)
        if status:
            check("its key 'pump' is not a value of the type that --key gives to keys" in told, told)
        else:
            same(found, "m,y\n4,3\n-3,2\n", f"saved by {first}, loaded by {second}")


def refusals(folder):
    program = folder / "counter.rml"
    program.write_text(COUNTER)
    faults = folder / "faults.rml"
    faults.write_text(FAULTS)
    center = folder / "center.rml"
    center.write_text(CENTER)

    def refused(*arguments, words, text="m,x\na,1\n", status=1, out="", file=program, limit=None):
        found, told = run(file, *arguments, text=text, status=status, limit=limit)
        check(words in told, f"{arguments}: {told!r} does not say {words!r}")
        if out is not None:
            same(found, out, f"{arguments}")

    head = "m,y\na,1\n"
    refused("--key", "m", text="m,x\na,1\n,2\n", words="<stdin>:3:1: cycle 1: column 'm' is empty, but every row belongs", out=head)
    refused("--key", "m", text="x,m\n1,a\n2,NaN\n", words="<stdin>:3:3: cycle 1: column 'm': 'NaN' is not a key", out=head)
    refused("--key", "m", "--missing", "absent", text="x,m\n1,a\n2,nan\n", words="<stdin>:3:3: cycle 1: column 'm' is 'nan'", out=head)
    for more in ([], ["--missing", "absent"]):
        found, _ = run(program, "--key", "m", *more, text="m,x\nNA,1\nnull,2\nNA,3\n")
        same(found, "m,y\nNA,1\nnull,2\nNA,4\n", "words that are names")
    refused("--key", "m:i8", text="x,m\n1,1\n2,300\n", words="<stdin>:3:3: cycle 1: column 'm': '300' does not fit", out="m,y\n1,1\n")
    refused("--key", "m:i8", text="x,m\n1,b\n", words="<stdin>:2:3: cycle 0: column 'm': 'b' is not an i8", out="m,y\n")
    refused("--key", "n", words="<stdin>:1: no column 'n' for the keys")
    for value, what in (("1.5", "1.5 is not a key"), ("null", "no value for 'm'"), ('""', "'' is not a key"), ("[1]", "too many brackets for a key"),
                        ('{"a": 1}', "an object is not a key"), ('"NaN"', "'NaN' is not a key")):
        refused("--key", "m", "--format", "jsonl", text=f'{{"m": {value}, "x": 1}}\n', words=what)
    (folder / "classes").write_text("a\nb\n")
    refused("--key", "m", "--classes", f"m={folder / 'classes'}", words="its cells are the keys themselves", status=2)
    found, _ = run(program, "--key", "m:i8", "--classes", f"m={folder / 'classes'}", text="m,x\nb,1\na,2\nb,3\n")
    same(found, "m,y\nb,1\na,2\nb,4\n", "keys that are classes")
    for argument, what in (("x[0]", "the node has an input 'x'"), ("x", "the node has an input 'x'"), ("y", "the node has an output 'y'"), ("m:f64", "a float cannot be a key"),
                           ("m:word", "'word' is not a type for keys: use"), ("", "expected NAME")):
        refused("--key", argument, words=what, status=2)
    np.savez(folder / "keys.npz", m=np.array([1, 2]), x=np.array([1.0, 2.0]))
    refused("--key", "m", "--input", folder / "keys.npz", words="--key m:i64", status=2)
    np.savez(folder / "floats.npz", m=np.array([1.0, np.nan]), x=np.array([1.0, 2.0]))
    refused("--key", "m:i64", "--input", folder / "floats.npz", words="float64", out=None)
    for option in (["--monitor", "y"], ["--watch", "y"], ["--log", folder / "log"], ["--plot", folder / "p.svg"],
                   ["--profile", folder / "p.json"], ["--on-nan", "stop"]):
        refused("--key", "m", *option, words=option[0] + " is for the rows of one instance", status=2)
    refused("--key", "m", "--parallel", words="the program is a network", status=2)
    refused("--key", "m", "--key-seed", "a", words="--key-seed", status=2)
    refused("--share", "p", words="--key", status=2)
    refused("--key", "m", "--share", "p", words="--share p: no parameter matches", status=2)
    refused("--key", "m", "--share", "p", file=center, text="m,end,x\n", words="rows of this program can wait", status=2)
    refused("--key", "m", file=faults, text="m,x\na,1\nb,2\na,0\nb,1\n",
            words="faults.rml:2:7: cycle 1: division by zero (key 'a')", out="m,y\na,100\nb,50\n")
    _, told = run(program, "--progressive", "--metric", "mae:y:x", "--key", "m", text="m,x\na,1\n", status=2, command=[RMLC, "eval"])
    check("a metric measures the rows of one instance" in told, told)
    # Rows that are never known.
    _, told = run(center, "--key", "m", text="m,end,x\na,F,1\nb,F,2\nb,T,3\na,F,4\nc,F,1\n")
    check("key 'a': 2 rows are undetermined" in told and "in all, 3 rows of 2 keys are undetermined" in told, told)
    # Memory does not suffice for all keys; complete rows are written.
    large = folder / "large.rml"
    large.write_text("node main(x: f64) -> (y: f64)\n  past = concat((zeros([4000]) fby past)[1:], [x]);\n  y = past[0] + x;\n")
    many = "m,x\n" + "".join(f"{k},1\n" for k in range(40_000))
    found, told = run(large, "--key", "m", text=many, status=1, limit=1 << 30)
    check("too many keys: the state of each takes" in told and "MiB that this run may use" in told, told)
    lines = found.splitlines()
    check(len(lines) > 1000 and all(line == f"{k},1" for k, line in enumerate(lines[1:])), "rows before the last key")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in (formats, values, seeds, refusals, parameters, states, columns, queues, separate_runs):
            part(folder)


main()
