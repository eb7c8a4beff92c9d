"""States and parameters of `rmlc run --key`: saved_keys_test.py RMLC, run by ctest.

An interrupted run that continues from its state gives the rows of an uninterrupted one, and a
key that begins later begins with the values that it would have had. The files of many keys
contain the values of the files of single runs."""

import json
import pathlib
import random
import tempfile
import zlib

import numpy as np

from key_programs import (CENTER, COUNTER, KINDS, LATER, LEARNER, LINE, RMLC, SEED, TENSORS, build, check, rows_by_key, run, same,
                          table)


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


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in (parameters, states, columns):
            part(folder)


main()
