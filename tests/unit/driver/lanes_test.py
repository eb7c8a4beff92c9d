"""NODE_group_step and NODE_step_many of --lanes must give the results of NODE_step for each
state, to the bit (lanes.py).

The programs are those below, and those of the language tests that have a schedule: a part of
them, or all with --all.

    lanes_test.py RMLC LANGUAGE_TESTS [--all]
"""

import ctypes
import math
import pathlib
import random
import re
import subprocess
import sys
import unittest

from in_folder import InFolder
from lanes import differs

ARGUMENTS = [a for a in sys.argv[1:] if not a.startswith("-")]
RMLC, LANGUAGE = pathlib.Path(ARGUMENTS[0]), pathlib.Path(ARGUMENTS[1])
ALL = "--all" in sys.argv
SHARE = 1 if ALL else 6
sys.argv[1:] = []

PROGRAMS = {
    "online": "node line(x) -> (said)\n  said = dot(param(zeros([8])), x);\n"
    "node main(x: f32[8], y: f32) -> (said: f32)\n  said, _ = diff line(x, true, -0.01 * (said - y));\n",
    "branches": "node main(x: f64, c: bool, d: bool) -> (y: f64, z: f64 when c, n: i32)\n"
    "  n = 0 fby (if c then n + 1 else if d then n - 1 else n);\n  z = tanh((x + 1.0) when c);\n"
    "  up = (0.0 fby up) + sin(x) when c;\n  down = (1.0 fby down) * cos(x) when not c;\n"
    "  y = merge c (up) (down);\n",
    "nested": "node main(x: f32, a: bool, b: bool when a) -> (y: f32)\n  t = x when a;\n"
    "  u = t when b;\n  v = t when not b;\n  sum = (0.0 fby sum) + exp(u);\n  inner = merge b (sum) (v * v);\n"
    "  y = merge a (inner) ((0.5 fby (x when not a)));\n",
    "divides": "node main(a: i32, b: i32) -> (q: i32, s: i32)\n  q = a / b;\n  s = 0 fby s + q;\n",
    "indexes": "node main(x: f32[6], i: i32) -> (y: f32, z: f64)\n  y = x[i];\n  table = cast(f64, iota(90)) / 7.0;\n  z = table[i * i];\n",
    "choices": "node main(x: f64[20], c: bool) -> (y: f64)\n  w = cast(f64, iota(20)) fby w + 0.01 * x;\n"
    "  v = (if c then w else x);\n  y = sum(v * x);\n",
    "restarts": "import metrics;\nnode main(x: f64[18], end: bool) -> (a: f64, v: f64)\n"
    "  average, variance = metrics.moments_end(end, x);\n  a = sum(average);\n  v = sum(variance);\n",
    "drawn": "import nn;\nnode net(x) -> (y)\n  y = dot(tanh(nn.affine(param(glorot_uniform([3, 4])), param(zeros([3])), x)),"
    " param(glorot_uniform([3])));\nnode main(x: f64[4], t: f64) -> (y: f64)\n"
    "  y, _ = diff net(x, true, -0.05 * (y - t));\n",
    "products": "node main(x: f64[7]) -> (y: f64[5])\n  h = zeros([5]) fby y;\n"
    "  w = zeros([5, 7]) fby w + outer(y, x) * 0.01;\n  y = tanh(matmul(w, x) + 0.3 * h + 0.1);\n",
    "windows": "import signal;\nnode main(x: f32) -> (y: f32, old: f32)\n  past = concat((zeros([40]) fby past)[1:], [x]);\n"
    "  y = sum(past);\n  old = signal.delay(25, 0.5, x);\n",
    "halves": "node main(x: f16, n: i8) -> (y: f16, m: i16)\n  s = 0.5 fby 0.5 * s + cast(f32, x);\n  y = cast(f16, s);\n  m = cast(i16, n) * 3;\n",
}

