"""`rmlc gradcheck` must find wrong gradients, name them and their place, and accept right
ones.

gradcheck_test.py RMLC."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

RMLC = str(pathlib.Path(sys.argv.pop(1)).resolve())

MODELS = """
import nn;
const gain: f64 = 2.0;

node recurrent(end: bool, x: f64[2]) -> (h: f64[2])
  w = param_end(end, param([[0.5, -0.25], [0.1, 0.3]]));
  h = tanh(matmul(w, fby_end(end, zeros([2]), h)) + gain * x);

node sampled(c: bool, x: f64, z: f64 when c) -> (y: f64, s: f64 when c)
  y = merge c (z * x when c) (x when not c);
  s = sin(z);

node library(x: f32[3]) -> (y: f32[2])
  y = nn.dense(2, x);

node squared(x: f64, z: f64) -> (y: f64)
  y = 2.0 * x * x + z;
node diff_squared(x, z, bp, dy) -> (y, dx, dz)
  y = squared(x, z);
  dx = dy * (3.0 * x when bp);
  dz = dy;
node wrong_input(x: f64, z: f64) -> (y: f64)
  y = squared(x, z);

node scale(k: f64[2], x: f64) -> (y: f64[2])
  y = k * x;
node diff_scale(k, x, bp, dy) -> (y, dk, dx)
  y = scale(k, x);
  dk = -dy * (x when bp);
  dx = dot(dy, k when bp);
node wrong_parameter(x: f64) -> (y: f64[2])
  k = param([2.0, 3.0]);
  y = scale(k, x);

node shifted(x: f64) -> (y: f64)
  y = x;
node diff_shifted(x, bp, dy) -> (y, dx)
  y = x + 1.0;
  dx = dy;
node wrong_value(x: f64) -> (y: f64)
  y = shifted(x);

node late(end: bool, x: f64) -> (y: f64)
  y = x * x;
node diff_late(end, x, bp, dy) -> (y, dx)
  y = late(end, x);
  dx = 2.0 * (x when bp) * (if end when bp then 1.5 * dy else dy);
node wrong_at_end(end: bool, x: f64) -> (y: f64)
  y = late(end, x);

node stretch(k, x) -> (y)
  y = k * x;
node diff_stretch(k, x, bp, dy) -> (y, dk, dx)
  y = stretch(k, x);
  dk = dy * (x when bp);
  dx = dy * (k when bp);
node broadcast(k: f64, x: f64[2]) -> (y: f64[2])
  y = stretch(k, stretch(param(2.0), x));

node summed(x: f64[2]) -> (y: f64[2])
  y = 2.0 * x;
node diff_summed(x, bp, dy) -> (y, dx)
  y = summed(x);
  dx = sum(dy);
node wrong_shape(x: f64[2]) -> (y: f64[2])
  y = summed(x);

node unused(x: f64) -> (y: f64, n: f64)
  y = x * x;
  n = 0.0 fby n + 1.0;

node cut(x: f64) -> (y: f64)
  y = stop_gradient(x) * x;
node cut_of_any(x) -> (y)
  y = x * stop_gradient(x);
node cut_row(xs) -> (ys)
  ys = map cut_of_any(xs);
node cut_where(x) -> (y)
  c = x > 0.0;
  y = if c then x * stop_gradient(tanh(x)) else 2.0 * x;
node cut_round(s, x) -> (t, u)
  t = 0.5 * s + x * stop_gradient(x * s);
  u = stop_gradient(s) * t;
node cut_memory(x, w, e) -> (y)
  m = fby_end(e, 0.5, 0.5 * m + x * stop_gradient(x));
  a, b = scan cut_round(m; [x, w * x]);
  y = if x > 0.0 then w * a * stop_gradient(m) + sum(b) else m;
node cut_in_map(xs: f64[2], zs: f64[2]) -> (ys)
  ys = map cut_of_any(xs) * map cut_of_any(zs);
node cut_in_maps(xs: f64[2, 3]) -> (ys)
  ys = map cut_row(xs);
node cut_at_times(c: bool, xs: f32[2] when c) -> (ys)
  ys = map cut_where(xs);
node cut_in_fold(xs: f64[4]) -> (y)
  y, _ = scan[reverse] cut_round(0.1; xs);
node cut_in_scan(xs: f64[4]) -> (y, us)
  y, us = scan cut_round(0.1; xs);
node cut_in_memory(xs: f64[3], w: f64, e: bool) -> (ys)
  ys = map cut_memory(xs; w, e);

node count(n: i32) -> (m: i32)
  m = n + 1;
node steps(x: f64) -> (y: f64)
  y = round(x);
node endless(x: f64) -> (h: f64)
  h = tanh(param(0.5) * (0.0 fby h) + x);
