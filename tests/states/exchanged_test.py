"""Instances are identified by the variable that their call defines: exchanged_test.py RMLC.
The rows are computed here."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

RMLC = pathlib.Path(sys.argv.pop(1)).resolve()

TOTAL = "node total(x: f64) -> (y: f64)\n  y = (0.0 fby y) + x;\n"
TWO = TOTAL + "node main(x: f64) -> (a: f64, b: f64)\n"
A, B = "  a = total(x);\n", "  b = total(10.0 * x);\n"
LAYERS = ("import nn;\nnode net(x: f64[2]) -> (a: f64[2], b: f64[2])\n{}"
          "node loss(x: f64[2]) -> (l: f64)\n  a, b = net(x);\n  l = sum(a * a) + sum((b - 1.0) * (b - 1.0));\n"
          "node main(x: f64[2]) -> (l: f64)\n  l, _ = diff loss(x, true, -0.01);\n")
ONE, OTHER = "  a = nn.dense(2, x);\n", "  b = nn.dense(2, x);\n"
DEMAND = ("node f(x, end) -> (v)\n  {0} = param(0.5);\n  v = fby_end(end, 2.0, {0});\n"
          "node main(x: f64, end: bool, bp: bool) -> (v: f64)\n  v, _ = diff f(x, end, bp, 0.5 when bp);\n")


class Exchanged(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)

    def tearDown(self):
        self.place.cleanup()

    def run_text(self, text, rows, *options):
        (self.folder / "p.rml").write_text(text)
        return subprocess.run([RMLC, "run", "p.rml", "--strict-math", *options], input=rows, cwd=self.folder,
                              capture_output=True, text=True, timeout=60)

    def rows(self, text, rows, *options):
        done = self.run_text(text, rows, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()[1:]

    def refused(self, text, rows, *options):
        done = self.run_text(text, rows, *options)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        return done.stderr

    def save_two(self):
        self.assertEqual(self.rows(TWO + A + B, "x\n1\n2\n", "--save", "s"), ["1,10", "3,30"])

    def test_equations_change_places(self):
        self.save_two()
        for engine in ([], ["-O0"], ["--engine", "channels"]):
            self.assertEqual(self.rows(TWO + B + A, "x\n3\n4\n", "--load", "s", *engine), ["6,60", "10,100"])

    def test_with_keys(self):
        self.rows(TWO + A + B, "k,x\n7,1\n7,2\n", "--key", "k", "--save", "s")
        self.assertEqual(self.rows(TWO + B + A, "k,x\n7,3\n7,4\n", "--key", "k", "--load", "s"), ["7,6,60", "7,10,100"])

    def test_renamed_in_passing(self):
        """Renamed variables that are no outputs are identified by their equations."""
        text = TOTAL + "node main(x: f64) -> (y: f64)\n  p = total(x);\n  q = total(10.0 * x);\n  y = p - 0.5 * q;\n"
        self.assertEqual(self.rows(text, "x\n1\n2\n", "--save", "s"), ["-4", "-12"])
        moved = TOTAL + "node main(x: f64) -> (y: f64)\n  r = total(10.0 * x);\n  t = total(x);\n  y = t - 0.5 * r;\n"
        self.assertEqual(self.rows(moved, "x\n3\n", "--load", "s"), ["-24"])

    def test_within_an_equation(self):
        text = TOTAL + "node main(x: f64) -> (y: f64)\n  y = total(x) + 3.0 * total(10.0 * x);\n"
        self.assertEqual(self.rows(text, "x\n1\n", "--save", "s"), ["31"])
        moved = TOTAL + "node main(x: f64) -> (y: f64)\n  y = 3.0 * total(10.0 * x) + total(x);\n"
        self.assertEqual(self.rows(moved, "x\n2\n", "--load", "s"), ["93"])

    def test_names_that_are_exchanged_are_refused(self):
        """Each memory corresponds to one saved memory by its name, and to the other by its
        equation. So the state is refused."""
        self.save_two()
        text = TWO + "  b = total(x);\n  a = total(10.0 * x);\n"
        said = self.refused(text, "x\n3\n", "--load", "s")
        self.assertIn("'before total.y (of a)' (f64) is only in the file", said)
        self.assertIn("'before total2.y' (f64) is not in the file", said)
        self.assertIn("--map 'total=total2'", said)
        by_name = self.rows(text, "x\n3\n", "--load", "s", "--map", "total=total2", "--map", "total2=total")
        self.assertEqual(by_name, ["33,33"])

    def test_siblings(self):
        self.save_two()
        more = TOTAL + "node main(x: f64) -> (a: f64, b: f64, c: f64)\n  c = total(5.0 * x);\n" + A + B
        self.assertIn("is not in the file", self.refused(more, "x\n3\n", "--load", "s"))
        less = TOTAL + "node main(x: f64) -> (b: f64)\n" + B
        self.assertIn("only in the file", self.refused(less, "x\n3\n", "--load", "s"))

    def test_layers_that_change_places(self):
        before, after = LAYERS.format(ONE + OTHER), LAYERS.format(OTHER + ONE)
        first, last = '"x[0]","x[1]"\n' + "1,2\n" * 20, '"x[0]","x[1]"\n3,1\n1,4\n'
        self.rows(before, first, "--save", "s")
        whole = self.rows(before, last, "--load", "s")
        self.assertEqual(self.rows(after, last, "--load", "s"), whole)
        self.assertEqual(self.rows(after, last, "--load-params", "s"), self.rows(before, last, "--load-params", "s"))
        net = ["--node", "net", "--load-params", "s"]
        weights = self.rows(before, last, *net, "--map", "loss.net.*=*")
        self.assertNotEqual(weights[0].split(",")[:2], weights[0].split(",")[2:])
        said = self.refused(after, last, *net, "--map", "loss.net.*=*")
        self.assertIn("choose one with --map", said)
        exchanged = ["--map", "loss.net.dense=dense2", "--map", "loss.net.dense2=dense"]
        self.assertEqual(self.rows(after, last, *net, *exchanged), weights)

    def test_a_parameter_on_demand(self):
        rows = "x,end,bp\n1,T,F\n1,T,F\n"
        self.assertEqual(self.rows(DEMAND.format("w"), rows, "--save", "s"), ["2", "2"])
        self.assertEqual(self.rows(DEMAND.format("u"), "x,end,bp\n1,T,F\n1,T,T\n", "--load", "s"), ["2", "2"])
        self.assertIn("no parameter 'f.u'", self.refused(DEMAND.format("u"), rows, "--load-params", "s"))

    def test_a_file_of_tensors_is_not_replaced(self):
        text = "node line(x) -> (y)\n  k = param(1.0);\n  y = k * x;\nnode main(x: f64) -> (y: f64)\n  y = line(x);\n"
        head = b'{"line.k":{"dtype":"F64","shape":[],"data_offsets":[0,8]}}'
        tensors = len(head).to_bytes(8, "little") + head + bytes(8)
        (self.folder / "t").write_bytes(tensors)
        done = self.run_text(text, "x\n1\n", "--load-params", "t", "--save", "t")
        self.assertEqual(done.returncode, 2)
        self.assertIn("which is not a state", done.stderr)
        self.assertEqual((self.folder / "t").read_bytes(), tensors)
        self.rows(text, "x\n1\n", "--load-params", "t", "--save", "s")
        self.assertEqual(self.rows(text, "x\n1\n", "--load-params", "s", "--save", "s"), ["0"])

    def test_other_classes(self):
        (self.folder / "p.rml").write_text("node main(k: i32) -> (j: i32)\n  j = k;\n")
        (self.folder / "one").write_text("a\nb\n")
        (self.folder / "other").write_text("b\na\n")

        def run(count, *options):
            (self.folder / "in.csv").write_text("k\n" + "0\n" * count)
            return subprocess.run([RMLC, "run", "p.rml", "--input", "in.csv", "--output", "o.csv", "--resume", "r",
                                   *options], cwd=self.folder, capture_output=True, text=True)

        self.assertEqual(run(1, "--classes", "j=one").returncode, 0)
        for options in ([], ["--classes", "j=other"]):
            done = run(2, *options)
            self.assertEqual(done.returncode, 1)
            self.assertIn("give the same --classes", done.stderr)
        self.assertEqual(run(2, "--classes", "j=one").returncode, 0)
        self.assertEqual((self.folder / "o.csv").read_text(), "j\na\na\n")


unittest.main(verbosity=0)
