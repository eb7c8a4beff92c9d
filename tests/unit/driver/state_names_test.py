"""States of a program whose variables were renamed: state_names_test.py RMLC."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

RMLC = sys.argv.pop(1)

BEFORE = """
node low(k: f64, x: f64) -> (y: f64)
  m = 0.0 fby y;
  y = k * m + x;
node learner(e: bool, x: f64) -> (l: f64)
  w = param_end(e, param(0.5));
  h = tanh(w * x + 0.5 * fby_end(e, 0.0, h));
  l = h * h;
node main(e: bool, x: f64) -> (y: f64, z: f64, l: f64)
  a = low(0.5, x);
  b = low(0.25, a);
  n = 0 fby n + 1;
  gain = param(2.0);
  y = gain * b + cast(f64, n) + (1.0 fby x);
  z = backfill(y, e);
  l, _ = diff learner(e, x, true, -0.01);
"""
# Every local variable of every node.
LOCALS = {"m": "kept", "w": "weight", "h": "hidden", "a": "once", "b": "twice", "n": "count", "gain": "factor"}
ROWS, SPLIT = 440, 417  # number of rows, and number of cycles before the state is saved


def renamed(text, names):
    """Replaces whole words."""
    words, word = [], ""
    for c in text + " ":
        if c.isalnum() or c == "_":
            word += c
        else:
            words += [names.get(word, word), c]
            word = ""
    return "".join(words)


def rows(first, last):
    return "e,x\n" + "".join(f"{'FT'[k % 7 == 5]},{k * 37 % 11 / 4}\n" for k in range(first, last))


class Names(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)
        self.state = self.folder / "state"
        self.whole = self.run_text(BEFORE, 0, ROWS).stdout.splitlines()[1:]
        self.first = self.run_text(BEFORE, 0, SPLIT, "--save", self.state).stdout.splitlines()[1:]

    def tearDown(self):
        self.place.cleanup()

    def run_text(self, text, first, last, *options):
        source = self.folder / "p.rml"
        source.write_text(text)
        return subprocess.run([RMLC, "run", source, "--strict-math", *map(str, options)], input=rows(first, last),
                              capture_output=True, text=True, timeout=60)

    def goes_on(self, text, *options):
        done = self.run_text(text, SPLIT, ROWS, "--load", self.state, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.first + done.stdout.splitlines()[1:], self.whole)
        return done.stderr

    def refused(self, text, *options):
        done = self.run_text(text, SPLIT, ROWS, "--load", self.state, *options)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_each_local_variable(self):
        for old, new in LOCALS.items():
            with self.subTest(variable=old):
                self.goes_on(renamed(BEFORE, {old: new}))

    def test_all_local_variables_at_once(self):
        for options in ([], ["-O0"], ["--engine", "channels"], ["--chunk", "segment"]):
            said = self.goes_on(renamed(BEFORE, LOCALS), *options)
            self.assertIn("'n' is loaded as 'count', which has the same place in the source", said)
            self.assertIn("'low.m' is loaded as 'low.kept'", said)
            self.assertEqual(self.goes_on(renamed(BEFORE, LOCALS), *options, "--quiet"), "")

    def test_equations_in_another_order(self):
        lines = BEFORE.splitlines()
        at = next(k for k, line in enumerate(lines) if line.startswith("node main")) + 1
        self.assertEqual(self.goes_on("\n".join([*lines[:at], *reversed(lines[at:])])), "")

    def test_a_node(self):
        text = renamed(BEFORE, {"low": "smooth", "learner": "net"})
        said = self.refused(text)
        self.assertIn("'smooth.m' (f64) is not in the file", said)
        self.assertIn("'low.m' (f64) is only in the file", said)
        self.assertIn("here: --map 'learner=net'", said)
        said = self.refused(text, "--map", "learner=net", "--map", "low=smooth")
        self.assertIn("if 'low2.m' of the file is 'smooth2.m' here: --map 'low2=smooth2'", said)
        self.assertEqual(self.goes_on(text, "--map", "low=smooth", "--map", "low2=smooth2", "--map", "learner=net"), "")

    def test_an_input(self):
        text = renamed(BEFORE, {"x": "measured"})
        done = self.run_text(text, SPLIT, ROWS, "--load", self.state)
        self.assertNotEqual(done.returncode, 0)
        source = self.folder / "p.rml"
        done = subprocess.run([RMLC, "run", source, "--strict-math", "--load", self.state, "--map", "x=measured"],
                              input=rows(SPLIT, ROWS).replace("e,x", "e,measured"), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.first + done.stdout.splitlines()[1:], self.whole)

    def test_what_stands_elsewhere_is_not_guessed(self):
        """With one additional memory, only the user knows which of them are the old ones."""
        text = renamed(BEFORE, {"n": "count"}).replace("  count = 0 fby count + 1;\n",
                                                       "  count = 0 fby count + 1;\n  assert (true fby count >= -1);\n")
        said = self.refused(text)
        self.assertIn("is not in the file", said)
        other = BEFORE.replace("n = 0 fby n + 1", "count = (0.0 fby count) + 1.0").replace("cast(f64, n)", "count")
        self.assertIn("'n' (i32) is only in the file", self.refused(other))

    def test_two_that_change_places(self):
        """Both names exist, so each keeps its value."""
        two = "node main(e: bool, x: f64) -> (y: f64)\n  a = 0.0 fby a + x;\n  b = 1.0 fby b * 0.5;\n  y = a + b;\n"
        whole = self.run_text(two, 0, ROWS).stdout.splitlines()[1:]
        first = self.run_text(two, 0, SPLIT, "--save", self.state).stdout.splitlines()[1:]
        done = self.run_text(renamed(two, {"a": "b", "b": "a"}), SPLIT, ROWS, "--load", self.state, "--map", "a=b", "--map", "b=a")
        self.assertEqual(first + done.stdout.splitlines()[1:], whole)

    def test_maps_that_are_wrong(self):
        for text, said in (("n", "--map n: write OLD=NEW"), ("=n", "write OLD=NEW"), ("n=", "write OLD=NEW"),
                           ("nn=m", "--map nn=m: no 'nn' in"), ("n=low2.m", "--map gives both")):
            self.assertIn(said, self.refused(BEFORE, "--map", text))
        done = self.run_text(BEFORE, 0, 3, "--map", "n=m")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--map: give the file that it renames", done.stderr)

    def test_parameters(self):
        text = renamed(BEFORE, {"gain": "factor", "w": "weight", "low": "smooth", "learner": "net"})
        done = self.run_text(text, 0, 3, "--load-params", self.state)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no parameter 'factor'", done.stderr)
        done = self.run_text(text, 0, 3, "--load-params", self.state, "--map", "gain=factor", "--map", "learner=net",
                             "--map", "net.w=net.weight")
        self.assertEqual(done.returncode, 1)
        done = self.run_text(text, 0, 3, "--load-params", self.state, "--map", "gain=factor", "--map", "learner.w=net.weight",
                             "--map", "learner=net")
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 1), done.stderr)

    def test_on_demand(self):
        text = "node main(e: bool, x: f64) -> (y: f64, z: f64)\n  v = x + (if e then 0.0 else post (post v));\n" \
               "  k = 0.0 fby k + 1.0;\n  y = k * v;\n  z = 0.0 fby v;\n"
        whole = self.run_text(text, 0, ROWS).stdout.splitlines()[1:]
        first = self.run_text(text, 0, SPLIT, "--save", self.state).stdout.splitlines()[1:]
        done = self.run_text(renamed(text, {"k": "count", "v": "value"}), SPLIT, ROWS, "--load", self.state)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("'k' is loaded as 'count'", done.stderr)
        self.assertEqual(first + done.stdout.splitlines()[1:], whole)


unittest.main(verbosity=0)
