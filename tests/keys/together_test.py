"""`rmlc run --key` in vector lanes (together.py): rows, messages and states must be those of
computing row by row.

The programs are those below, and those of the language tests that have a schedule: a part of
them, or all with --all.

    together_test.py RMLC LANGUAGE_TESTS [--all]
"""

import functools
import os
import pathlib
import random
import re
import subprocess
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "unit/driver"))
from in_folder import InFolder  # noqa: E402
from together import describe, rows_in_lanes  # noqa: E402

ARGUMENTS = [a for a in sys.argv[1:] if not a.startswith("-")]
RMLC, LANGUAGE = pathlib.Path(ARGUMENTS[0]), pathlib.Path(ARGUMENTS[1])
SHARE = 1 if "--all" in sys.argv else 8
sys.argv[1:] = []

PROGRAMS = {
    "learner": "import optim;\nnode line(x) -> (said)\n  said = dot(param(uniform([3], -1.0, 1.0)), x) + param(0.5);\n"
    "node main(x: f32[3], y: f32) -> (said: f32)\n  said, _ = diff[optim.adam(0.01)] line(x, true, said - y);\n",
    # A parameter that some keys use late.
    "later": "import optim;\nnode line(x) -> (y)\n  y = param(sum(uniform([3], -1.0, 1.0))) * x;\n"
    "node main(x: f64, learns: bool) -> (y: f64)\n"
    "  guess, _ = diff[optim.sgd(0.1)] line(x when learns, true, 0.5 when learns);\n"
    "  y = merge learns guess (0.0 when not learns);\n",
    "branches": "node main(x: f64, c: bool, d: bool) -> (y: f64, z: f64 when c, n: i32)\n"
    "  n = 0 fby (if c then n + 1 else if d then n - 1 else n);\n  z = tanh((x + 1.0) when c);\n"
    "  up = (0.0 fby up) + sin(x) when c;\n  down = (1.0 fby down) * cos(x) when not c;\n"
    "  y = merge c (up) (down);\n",
    "absent": "node main(c: bool, x: f32 when c, v: f64[2] when c) -> (y: f32, w: f64[2] when c)\n"
    "  y = merge c ((0.0 fby 0.5 * x) + x) (1.0 when not c);\n  w = (zeros([2]) fby w) + v;\n",
    "noise": "node main(x: f64) -> (y: f64, n: i64)\n  r = sum(param(uniform([3], -1.0, 1.0)));\n"
    "  y = x + r + (0.0 fby 0.5 * y);\n  n = 0 fby n + 1;\n",
    # A NaN has no defined sign: processors return that of either operand.
    "nans": "node main(x: f64, z: f64) -> (y: f64, s: f64)\n  y = x + (z fby 0.5 * y);\n  s = copysign(1.0, y);\n",
    "divides": "node main(a: i32, b: i32) -> (q: i32, s: i32)\n  q = a / (b - 9);\n  s = 0 fby s + q;\n",
    "kinds": "node main(x: f64) -> (y: f64, odd: bool, far: i8, near: i16, sum: f32)\n  odd = false fby not odd;\n"
    "  far = 1 fby far * 3 + 1;\n  near = 7 fby near * 5 + cast(i16, far);\n"
    "  sum = cast(f32, x) + (0.0 fby 0.5 * sum);\n  y = x + (0.0 fby y);\n",
}


