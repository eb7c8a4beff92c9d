"""NODE_advance, whose outputs remain in the state, must compute the same as NODE_step from the
same state."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

RMLC = sys.argv.pop(1)

# Outputs that are the next values of delays, on the base clock and held on others, and outputs
# that are not.
PROGRAM = """
node hold(c, x) -> (o)
  o = merge c x ((0 fby o) when not c);

node f(a: bool, b: bool, x: i32) -> (count: i32, held: i32, before: i32, sum: i64, odd: bool, ratio: f64)
  count = if a then 0 else (0 fby count) + 1;
  held = hold(b, x when b);
  before = 7 fby held;
  s = merge a ((0 fby x when a) + x when a) (x when not a);
  sum = cast(i64, s) * cast(i64, count);
  odd = (false fby odd) != (x % 2 == 1);
  ratio = cast(f64, x) / 3.0;

node divide(x: i32) -> (y: i32)
  y = (1 fby y) / x;
"""

MAIN = """
#include <stdio.h>
#include <string.h>
#include "f.h"
#include "divide.h"

int main(void) {
  f_state one, other;
  f_init(&one), f_init(&other);
  unsigned seed = 1;
  for (int i = 0; i < 2000; ++i) {
    seed = seed * 1664525u + 1013904223u;
    uint8_t a = seed >> 31, b = seed >> 29 & 1, odd;
    int32_t x = (int32_t)(seed >> 20 & 255), count, held, before;
    int64_t sum;
    double ratio;
    f_step(&one, a, b, x, &count, &held, &before, &sum, &odd, &ratio);
    if (f_get_count(&one) != count || f_get_held(&one) != held || f_get_before(&one) != before ||
        f_get_sum(&one) != sum || f_get_odd(&one) != odd || f_get_ratio(&one) != ratio)
      return printf("cycle %d after a step\\n", i), 1;
    f_advance(&other, a, b, x);
    if (f_get_count(&other) != count || f_get_held(&other) != held || f_get_before(&other) != before ||
        f_get_sum(&other) != sum || f_get_odd(&other) != odd || f_get_ratio(&other) != ratio)
      return printf("cycle %d\\n", i), 1;
    if (i % 3 == 0) { /* either goes on from what the other leaves */
      f_state swapped = one;
      one = other, other = swapped;
    }
  }
  divide_state d;
  memset(&d, 0xa5, sizeof d); /* nothing is read that was not set */
  divide_init(&d);
  if (divide_advance(&d, 1) != 0 || divide_get_y(&d) != 1) return 2;
  if (divide_advance(&d, 0) != 1 || divide_advance(&d, 1) != 1) return 3;
  f_state runs;
  memset(&runs, 0xa5, sizeof runs);
  f_init(&runs);
  if (f_get_sum(&runs) != 0 || f_get_ratio(&runs) != 0.0 || f_get_odd(&runs) != 0) return 4;
  const uint8_t as[3] = {1, 0, 1}, bs[3] = {0, 1, 1};
  const int32_t xs[3] = {3, 4, 9};
  int32_t counts[3], helds[3], befores[3];
  int64_t sums[3];
  uint8_t odds[3];
  double ratios[3];
  for (int n = 3; n >= 0; n -= 3) { /* no cycle changes nothing */
    f_run(&runs, n, as, bs, xs, counts, helds, befores, sums, odds, ratios);
    if (f_get_count(&runs) != counts[2] || f_get_held(&runs) != helds[2] || f_get_before(&runs) != befores[2] ||
        f_get_sum(&runs) != sums[2] || f_get_odd(&runs) != odds[2] || f_get_ratio(&runs) != 3.0)
      return 5;
  }
  return 0;
}
"""


@unittest.skipUnless(shutil.which("cc"), "no C compiler")
class Advance(unittest.TestCase):
    def test_as_step(self):
        for level in ("-O0", "-O2"):
            with self.subTest(level=level), tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                (folder / "p.rml").write_text(PROGRAM)
                (folder / "main.c").write_text(MAIN)
                for node in ("f", "divide"):
                    subprocess.run([RMLC, "build", "p.rml", "--node", node, "--emit", "lib", level], cwd=folder, check=True)
                command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "main.c", "f.o", "divide.o", "-lm"]
                subprocess.run([*command, "-o", "main"], cwd=folder, check=True)
                done = subprocess.run([folder / "main"], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
