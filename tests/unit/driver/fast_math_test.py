"""--fast-math must change results by rounding only. fast_math_test.py RMLC."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

RMLC = sys.argv.pop(1)
FUNCTIONS = ["sigmoid", "tanh", "exp", "softplus", "erf", "sin", "cos", "expm1", "reciprocal", "relu", "square"]


class FastMath(unittest.TestCase):
    def rows(self, dtype, *options):
        """A dictionary: function -> its values at -8, -7.75, ... 8, except 0."""
        outputs = ", ".join(f"{f}: {dtype}[64]" for f in FUNCTIONS)
        equations = "".join(f"  {f} = {f}(x);\n" for f in FUNCTIONS)
        source = (f"node main() -> ({outputs})\n{equations}"
                  f"  k = cast({dtype}, iota(64)) - 32.0;\n  x = 0.25 * select(k < 0.0, k, k + 1.0);\n")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "functions.rml"
            file.write_text(source)
            done = subprocess.run([RMLC, "run", str(file), "--cycles", "1", "--format", "chron", *options],
                                  capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        table = (line.split("|") for line in done.stdout.splitlines())
        return {name.strip(): [float(v) for v in values.strip().strip("[]").split(",")] for name, values in table}

    def test_functions_are_themselves(self):
        for dtype, tolerance in (("f32", 1e-5), ("f64", 1e-12)):
            exact, fast = self.rows(dtype, "--strict-math"), self.rows(dtype, "--fast-math")
            for name in FUNCTIONS:
                for a, b in zip(exact[name], fast[name], strict=True):
                    self.assertLessEqual(abs(a - b), tolerance * max(abs(a), 1e-3), f"{name}, {dtype}")

    def test_a_fast_sigmoid_is_not_always_0(self):
        y = self.rows("f32", "--fast-math")["sigmoid"]
        self.assertEqual(y, sorted(y))
        self.assertTrue(0 < y[0] < 1e-3 and 0.999 < y[-1] <= 1)


if __name__ == "__main__":
    unittest.main()