class Lanes(InFolder):
    def setUp(self):
        super().setUp()
        self.rng = random.Random(0)

    def compare(self, source, options, cycles=12):
        return differs(RMLC, self.folder, source, options, self.rng, cycles)

    def test_programs(self):
        """Most programs also have lanes for separate states."""
        apart = 0
        for name, text in PROGRAMS.items():
            (self.folder / f"{name}.rml").write_text(text)
            for options in ([], ["--cpu", "native"], ["-O0"], ["--strict-math"]):
                with self.subTest(name=name, options=options):
                    self.assertIsNone(self.compare(f"{name}.rml", options))
                    apart += re.search(r"^(void|int32_t) \w+_step_many", (self.folder / "m.h").read_text(), re.M) is not None
        self.assertGreater(apart, 2 * len(PROGRAMS))

    def test_language(self):
        """If a program has lanes, they must be right; most programs with a schedule have
        lanes."""
        found, refused = 0, []
        runs = {file: re.search(r"^-- run: (\w+)", file.read_text(), re.M) for file in sorted(LANGUAGE.rglob("*.rml"))}
        files = [(file, run[1]) for file, run in runs.items() if run]
        for file, node in files[::SHARE]:
            why = self.compare(file, ["--cpu", "native", "--node", node], cycles=5)
            if why is None:
                found += 1
            else:
                refused.append((file.name, why.split("\n")[0]))
        if ALL:
            for name, why in refused:
                print(name, why)
            print(f"{found} of {found + len(refused)} have lanes")
        self.assertGreater(found, len(files) // SHARE // 3, refused)

    def test_calls(self):
        """A function of the C library that few arguments need is called only if some lane has
        such an argument."""
        (self.folder / "m.rml").write_text("node main(x: f32) -> (y: f32)\n  y = sin(x);\n")
        (self.folder / "sine.c").write_text("#include <math.h>\nint calls;\nfloat sinf(float x) { ++calls; return (float)sin(x); }\n")
        for command in ([RMLC, "build", "m.rml", "--emit", "lib", "--lanes", "-o", "m.o"],
                        ["cc", "-shared", "-fPIC", "-Wl,-Bsymbolic", "-o", "m.so", "m.o", "sine.c", "-lm"]):  # fmt: skip
            subprocess.run(command, cwd=self.folder, check=True, capture_output=True)
        library = ctypes.CDLL(str(self.folder / "m.so"))
        calls = ctypes.c_int.in_dll(library, "calls")
        group = ctypes.create_string_buffer(4096)
        library.main_group_init(group, ctypes.c_int64(16))
        for last, expected in ((0.5, False), (1e30, True)):
            x, y, calls.value = (ctypes.c_float * 16)(*[k / 10 for k in range(15)], last), (ctypes.c_float * 16)(), 0
            library.main_group_step(group, ctypes.c_int64(16), x, y)
            self.assertEqual(calls.value > 0, expected)
            for of_x, of_y in zip(x, y):
                self.assertAlmostEqual(of_y, math.sin(of_x), places=6)

    def test_refused(self):
        """The message names the equation and the reason; nothing is written."""
        for text, place, reason, *more in (
            ("node main(x: f32) -> (y: f32)\n  y = x + normal([1], 0.0, 1.0)[0];\n", "2:3", "rml_random_normal is called"),
            ("node f(x: f64) -> (y: f64)\nnode main(x: f64) -> (y: f64)\n  y = f(x);\n", "3:3", "f is called", "--external", "f"),
            ("node main(x: f64) -> (y: f64)\n  w = zeros([90, 90]) fby w + x;\n  y = sum(w);\n", None, " bytes: those of a group would leave the cache"),
        ):
            with self.subTest(reason=reason):
                (self.folder / "m.rml").write_text(text)
                done = subprocess.run([RMLC, "build", "m.rml", "--emit", "lib", "--lanes", *more], cwd=self.folder,
                                      capture_output=True, text=True)  # fmt: skip
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("error[E0903]: --lanes: 'main' has no lanes: ", done.stderr)
                self.assertIn(reason, done.stderr)
                self.assertIn(f"m.rml:{place}" if place else "", done.stderr)
                self.assertEqual([p.name for p in self.folder.iterdir()], ["m.rml"])

    def test_place_in_an_import(self):
        """The message names the file of the equation, whatever the names of the others."""
        (self.folder / "lib").mkdir()
        noisy = "-- A node.\nnode noisy(x) -> (y)\n  y = x + normal([1], 0.0, 1.0)[0];\n"
        (self.folder / "lib" / "m.rml").write_text(noisy)
        (self.folder / "m.rml").write_text('import "lib/m.rml";\nnode main(x: f64) -> (y: f64)\n  y = noisy(x);\n')
        done = subprocess.run([RMLC, "build", "m.rml", "--emit", "lib", "--lanes"], cwd=self.folder,
                              capture_output=True, text=True)  # fmt: skip
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("lib/m.rml:3:3", done.stderr)
        self.assertIn("3 |   y = x + normal", done.stderr)


if __name__ == "__main__":
    unittest.main()
