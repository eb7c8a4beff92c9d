"""Ports by names that C and C++ have for something else: headers of `--emit lib` and of `--emit c` compile."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

RMLC = str(pathlib.Path(sys.argv[1]).resolve())
# Keywords, macros, types, what the functions call their own, and what names become: `n_` of `n`, `x_present` of x's flag.
NAMES = ["int", "nullptr", "requires", "not_eq", "errno", "NULL", "I", "complex", "linux", "int32_t", "uint8_t", "INT32_MAX",
         "INFINITY", "NAME", "FILENAME", "n", "n_", "n__", "state", "groups", "k_", "states_", "fault_", "now_", "x_present",
         "main_step", "main_state", "fail", "memcpy", "exp", "constant", "zeros", "table", "least", "position", "rows_ready",
         "unit_1", "unit_1_2_ready", "unit_2_segment", "push_queue_x", "main_push", "main_pop"]  # fmt: skip
INPUTS = ", ".join(f"{name}: i32" for name in NAMES)
STEP = f"""node main({INPUTS}, c: bool, x: i32 when c) -> (double: i32, volatile: i32 when c)
  double = ({' + '.join(NAMES)}) / (0 fby double + 3);
  volatile = x;
"""
# Names of outputs as well, which are those of NODE_pop.
OUTPUTS = """node main(c: bool, x: f32) -> (rows_ready: f32, unit_1: f32, fail: f32, least: f32 when c)
  rows_ready = backfill(x, c);
  unit_1 = 2.0 * rows_ready;
  fail = sum(concat([x], [1.0, 2.0, 3.0]));
  least = x when c;
"""
WAITS = STEP.replace("volatile = x", "volatile = x + (backfill(state, c) when c)")
BEFORE = "#include <complex.h>\n#include <errno.h>\n#include <limits.h>\n#include <math.h>\n#include <stdio.h>\n"
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-ffp-contract=off"]


class Names(unittest.TestCase):
    def compile(self, folder, *command):
        done = subprocess.run([*command, *WARNINGS, "-c", "-o", "o.o"], cwd=folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def check(self, program, emit, *options):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "p.rml").write_text(program)
            output = "p.c" if emit == "c" else "p.o"
            subprocess.run([RMLC, "build", "p.rml", "--emit", emit, "-o", output, *options], cwd=folder, check=True)
            for suffix in ["c", "cc"]:
                (folder / f"alone.{suffix}").write_text('#include "p.h"\n')
                (folder / f"behind.{suffix}").write_text((BEFORE if suffix == "c" else "") + '#include "p.h"\n')
            self.compile(folder, "gcc", "-std=gnu99", "behind.c")
            self.compile(folder, "gcc", "-std=c99", "alone.c")
            self.compile(folder, "g++", "-std=c++20", "alone.cc")
            if emit == "c":
                self.compile(folder, "gcc", "-std=c99", "p.c")

    def test_steps(self):
        self.check(STEP, "c")
        self.check(STEP, "lib", "--lanes")

    def test_rows_that_wait(self):
        for program in [WAITS, OUTPUTS]:
            self.check(program, "c")
            self.check(program, "lib")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
