"""NODE_lead must return before a cycle the outputs of NODE_step in that cycle, without
changing the state."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

RMLC, RUNTIME = sys.argv.pop(1), sys.argv.pop(1)  # RUNTIME is the library that draws random numbers

PROGRAM = """
node f(u: f64, r: bool) -> (y: f64, on: bool, z: f64[3] when on, w: f64, drawn: f64)
  on = false fby not on;
  h = [1.0, 2.0, 3.0] fby 0.5 * h + u;
  y = if on then sum(h) else 0.0;
  z = h when on;
  w = if r then y else u;
  drawn = uniform([]) + param(0.25);

node bare(u: i32) -> (y: i32, now: i32)
  y = 7 fby u;
  now = u + y;

node divide(k: i32) -> (y: i32)
  d = 2 fby k;
  y = 12 / d;

node none(u: i32) -> (y: i32)
  y = u;
"""

MAIN = """
#include <stdio.h>
#include <string.h>
#include "f.h"
#include "bare.h"
#include "divide.h"

int main(void) {
  static f_state one, before;
  memset(&one, 0xa5, sizeof one); /* nothing is read that was not set */
  f_init(&one), f_seed(&one, 3);
  for (int i = 0; i < 200; ++i) {
    double y, z[3], w, drawn, early_y, early_z[3] = {0}, early_drawn;
    uint8_t on, z_present, early_on, early_present;
    before = one;
    for (int twice = 0; twice < 2; ++twice) f_lead(&one, &early_y, &early_on, &early_present, early_z, &early_drawn);
    if (i % 2) one = before; /* which it does not change */
    f_step(&one, 0.25 * i, i % 3 == 0, &y, &on, &z_present, z, &w, &drawn);
    if (early_y != y || early_on != on || early_present != z_present || early_drawn != drawn ||
        (on && memcmp(z, early_z, sizeof z) != 0))
      return printf("cycle %d\\n", i), 1;
  }
  bare_state b;
  int32_t y, now, early;
  bare_init(&b);
  bare_lead(&b, &early);
  if (early != 7) return 2;
  bare_step(&b, 5, &y, &now);
  bare_lead(&b, &early);
  if (y != 7 || now != 12 || early != 5) return 3;
  divide_state d;
  divide_init(&d);
  if (divide_lead(&d, &y) != 0 || y != 6 || divide_step(&d, 0, &y) != 0 || y != 6) return 4;
  if (divide_lead(&d, &y) != 1 || divide_step(&d, 1, &y) != 1) return 5; /* a fault stays */
  return 0;
}
"""


@unittest.skipUnless(shutil.which("cc"), "no C compiler")
class Lead(unittest.TestCase):
    def test_as_step(self):
        for level in ("-O0", "-O2", "-O3"):
            with self.subTest(level=level), tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                (folder / "p.rml").write_text(PROGRAM)
                (folder / "main.c").write_text(MAIN)
                for node in ("f", "bare", "divide", "none"):
                    subprocess.run([RMLC, "build", "p.rml", "--node", node, "--emit", "lib", level, "--strict-math"],
                                   cwd=folder, check=True)
                self.assertNotIn("_lead", (folder / "none.h").read_text())
                command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "main.c", "f.o", "bare.o", "divide.o", RUNTIME,
                           "-lm"]
                subprocess.run([*command, "-o", "main"], cwd=folder, check=True)
                done = subprocess.run([folder / "main"], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
