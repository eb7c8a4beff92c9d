"""`rmlc run --key`: keys_test.py RMLC, run by ctest.

The expected rows come from plain runs. The rows of a key must be, to the bit, those of a run
of its rows alone with the seed of the key. The time at which a row is written also follows
from plain runs: the first n rows of a key, followed by a wrong line, give exactly the rows
that n rows determine. Further tests cover formats, types of keys, and refused inputs."""

import json
import pathlib
import random
import tempfile

import numpy as np

from key_programs import (CENTER, COUNTER, FAULTS, KINDS, LATER, LEARNER, LONG, NEXT, RMLC, SEED, STILL, TENSORS, build, check,
                          rows_by_key, run, same, table)


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
        for part in (formats, values, seeds, refusals, queues, separate_runs):
            part(folder)


main()
