"""Programs whose statements are compiled in parts give the same rows, with --strict-math to
the bit: parts_test.py RMLC.

Parts of one statement and of a few, and nested parts; in segments, in threads, with faults, in
a C library."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

RMLC = sys.argv.pop(1)
TESTS = pathlib.Path(__file__).resolve().parents[2]
BATCHED, WIDE = TESTS / "batching" / "batched.rml", TESTS / "threads" / "wide.rml"

# Scalars, small and large tensors that cross parts, on nested clocks; a fault deep inside at
# cycle 40.
NESTED = """
node inner(x: f32, k: i32) -> (y: f32, t: f32[3])
  a = 0.0 fby a * 0.5 + x;
  b = if a > x then a else x - 1.0;
  p = 0.0 fby a;
  third = k % 3 == 0;
  c = merge third (p when third) (b when not third);
  t = [a, b, c] * [1.0, 2.0, 3.0];
  y = a + b * c;

node main() -> (sum: f32, m: f32[40], last: f32, quotient: i32)
  k = 0 fby k + 1;
  x = cast(f32, k % 7) * 0.25;
  on = k % 2 == 0;
  y, t = inner(x when on, k when on);
  held = merge on y ((0.0 fby held) when not on);
  s = merge on t (([0.0, 0.0, 0.0] fby s) when not on);
  m = (0.0 fby m * 0.5 + held) * cast(f32, iota(40)) + sum(s);
  sum = sum(m);
  last = m[39];
  quotient = 100 / (k - 40);
"""

C_PROGRAM = """
node f(a: bool, x: f32, v: f32[20]) -> (y: f32, w: f32[20])
  c = 0.0 fby (if a then 0.0 else c + x);
  d = c * 2.0 + x;
  w = 0.0 fby w * 0.5 + v * d;
  y = d - sum(w);
"""

C_MAIN = """
#include <stdio.h>
#include "f.h"
enum { N = 50 };
int main(void) {
  static uint8_t a[N];
  static float x[N], v[N][20], y[N], w[N][20];
  for (int i = 0; i < N; ++i) {
    a[i] = i % 9 == 0, x[i] = 0.25f * (float)(i % 11);
    for (int k = 0; k < 20; ++k) v[i][k] = 0.125f * (float)((i + k) % 5);
  }
  f_state all, each;
  f_init(&all), f_init(&each);
  f_run(&all, N, a, x, &v[0][0], y, &w[0][0]);
  for (int i = 0; i < N; ++i) {
    float one, row[20];
    f_step(&each, a[i], x[i], v[i], &one, row);
    if (one != y[i] || row[7] != w[i][7]) return printf("cycle %d\\n", i), 1;
    printf("%a %a\\n", (double)one, (double)row[19]);
  }
  return 0;
}
"""


def run(command, folder=None):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=folder, check=False)
    return done.returncode, done.stdout, done.stderr


class Parts(unittest.TestCase):
    def compare(self, *command, status=0):
        command = [*command, "--strict-math"]
        whole = run([RMLC, "run", *command])
        self.assertEqual(whole[0], status, whole[2])
        self.assertGreater(len(whole[1].split("\n")), 3)
        for part in (1, 2, 5):
            with self.subTest(command=command, part=part):
                self.assertEqual(run([RMLC, "run", *command, "--part", part]), whole)

    def test_nested(self):
        with tempfile.TemporaryDirectory() as name:
            program = pathlib.Path(name) / "nested.rml"
            program.write_text(NESTED)
            for level in ("-O0", "-O2"):
                self.compare(program, level, "--cycles", 40)
                self.compare(program, level, "--cycles", 60, status=1)

    def test_segments(self):
        for node in ("lstm", "samples", "deep"):
            for options in ([], ["--chunk", "segment"]):
                self.compare(BATCHED, "--node", node, "--cycles", 300, *options)

    def test_threads(self):
        for node in ("mlp", "rows"):
            self.compare(WIDE, "--node", node, "--cycles", 3, "--threads", 3, "--work-of-thread", 0)

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_library(self):
        outputs = []
        for options in ([], ["--part", "1"], ["--part", "3"], ["--part", "1", "-O0"]):
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                (folder / "p.rml").write_text(C_PROGRAM)
                (folder / "main.c").write_text(C_MAIN)
                built = run([RMLC, "build", "p.rml", "--node", "f", "--emit", "lib", "--strict-math", *options], folder)
                self.assertEqual(built[0], 0, built[2])
                built = run(["cc", "-std=c99", "main.c", "f.o", "-lm", "-o", "main"], folder)
                self.assertEqual(built[0], 0, built[2])
                outputs.append(run([folder / "main"]))
        self.assertEqual(outputs[0][0], 0)
        for other in outputs[1:]:
            self.assertEqual(other, outputs[0])


if __name__ == "__main__":
    unittest.main()
