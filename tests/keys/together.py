"""Compares rows of a run with keys that are computed in vector lanes with the same rows computed
one by one.

The reference is `--threads 1`, which computes rows as they are read, with code that has no lanes;
keys_test.py compares it with separate runs of each key. Inputs are drawn. Rows, messages and the
saved state must be equal to the bit.
"""

import random
import re
import subprocess


class Column:
    def __init__(self, name, dtype, shape, clock):
        self.name, self.dtype = name, dtype
        self.elements = [""]
        for extent in re.findall(r"\d+", shape or ""):
            self.elements = [f"{e},{k}" if e else str(k) for e in self.elements for k in range(int(extent))]
        self.heads = [f"{name}[{e}]" if shape else name for e in self.elements]
        self.clock = [(c, not negated) for negated, c in re.findall(r" on (not )?(\w+)", clock)]

    def draw(self, rng):
        if self.dtype == "bool":
            return rng.choice("TF")
        if self.dtype.startswith(("f", "bf")):
            if rng.random() < 0.001:  # NaN and infinities stay in a sum forever, so they are rare
                return rng.choice(["nan", "-nan", "-inf"])
            return repr(round(rng.gauss(0, 2), 3)) if rng.random() < 0.95 else rng.choice(["0", "1", "-1", "inf"])
        return str(rng.randint(0, 5))


def inputs_of(rmlc, folder, source, options):
    """The ports, from the header of a library; None if the program has no library."""
    done = subprocess.run([rmlc, "build", source, "--emit", "header", "-o", "ports.h", *options], cwd=folder,
                          capture_output=True, text=True)  # fmt: skip
    if done.returncode != 0:
        return None
    text = (folder / "ports.h").read_text()
    return [Column(name, dtype, shape, clock) for name, dtype, shape, clock in
            re.findall(r"^ \*   in\s+(\w+): (\w+)(\[[\d, ]*\])?, base(.*)$", text, re.M)]  # fmt: skip


def write_rows(path, columns, rng, rows, keys):
    """One row of each key after the other, some of them twice. Flags agree with the clocks,
    except one in a hundred thousand."""
    with path.open("w") as out:
        out.write(",".join(["key_", *(head for c in columns for head in c.heads)]) + "\n")
        key = 0
        for _ in range(rows):
            key = (key + (rng.random() < 0.95)) % keys
            values = {c.name: [c.draw(rng) for _ in c.elements] for c in columns}
            for c in columns:
                present = all(values[on] == ["T" if wanted else "F"] for on, wanted in c.clock if on in values)
                if c.clock and present == (rng.random() < 1e-5):
                    values[c.name] = [""] * len(c.elements)
            out.write(",".join([str(key), *(v for c in columns for v in values[c.name])]) + "\n")


def run(rmlc, folder, source, name, options, more):
    """more: options of the program, not of rmlc."""
    done = subprocess.run([rmlc, "run", source, *options, "--", "--seed", "3", "--stats", "--input", "rows.csv", "--save", f"{name}.state", *more],
                          cwd=folder, capture_output=True, text=True)  # fmt: skip
    in_lanes = re.search(r"^rows in lanes +(\d+)$", done.stderr, re.M)
    told = [line for line in done.stderr.splitlines() if not re.match(r"[a-z ]+  +\d", line)]
    state = folder / f"{name}.state"
    saved = state.read_bytes() if state.exists() else b""
    state.unlink(missing_ok=True)
    return (done.returncode, told, done.stdout, saved), int(in_lanes[1]) if in_lanes else None


def rows_in_lanes(rmlc, folder, source, options, rng, more=(), rows=10_000, keys=50, key="key_:i32"):
    """Returns the number of rows in lanes; None if the program has no lanes. Raises
    AssertionError if rows differ."""
    columns = inputs_of(rmlc, folder, source, options)
    if not columns:
        return None
    write_rows(folder / "rows.csv", columns, rng, rows, keys)
    together, count = run(rmlc, folder, source, "together", options, [*more, "--key", key])
    if count is None:
        return None
    alone, none = run(rmlc, folder, source, "alone", options, [*more, "--key", key, "--threads", "1"])
    assert none == 0, f"{source}: {none} rows in lanes with --threads 1"
    for what, a, b in zip(("status", "messages", "rows", "state"), together, alone):
        assert a == b, f"{source} {options}: {what} differ: {describe(a, b)}"
    return count


def describe(a, b):
    if isinstance(a, str):
        lines = zip(a.splitlines() + ["(end)"], b.splitlines() + ["(end)"])
        return next((f"line {k}: {x!r}, alone {y!r}" for k, (x, y) in enumerate(lines) if x != y), "")
    return f"{str(a)[:300]}, alone {str(b)[:300]}"
