"""Operators that are written as code for small sizes, and call a kernel for larger ones: the rows
of compiled code, of C and of the kernels are the same, no code needs the runtime, and a
microcontroller gets no call of an archive that it does not have.

    small_kernels_test.py RMLC
"""

import math
import pathlib
import random
import re
import struct
import subprocess
import sys
import unittest

from in_folder import InFolder
from lanes import differs
from undefined_symbols import undefined

RMLC = pathlib.Path(sys.argv.pop(1)).resolve()
CHIP = ("--emit", "lib", "--target", "thumbv7em-none-eabihf", "--cpu", "cortex-m4")
# Functions that a compiler may call without a header.
PLAIN = {"memcpy", "memset", "memmove", "sqrt", "sqrtf", "fabs", "fabsf"}

ORDERS = """import tensor;
node main(x: T[N], v: T[3]) -> (up: T[N], down: T[N], order: i32[N], best: i32[K], left: i32[3], right: i32[3])
  up = sort(x);
  down = sort(x, descending=1);
  order = argsort(x);
  best = argtopk(x, K);
  left = searchsorted(up, v);
  right = searchsorted(up, v, right=1);
"""
POINTS = """  middle = tensor.median(x);
  y = tensor.interp(v, sort(x), x * 0.5);
"""
SYSTEMS = """node main(a: T[N, N], b: T[N, 2]) -> (pair: T[3, 2, N, 2], x: T[N, 2], one: T[N], i: T[N, N], l: T[N, N], t: T[N, 2], u: T[N, 2], p: T[N, N])
  pair = solve([a, transpose(a)], reshape([3, 1, N, 2], [b, 2.0 * b, b * b]));
  x = solve(a, b);
  one = solve(a, b[:, 0]);
  i = inverse(a);
  l = cholesky(matmul(a, transpose(a)) + eye(N));
  t = triangular_solve(a, b);
  u = triangular_solve(a, b, lower=0, unit=1);
  p = matrix_power(a, -3) + matrix_power(a, 5);
"""
CONTROLLER = """import control;
import tensor;
node main(target: f32, sensors: f32[3]) -> (duty: f32, temperature: f32)
  x, _ = control.kalman([[1.0, 0.5], [0.0, 1.0]], [0.0, 0.0], [[1e-4, 0.0], [0.0, 1e-3]], [[1.0, 0.0]], [[0.09]],
      [20.0, 0.0], [[100.0, 0.0], [0.0, 1.0]], [tensor.median(sensors)]);
  temperature = x[0];
  k, _ = control.lqr(8, [[1.0, 0.5], [0.0, 1.0]], [[0.0], [0.5]], [[1.0, 0.0], [0.0, abs(x[1])]], [[1.0]]);
  kp = tensor.interp(target, [20.0, 60.0, 120.0], [0.02, 0.05, 0.12]);
  duty = control.pid(kp, 0.1 * kp, 0.0, 0.5, 0.0, 1.0, target, temperature) + k[0, 0];
"""
PLACES = """node main(x: f64[4, 3], u: f64[1, 2], s: i32[2], i: i32) -> (p: f64[2, 2], t: f64[3], c: f64[4, 2], m: f64[4, 3])
  p = dynamic_slice(x, s, [2, 2]);
  t = take(x, i, axis=0);
  c = take(x, [i, -1], axis=1);
  m = dynamic_update_slice(zeros([4, 3]) fby m, u, s);
"""


def text_of(value):
    if math.isnan(value) or math.isinf(value):
        return str(value)
    return repr(value)


def nested(values, *shape):
    if len(shape) == 1:
        return "[" + ",".join(text_of(v) for v in values) + "]"
    return "[" + ";".join(nested(values[k * shape[1]:(k + 1) * shape[1]], shape[1])[1:-1] for k in range(shape[0])) + "]"