node guarded(x: f64) -> (y: f64)
  first = x fby first;
  assert x == first, "no longer what it was";
  y = x * x;
node open_type(x) -> (e: f64[0])
  e = [];
node same(x) -> (y)
  y = x;
node nothing(x: f64[0]) -> (y: f64[0])
  y = 2.0 * x;
node picky(x: f64) -> (y: f64)
  assert x > 100.0, "too small";
  y = x;
node infinite(x: f64) -> (y: f64)
  y = x / 0.0;
"""

ROWS = """end,x
F,1
T,2
F,3
"""


class Gradcheck(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)
        (self.folder / "models.rml").write_text(MODELS)
        (self.folder / "rows.csv").write_text(ROWS)

    def tearDown(self):
        self.place.cleanup()

    def check(self, node, *options):
        return subprocess.run([RMLC, "gradcheck", "models.rml", "--node", node, *map(str, options)], cwd=self.folder,
                              capture_output=True, text=True, timeout=120, check=False)

    def rows(self, done):
        """The table: a row per name, its cells by column."""
        lines = [re.split(r"  +", line) for line in done.stdout.splitlines()[1:]]
        self.assertEqual(lines[0], ["name", "compared", "largest error", "at", "verdict"], done.stdout + done.stderr)
        return {line[0]: dict(zip(lines[0], line)) for line in lines[1:]}

    def assert_right(self, node, *options, names):
        done = self.check(node, *options)
        rows = self.rows(done)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(list(rows), names)
        for row in rows.values():
            self.assertEqual(row["verdict"], "right", done.stdout)
            compared, places = row["compared"].split(" of ")
            self.assertEqual(compared, places, done.stdout)
            self.assertLess(float(row["largest error"]), 1e-8)
        return done

    def refused(self, done, *said, status=1):
        self.assertEqual((done.returncode, done.stdout), (status, ""))
        for text in said:
            self.assertIn(text, done.stderr)

    def numbers(self, row, verdict="WRONG"):
        found, expected = re.fullmatch(verdict + r": (\S+), not (\S+)", row["verdict"]).groups()
        return float(found), float(expected)

    def test_right_gradients(self):
        done = self.assert_right("recurrent", names=["x", "w"])
        self.assertIn("`diff recurrent` against central differences, 12 cycles\n", done.stdout)
        self.assert_right("sampled", names=["x", "z"])
        done = self.assert_right("library", names=["x", "dense.kernel", "dense.bias"])
        self.assertIn("f32 computed in f64", done.stdout)

    def test_both_engines_agree(self):
        for node in ("recurrent", "sampled", "library"):
            tables = [self.check(node, "--engine", engine) for engine in ("compiled", "reference")]
            self.assertEqual([t.returncode for t in tables], [0, 0], tables[0].stderr)
            # Rounding errors may differ, and so may the place of the largest one.
            self.assertEqual(*[{k: (r["compared"], r["verdict"]) for k, r in self.rows(t).items()} for t in tables])

    def test_wrong_input_gradient(self):
        done = self.check("wrong_input")
        rows = self.rows(done)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(rows["z"]["verdict"], "right")
        found, expected = self.numbers(rows["x"])
        self.assertAlmostEqual(found / expected, 3 / 4, places=4)
        self.assertEqual(rows["x"]["largest error"], "2.5e-01")
        self.assertRegex(rows["x"]["at"], r"^cycle \d+$")

    def test_wrong_parameter_gradient(self):
        done = self.check("wrong_parameter", "--cycles", 4)
        rows = self.rows(done)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(rows["x"]["verdict"], "right")
        found, expected = self.numbers(rows["k"])
        self.assertAlmostEqual(found, -expected, places=4)
        self.assertRegex(rows["k"]["at"], r"^cycle [0-3] \[[01]\]$")

    def test_wrong_value(self):
        done = self.check("wrong_value")
        rows = self.rows(done)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(rows["x"]["verdict"], "right")
        found, expected = self.numbers(rows["y"], "WRONG VALUE")
        self.assertAlmostEqual(found, expected + 1, places=4)

    def test_given_inputs(self):
        done = self.check("wrong_at_end", "--input", "rows.csv")
        row = self.rows(done)["x"]
        self.assertEqual((done.returncode, row["compared"], row["at"]), (1, "3 of 3", "cycle 1"))
        found, expected = self.numbers(row)
        self.assertAlmostEqual(found, 1.5 * expected, places=3)
        done = self.check("wrong_at_end", "--input", "rows.csv", "--cycles", 1)
        self.assertEqual((done.returncode, self.rows(done)["x"]["compared"]), (0, "1 of 1"))

    def test_tolerance(self):
        self.assertEqual(self.check("wrong_at_end", "--tolerance", 0.6).returncode, 0)
        self.assertEqual(self.check("wrong_at_end", "--tolerance", 0.1).returncode, 1)

    def test_written_gradients_may_be_broadcast(self):
        self.assert_right("broadcast", names=["k", "x", "y"])

    def test_wrong_shape(self):
        self.refused(self.check("wrong_shape"), "E0303", "`sum_to`: cannot sum [] to [2]", "`wrong_shape.summed.dx` is f64")
        self.refused(self.check("summed"), "the gradient of input 'x', which is of shape [2], is of shape []")

    def test_outputs_that_depend_on_nothing(self):
        self.assert_right("unused", names=["x"])

    def test_stopped_gradients_stand_still(self):
        self.assert_right("cut", names=["x"])

    def test_stopped_gradients_stand_still_in_each_round(self):
        for node, names in (("cut_in_map", ["xs", "zs"]), ("cut_in_maps", ["xs"]), ("cut_at_times", ["xs"]),
                            ("cut_in_fold", ["xs"]), ("cut_in_scan", ["xs"]), ("cut_in_memory", ["xs", "w"])):
            for engine in ("compiled", "reference"):
                with self.subTest(node=node, engine=engine):
                    self.assert_right(node, "--engine", engine, names=names)

    def test_cycles_seed_definitions(self):
        self.assertIn(", 5 cycles\n", self.assert_right("recurrent", "--cycles", 5, names=["x", "w"]).stdout)
        same, again, other = (self.check("wrong_input", "--seed", seed).stdout for seed in (7, 7, 8))
        self.assertEqual(same, again)
        self.assertNotEqual(same, other)
        self.assertNotEqual(*(self.assert_right("recurrent", "-D", f"gain={k}", names=["x", "w"]).stdout
                              for k in (0.5, 1.5)))

    def test_what_has_no_gradient(self):
        self.refused(self.check("count"), "E0604", "`count` has no float output")
        self.refused(self.check("steps"), "E0601", "`round`", "stop_gradient")
        self.refused(self.check("endless"), "E0502", "the infinite future", "fby_end")

    def test_what_cannot_be_run(self):
        self.refused(self.check("picky"), "'picky' stops in cycle 0: too small", "--input")
        self.refused(self.check("infinite"), "output 'y' is not finite in cycle 0")

    def test_nothing_compared(self):
        (self.folder / "open.csv").write_text("end,x[0],x[1]\nF,1,2\nF,3,4\n")
        done = self.check("recurrent", "--input", "open.csv")
        self.assertEqual(done.stdout.count("not compared\n"), 2)
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing was compared", done.stderr)

    def test_a_fault_where_an_element_is_moved(self):
        (self.folder / "same.csv").write_text("x\n2\n2\n2\n")
        for engine in ("compiled", "reference"):
            done = self.check("guarded", "--input", "same.csv", "--engine", engine)
            self.assertEqual(done.returncode, 1)
            self.assertIn("nothing was compared: 'guarded' stops in cycle 1 where 'x' is moved by 0.000244 in cycle 0: "
                          "no longer what it was (", done.stderr)

    def test_types_that_nothing_decides_are_floats(self):
        for node in ("open_type", "same"):
            done = self.check(node)
            self.assertEqual((done.returncode, done.stderr), (0, ""), node)
            self.assertIn("12 of 12", done.stdout)

    def test_nothing_to_compare(self):
        done = self.check("nothing")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("not compared", done.stdout)

    def test_wrong_inputs(self):
        self.refused(self.check("nowhere"), "E0901", "no node 'nowhere' in models.rml")
        self.refused(self.check("recurrent", "--input", "none.csv"), "cannot open 'none.csv'")
        self.refused(self.check("recurrent", "--input", "rows.csv"), "rows.csv:1: no column 'x[0]' for input 'x'")
        self.refused(self.check("recurrent", "-D", "gian=1"), "E0902", "did you mean 'gain'?")
        (self.folder / "absent.chron").write_text("c | T F\nx | 1 2\nz | 1 2\n")
        self.refused(self.check("sampled", "--input", "absent.chron"), "cycle 1")
        (self.folder / "empty.csv").write_text("end,x\n")
        self.refused(self.check("wrong_at_end", "--input", "empty.csv"), "there are no cycles to check")
        done = subprocess.run([RMLC, "gradcheck", self.folder / "none.rml"], capture_output=True, text=True, check=False)
        self.refused(done, "E0801", "cannot read")

    def test_wrong_usage(self):
        for options in (["--cycles", 0], ["--tolerance", 0], ["--engine", "steam"], ["--seed", "x"]):
            self.refused(self.check("recurrent", *options), "see rmlc gradcheck --help", status=2)


unittest.main()
