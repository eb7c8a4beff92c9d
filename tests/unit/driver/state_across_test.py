"""A state that is saved by a program compiled in one way can be resumed in every other way:
state_across_test.py RMLC."""

import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import programs_in_pieces
from programs_in_pieces import ON_DEMAND, ROWS, STATIC, Program, table

RMLC = programs_in_pieces.RMLC = sys.argv.pop(1)

WAYS = {
    "-O0": ["-O0"],
    "-O3": ["-O3"],
    "segments": ["--chunk", "segment"],
    "threads": ["--threads", "2"],
    "sweeps": ["--grain", "sweep"],
    "stages": ["--parallel"],
    "operators": ["--grain", "op"],
}
OF_ONE_THREAD = ["-O0", "-O3", "segments", "threads"]
LONG = 5000  # rows; in networks the beginning of a state moves after some 64 KiB of inputs
MORE = {
    # Instances, learned parameters, a restart that is rare, and values that lag by some cycles.
    "instances": "node low(e: bool, x: f64) -> (y: f64)\n  m = fby_end(e, 0.0, m) * 0.5 + x;\n  y = m + (0.0 fby 0.0 fby m);\n"
                 "node both(e: bool, x: f64) -> (y: f64)\n  y = low(e, x) - low(e, low(e, 2.0 * x));\n"
                 "node main(e: bool, q: bool, x: f64) -> (y: f64, z: f64 when q)\n"
                 "  y = both(e, x) + backfill(low(q, x), e);\n  z = both(e when q, x when q) + (post y when q);\n",
    "tensors": "node main(e: bool, x: f64) -> (y: f64[2])\n  s = fby_end(e, zeros([2]), s) + x * [1.0, 2.0];\n"
               "  w = [0.5, 0.25] fby (0.0 fby x) * w + [1.0, 0.0];\n  y = backfill(s, e) * [1.0, 3.0] - w;\n",
    # A memory that has the name of the parameter with which it begins.
    "begun": "node main(e: bool, x: f64) -> (y: f64)\n  h = param(0.25) fby (0.5 * h + x);\n"
             "  y = h + backfill(0.5 * x, e);\n",
    # Open segments determine the end; some schedules store this and others do not.
    "lazy": "node main(e: bool, q: bool, x: f64) -> (y: f64, n: i64)\n  y = if q then backfill(x, e) else 0.0;\n"
            "  n = 0 fby n + 1;\n  assert backfill(x, e) < 100.0;\n",
    # This program has no schedule as a single program, so that it runs on demand, but has one as a network.
    "both ways": "node main(e: bool, x: f64) -> (y: f64, z: f64)\n  v = post (2.0 * z);\n"
                 "  z = post_end(e, x, v) + fby_end(e, 0.0, x);\n  y = z + (0.0 fby x);\n",
    "learned": "node net(e: bool, x: f64) -> (l: f64)\n  k = param_end(e, param(normal([])));\n"
               "  h = tanh(k * x + 0.25 * fby_end(e, 0.0, h));\n  g = h + 0.5 * post_end(e, 0.0, g);\n  l = g * g;\n"
               "node main(e: bool, x: f64) -> (l: f64, n: i64)\n  l, _ = diff net(e, x, true, -0.01);\n  n = 0 fby n + 1;\n",
}


class Across(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)

    def tearDown(self):
        self.place.cleanup()

    def check(self, name, text, ways, splits, rows=ROWS):
        """Returns the states that were saved."""
        programs, states = {}, {}
        for way in ways:
            (self.folder / way).mkdir(exist_ok=True)
            programs[way] = Program(self.folder / way, text, ["--strict-math", *WAYS[way]], rows)
        # At the end of the input, some ways leave a few rows open.
        whole = {way: program.rows(0, rows) for way, program in programs.items()}
        longest = max(whole.values(), key=len)
        draws = random.Random(name)
        for saves, one in programs.items():
            for split in draws.sample(range(rows - ROWS, rows + 1), splits):
                first = one.rows(0, split, "--save", one.state)
                states[saves] = one.state.stat().st_size
                for loads, other in programs.items():
                    with self.subTest(program=name, saves=saves, loads=loads, split=split):
                        got = first + other.rows(split, rows, "--load", one.state)
                        self.assertTrue(got == longest[: len(got)])
                        self.assertGreaterEqual(len(got), max(len(first), len(whole[loads])))
        return states

    def test_with_a_schedule(self):
        for name, text in {**STATIC, **MORE}.items():
            self.check(name, text, WAYS, 2)

    def test_on_demand(self):
        for name, text in ON_DEMAND.items():
            self.check(name, text, OF_ONE_THREAD, 2)

    def test_after_a_long_time(self):
        """A state that is saved after many cycles begins at one of the last of them, so it is small."""
        for name, text in {**STATIC, **MORE}.items():
            for way, size in self.check(name, text, WAYS, 1, LONG).items():
                if name != "two ends":
                    self.assertLess(size, 12_000 if way in OF_ONE_THREAD else 160_000, f"{name}, {way}")

    def test_the_program_of_the_command(self):
        source, state = self.folder / "p.rml", self.folder / "s"
        source.write_text(MORE["instances"])
        names = ["e", "q", "x"]

        def run(first, last, *options):
            done = subprocess.run([RMLC, "run", source, *options], input=table(names, first, last), capture_output=True,
                                  text=True, check=True)
            return done.stdout.splitlines()[1:]

        whole = run(0, ROWS)
        ways = (["--strict-math"], ["-O0"], ["--engine", "channels", "--grain", "op"])
        for saves in ways:
            first = run(0, 13, *saves, "--save", state)
            for loads in ways:
                self.assertEqual(first + run(13, ROWS, *loads, "--load", state), whole, f"{saves}, {loads}")

    def test_in_turn(self):
        """Each way continues the state of another one and replaces it."""
        for name in ("two ends", "instances", "learned"):
            programs = []
            for way, options in WAYS.items():
                (self.folder / way).mkdir(exist_ok=True)
                programs.append(Program(self.folder / way, {**STATIC, **MORE}[name], ["--strict-math", *options], 700))
            whole, got, state = programs[0].rows(0, 700), [], self.folder / "state"
            for turn, first in enumerate(range(0, 700, 25)):
                load = ["--load", state] if first > 0 else []
                got += programs[turn % len(programs)].rows(first, first + 25, *load, "--save", state)
            self.assertEqual(got, whole[: len(got)], name)
            self.assertGreater(len(got), 690)


unittest.main(verbosity=0)