def run(folder, *arguments):
    return subprocess.run([RMLC, "run", *map(str, arguments)], cwd=folder, capture_output=True, text=True)


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "rows are read one by one where there is one processor")
class Together(InFolder):
    def setUp(self):
        super().setUp()
        self.rng = random.Random(0)

    def program(self, name):
        self.write(f"{name}.rml", PROGRAMS[name])
        return f"{name}.rml"

    def test_programs(self):
        for name in PROGRAMS:
            with self.subTest(name=name):
                found = rows_in_lanes(RMLC, self.folder, self.program(name), [], self.rng)
                self.assertTrue(found is not None and found > 100, f"{found} rows in lanes")

    def test_keys(self):
        """Keys that are texts; a single key, whose rows are never independent; and so many
        keys that new ones occur all the time."""
        source = self.program("noise")
        for keys, key in ((50, "key_"), (1, "key_:i32"), (9, "key_:u8"), (5000, "key_:i64")):
            with self.subTest(keys=keys, key=key):
                found = rows_in_lanes(RMLC, self.folder, source, [], self.rng, keys=keys, key=key)
                self.assertEqual(found > 0, keys > 1)

    def test_options(self):
        """--cycles that end within a group; states saved during the run; a single output of
        several."""
        source = self.program("kinds")
        for options, more in (([], ["--cycles", "14321"]), ([], ["--save-every", "7001"]), ([], ["--output", "near=near.csv"]),
                              (["-O0"], []), (["--strict-math"], [])):  # fmt: skip
            with self.subTest(options=options, more=more):
                # Threads begin after a run has been busy for a millisecond; saving a state
                # restarts this time.
                found = rows_in_lanes(RMLC, self.folder, source, options, self.rng, more, rows=30_000)
                self.assertGreater(found, 100)

    def test_language(self):
        """Each program first gets a few rows, since most programs have no lanes. The others
        get rows for tens of milliseconds, because rows are read one by one until a run has
        been busy for one millisecond."""
        with_lanes, files = [], []
        for file in sorted(LANGUAGE.rglob("*.rml")):
            node = re.search(r"^-- run: (\w+)", file.read_text(), re.M)
            files += [(file, node[1])] if node else []
        for file, node in files[::SHARE]:
            with self.subTest(file=file.name):
                compare = functools.partial(rows_in_lanes, RMLC, self.folder, file, ["--node", node], self.rng)
                if compare(rows=500) is not None:
                    with_lanes.append((file.name, compare(rows=40_000)))
        # Some runs stop with a fault in one of the first rows.
        self.assertGreater(sum(count > 100 for _, count in with_lanes), len(with_lanes) // 2, with_lanes)
        self.assertGreater(len(with_lanes), len(files[::SHARE]) // 9, with_lanes)

    def test_built(self):
        """An executable built with --lanes gives the same, with and without keys."""
        source = self.program("learner")
        found = rows_in_lanes(RMLC, self.folder, source, [], self.rng)
        subprocess.run([RMLC, "build", source, "--lanes", "--cpu", "native", "-o", "built"], cwd=self.folder, check=True)
        rows = ["--seed", "3", "--input", "rows.csv"]
        of_keys = [*rows, "--key", "key_:i32"]
        built = subprocess.run(["./built", *of_keys, "--stats"], cwd=self.folder, capture_output=True, text=True)
        self.assertGreater(int(re.search(r"rows in lanes +(\d+)", built.stderr)[1]), 100)
        self.assertEqual(built.stdout, run(self.folder, source, *of_keys).stdout)
        plain = [line.split(",", 1)[1] for line in (self.folder / "rows.csv").read_text().splitlines()]
        (self.folder / "rows.csv").write_text("\n".join(plain) + "\n")
        built = subprocess.run(["./built", *rows, "--save", "s", "--cycles", "500"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(built.stdout, run(self.folder, source, *rows, "--cycles", "500").stdout)
        rest = "\n".join([plain[0], *plain[501:]]) + "\n"
        built = subprocess.run(["./built", "--load", "s"], input=rest, cwd=self.folder, capture_output=True, text=True)
        whole = run(self.folder, source, *rows).stdout.splitlines()
        self.assertEqual(built.stdout.splitlines(), [whole[0], *whole[501:]])

    def test_refused(self):
        for why, text, options in (
            ("rows wait for later ones", "node main(end: bool, x: f64) -> (y: f64)\n  y = x - backfill(x, end);\n", []),
            ("no state to keep for a key", "node main(x: f64) -> (y: f64)\n  y = x + 1.0;\n", []),
            ("rml_random_normal is called",
             "node main(x: f64) -> (y: f64)\n  y = x + normal([1], 0.0, 1.0)[0] + (0.0 fby y);\n", []),
            ("cannot be combined with --parallel", PROGRAMS["noise"], ["--parallel"]),
            ("not with --emit asm", PROGRAMS["noise"], ["--emit", "asm"]),
        ):  # fmt: skip
            (self.folder / "m.rml").write_text(text)
            done = subprocess.run([RMLC, "build", "m.rml", "--lanes", "-o", "m", *options], cwd=self.folder,
                                  capture_output=True, text=True)  # fmt: skip
            self.assertIn(why, done.stderr)
            self.assertEqual(done.returncode, 2 if options else 1)
            self.assertFalse((self.folder / "m").exists())

    def test_archive(self):
        """The rows of each key are those of a run of them alone, in the order of the input;
        the same holds for a resumed run."""
        source, keys, rows = self.program("learner"), 60, 60_000
        draw = np.random.default_rng(0)
        key = draw.permuted(np.tile(np.arange(keys, dtype=np.int16), (rows // keys, 1)), axis=1).ravel()
        x, y = draw.normal(size=(rows, 3)).astype(np.float32), draw.normal(size=rows).astype(np.float32)
        np.savez(self.folder / "in.npz", m=key, x=x, y=y)
        done = run(self.folder, source, "--key", "m:i16", "--stats", "--input", "in.npz", "--output", "out.npz")
        self.assertGreater(int(re.search(r"rows in lanes +(\d+)", done.stderr)[1]), rows // 10)
        with np.load(self.folder / "out.npz") as out:
            self.assertTrue((out["m"] == key).all())
            said = out["said"]
        for k in range(keys):
            np.savez(self.folder / "one.npz", x=x[key == k], y=y[key == k])
            run(self.folder, source, "--key-seed", k, "--input", "one.npz", "--output", "alone.npz")
            with np.load(self.folder / "alone.npz") as alone:
                self.assertEqual(alone["said"].tobytes(), said[key == k].tobytes())
        half = rows // 2 + 3
        for name, part in (("first", slice(0, half)), ("rest", slice(half, rows))):
            np.savez(self.folder / f"{name}.npz", m=key[part], x=x[part], y=y[part])
        run(self.folder, source, "--key", "m:i16", "--save", "s", "--input", "first.npz", "--output", "a.npz")
        run(self.folder, source, "--key", "m:i16", "--load", "s", "--input", "rest.npz", "--output", "b.npz")
        with np.load(self.folder / "a.npz") as a, np.load(self.folder / "b.npz") as b:
            self.assertEqual(a["said"].tobytes() + b["said"].tobytes(), said.tobytes())

    def test_nans_in_archives(self):
        """The written rows and the saved state do not reveal which operand a NaN came from."""
        source, keys, rows = self.program("nans"), 40, 40_000
        draw = np.random.default_rng(1)
        x = draw.normal(size=rows)
        x[draw.integers(0, rows, 200)] = -np.nan
        np.savez(self.folder / "in.npz", m=np.arange(rows, dtype=np.int32) % keys, x=x, z=np.full(rows, np.nan))
        found = []
        for more in ([], ["--threads", "1"]):
            run(self.folder, source, "--", "--key", "m:i32", "--input", "in.npz", "--output", "out.npz", "--save", "s", *more)
            with np.load(self.folder / "out.npz") as out:
                self.assertTrue(np.isnan(out["y"]).any() and (out["s"][np.isnan(out["y"])] == 1).all())
                found.append((out["y"].tobytes(), (self.folder / "s").read_bytes()))
        self.assertEqual(found[0], found[1])

    def test_fault(self):
        """Rows before the fault are written and rows after it are not, wherever it is in a
        group."""
        source = self.program("divides")
        for place in (50_000, 50_001, 50_011):
            rows = [(k % 40, 100, 11) for k in range(60_000)]
            rows[place] = (place % 40, 100, 9)
            text = "m,a,b\n" + "".join(f"{k},{a},{b}\n" for k, a, b in rows)
            (self.folder / "in.csv").write_text(text)
            done = run(self.folder, source, "--key", "m:i32", "--stats", "--input", "in.csv", "--output", "out.csv")
            out = (self.folder / "out.csv").read_text().splitlines()
            expected = ["m,q,s"] + [f"{k % 40},50,{50 * (k // 40)}" for k in range(place)]
            self.assertEqual(out, expected, describe("\n".join(out), "\n".join(expected)))
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rf"divi[^\n]*[\s\S]*key '{place % 40}'")
            self.assertGreater(int(re.search(r"rows in lanes +(\d+)", done.stderr)[1]), 100)


unittest.main()
