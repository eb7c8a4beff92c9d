"""Tests `-D NAME=VALUE` for inputs: a node with static arguments is run, checked and differentiated
on its own.

given_inputs_test.py RMLC. The expected results are numbers computed by hand, or those of the node
with the values written into it."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

RMLC = str(pathlib.Path(sys.argv.pop(1)).resolve())

# Weights begin as gain: y = k * gain * x.
FIR = """const order = 2;
node fir(k, gain, x: f64) -> (y: f64)
  v = param(gain * ones([k]));
  y = sum(v) * x;
node main(x: f64) -> (y: f64)
  y = fir(3, 10.0, x);
node sampled(c: bool, x: f64 when c) -> (y: f64 when c)
  y = 2.0 * x;
"""

LEARNER = """import optim;
node line(n, x: f64) -> (y: f64)
  y = sum(param(0.25 * ones([n]))) * x;
node main(n, rate: f64, x: f64, y: f64) -> (guess: f64)
  guess, _ = diff[optim.sgd(rate)] line(n, x, true, guess - y);
"""

GRADIENTS = """node power(n: i32, scale, x: f64) -> (y: f64)
  y = scale * sum(x * ones([n]));
node diff_power(n: i32, scale, x, bp, dy) -> (y, dscale, dx)
  y = power(n, scale, x);
  dscale = dy * ((cast(f64, n) * x) when bp);
  dx = dy * ((FACTOR * scale * cast(f64, n)) when bp);
node caller(n: i32, scale, x: f64) -> (y: f64)
  y = power(n, scale, x) * x;