class SmallKernels(InFolder):
    def setUp(self):
        super().setUp()
        self.rng = random.Random(7)

    def program(self, text, n, dtype):
        text = re.sub(r"\bT\b", dtype, text)
        text = re.sub(r"\bK\b", str(min(n, 2)), re.sub(r"\bN\b", str(n), text))
        (self.folder / "main.rml").write_text(text)

    def run_with(self, *options):
        done = subprocess.run([RMLC, "run", "main.rml", "--input", "in.chron", *options], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def rows(self, shapes, cycles):
        """Writes the rows of the inputs: each a list of elements."""
        text = ""
        for port, shape in shapes.items():
            cells = [nested(row[port], *shape) for row in cycles]
            text += f"{port} | " + " ".join(cells) + "\n"
        (self.folder / "in.chron").write_text(text)

    def same(self, n):
        """The kernels, the equations that replace them, and compiled code."""
        kernels = self.run_with("--engine", "reference", "--unsimplified")
        self.assertEqual(self.run_with("--engine", "reference"), kernels, n)
        self.assertEqual(self.run_with("--strict-math"), kernels, n)
        return kernels

    def rounded(self, dtype):
        """An element that dtype has."""
        value = self.rng.uniform(-2, 2)
        return struct.unpack("f", struct.pack("f", value))[0] if dtype == "f32" else value

    def needs_nothing(self, n, most):
        """A chip's object calls no archive; if one is needed, the build says so."""
        (self.folder / "chip.o").unlink(missing_ok=True)
        done = subprocess.run([RMLC, "build", "main.rml", *CHIP, "-o", "chip.o"], cwd=self.folder, capture_output=True, text=True)
        if n > most:
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"error\[E0903\]: `\w+` of \w+\[.*\] calls librml\w+\.a, which is not built for 'thumbv7em")
            self.assertIn("main.rml:", done.stderr)
            self.assertFalse((self.folder / "chip.o").exists())
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        missing = {name for name in undefined(self.folder / "chip.o") if not name.startswith("__aeabi")}
        self.assertLessEqual(missing, PLAIN)

    def test_orders(self):
        special = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0]
        for dtype in ("f32", "f64", "i32"):
            for n in (0, 1, 2, 3, 12, 13, 16, 17) if dtype == "f32" else (0, 3, 16, 17):
                with self.subTest(dtype=dtype, n=n):
                    draw = (lambda: self.rng.randrange(-5, 5)) if dtype == "i32" else (
                        lambda: self.rng.choice(special) if self.rng.random() < 0.4 else self.rounded(dtype))
                    cycles = [{"x": [draw() for _ in range(n)], "v": [draw() for _ in range(3)]} for _ in range(5)]
                    floats = dtype != "i32" and n > 0
                    self.program(ORDERS.replace("right: i32[3])", "right: i32[3], middle: T, y: T[3])") + POINTS if floats else ORDERS, n, dtype)
                    self.rows({"x": (n,), "v": (3,)}, cycles)
                    self.same(n)
                    if dtype != "f64":
                        self.needs_nothing(n, 16)

    def test_systems(self):
        for dtype in ("f32", "f64"):
            for n in (0, 1, 2, 3, 12, 13) if dtype == "f64" else (0, 1, 3, 12):
                with self.subTest(dtype=dtype, n=n):
                    def row():
                        a = [self.rounded(dtype) for _ in range(n * n)]
                        for k in range(n):
                            a[k * n + k] += 1.0 if dtype == "f64" else 0.5
                        return {"a": a if dtype == "f64" else [struct.unpack("f", struct.pack("f", v))[0] for v in a],
                                "b": [self.rounded(dtype) for _ in range(2 * n)]}
                    self.program(SYSTEMS, n, dtype)
                    self.rows({"a": (n, n), "b": (n, 2)}, [row() for _ in range(4)])
                    self.same(n)
                    if n in (0, 3, 13):
                        self.needs_nothing(n, 12)

    def test_places(self):
        (self.folder / "main.rml").write_text(PLACES)
        (self.folder / "in.chron").write_text("x | " + "[1,2,3;4,5,6;7,8,9;10,11,12] " * 3 + "\nu | [20,30] [21,31] [22,32]\n"
                                              "s | [0,0] [2,1] [1,1]\ni | 0 -2 1\n")
        self.same(0)
        self.needs_nothing(0, 1)

    def test_controller(self):
        """A chip, C without a library, and lanes."""
        (self.folder / "main.rml").write_text(CONTROLLER)
        self.needs_nothing(0, 1)
        for command in ([RMLC, "build", "main.rml", "--emit", "c"],
                        ["cc", "-std=c99", "-ffreestanding", "-Wall", "-Wextra", "-Werror", "-O1", "-c", "main.c", "-o", "c.o"],
                        [RMLC, "build", "main.rml", "--emit", "lib", "--lanes", "-o", "lanes.o"]):  # fmt: skip
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        for made in ("c.o", "lanes.o"):
            self.assertLessEqual(undefined(self.folder / made) - {"_GLOBAL_OFFSET_TABLE_"}, PLAIN)
        self.assertIsNone(differs(RMLC, self.folder, "main.rml", ["--cpu", "native"], self.rng, 12))


if __name__ == "__main__":
    unittest.main()