"""

ROWS = "x\n1\n-2\n0.5\n"


class GivenInputs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def rmlc(self, *words, given="", status=0):
        done = subprocess.run([RMLC, *words], input=given, capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stderr + done.stdout)
        return done.stderr if status else done.stdout

    def test_values(self):
        source = self.write("fir.rml", FIR)
        fir = [source, "--node", "fir", "-D", "gain=1.5"]
        for engine in (["-O0"], ["-O2"], ["--engine", "reference"]):
            of_two = self.rmlc("run", *fir, "-D", "k=2", *engine, given=ROWS)
            self.assertEqual(of_two, "y\n3\n-6\n1.5\n")
            of_constant = self.rmlc("run", *fir, "-D", "k=order + 2", *engine, given=ROWS)
            self.assertEqual(of_constant, "y\n6\n-12\n3\n")
            last = self.rmlc("run", *fir, "-D", "k=7", "-D", "k=2", *engine, given=ROWS)
            self.assertEqual(last, of_two)
        # Calls of the node keep all its inputs.
        self.assertEqual(self.rmlc("run", source, given=ROWS), "y\n30\n-60\n15\n")
        self.assertEqual(self.rmlc("run", source, "-D", "x=0.5", "--cycles", "2"), "y\n15\n15\n")
        self.assertEqual(self.rmlc("run", source, "--node", "sampled", "-D", "x=1.25", given="c\nT\nF\n"), "y\n2.5\n\"\"\n")

    def test_other_commands(self):
        source = self.write("fir.rml", FIR)
        fir = [source, "--node", "fir", "-D", "k=2", "-D", "gain=1.5"]
        self.assertEqual(self.rmlc("check", *fir), "")
        self.assertIn("input x", self.rmlc("show", "core", *fir))
        self.assertNotIn("input k", self.rmlc("show", "core", *fir))
        self.rmlc("build", *fir, "-o", "fir")
        built = subprocess.run([str(self.folder / "fir")], input=ROWS, capture_output=True, text=True, check=True)
        self.assertEqual(built.stdout, "y\n3\n-6\n1.5\n")
        chron = self.write("x.chron", "x | 1 2\n")
        self.assertEqual(self.rmlc("trace", *fir, "--input", chron, "--watch", "v"),
                         "x |         1         2\nv | [1.5,1.5] [1.5,1.5]\ny |         3         6\n")
        # The name of a parameter is that of a run of the node.
        self.rmlc("run", *fir, "--save", "weights.safetensors", given=ROWS)
        loaded = self.rmlc("run", source, "--node", "fir", "-D", "k=2", "-D", "gain=0.0", "--load-params", "weights.safetensors",
                           given=ROWS)
        self.assertEqual(loaded, "y\n3\n-6\n1.5\n")

    def test_derivative(self):
        source = self.write("fir.rml", FIR)
        printed = self.rmlc("diff", source, "--node", "fir", "-D", "k=2", "-D", "gain=1.5")
        self.assertEqual(printed, self.rmlc("diff", source, "--node", "fir"))
        self.assertIn("diff_fir(k, gain, x: f64, bp, dy)", printed)

    def test_gradients(self):
        right = self.write("right.rml", GRADIENTS.replace("FACTOR", "1.0"))
        wrong = self.write("wrong.rml", GRADIENTS.replace("FACTOR", "1.5"))
        given = ["--node", "caller", "-D", "n=3"]
        self.assertRegex(self.rmlc("gradcheck", right, *given), r"scale +12 of 12 .*right\nx +12 of 12 .*right\n")
        self.assertRegex(self.rmlc("gradcheck", right, *given, "-D", "scale=-0.5"), r"verdict\nx +12 of 12 .*right\n$")
        for further in ([], ["-D", "scale=-0.5"]):
            done = subprocess.run([RMLC, "gradcheck", wrong, *given, *further], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stdout, r"\nx +12 of 12 .*WRONG")
        fir = self.write("fir.rml", FIR)
        table = self.rmlc("gradcheck", fir, "--node", "fir", "-D", "k=2", "-D", "gain=1.5")
        self.assertEqual(re.findall(r"^(\w+) .*right$", table, re.M), ["x", "v"])

    def test_evaluation(self):
        source = self.write("learner.rml", LEARNER)
        written = self.write("written.rml", LEARNER.replace("(n, rate: f64, x", "(x").replace("rate", "0.125")
                             .replace("line(n, x, true", "line(2, x, true"))
        rows = "x,y\n" + "".join(f"{k % 3 - 1},{2 * (k % 3) - 2}\n" for k in range(20))
        metric = ["--progressive", "--metric", "mse:guess:y"]
        given = self.rmlc("eval", source, "-D", "n=2", "-D", "rate=0.125", *metric, given=rows)
        self.assertEqual(given, self.rmlc("eval", written, *metric, given=rows))
        other = self.rmlc("eval", source, "-D", "n=2", "-D", "rate=0.25", *metric, given=rows)
        self.assertNotEqual(given, other)

    def test_mistakes(self):
        source = self.write("fir.rml", FIR)
        fir = ["run", source, "--node", "fir"]
        told = self.rmlc(*fir, "-D", "gain=1.0", given=ROWS, status=1)
        self.assertIn("`k` is an input of the program; give it a value: -D k=VALUE", told)
        told = self.rmlc(*fir, "-D", "gian=1.0", given=ROWS, status=1)
        self.assertIn("-D gian=1.0: no constant 'gian', and no input of `fir`", told)
        self.assertIn("did you mean 'gain'?", told)
        told = self.rmlc(*fir, "-D", "k=2.5", "-D", "gain=1.0", given=ROWS, status=1)
        self.assertIn("error[E0302]", told)
        self.assertIn("-D k=2.5\n  |      ---", told)
        told = self.rmlc(*fir, "-D", "k=2)", "-D", "gain=1.0", given=ROWS, status=1)
        self.assertIn("error[E0902]: -D k=2): the value is not an expression", told)
        told = self.rmlc(*fir, "-D", "k=2", "-D", "gain=hugo", given=ROWS, status=1)
        self.assertIn("-D gain=hugo\n  |         ^^^^", told)
        # Each message about the node appears once, though the node is checked in two forms.
        wrong = self.write("wrong.rml", "node f(n, x: f64) -> (y: f64)\n  y = x + undefined;\n")
        told = self.rmlc("check", wrong, "-D", "n=2", status=1)
        self.assertEqual(told.count("error["), 1)
        unused = self.write("unused.rml", "node f(n, x: f64) -> (y: f64)\n  u = x;\n  y = sum(x * ones([n]));\n")
        done = subprocess.run([RMLC, "check", unused, "-D", "n=2"], capture_output=True, text=True)
        self.assertEqual(done.stderr.count("warning["), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
