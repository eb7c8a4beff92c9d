"""A caller that was compiled with the header of another object is refused, and the right pair
works: stamp_test.py RMLC."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

RMLC = sys.argv.pop(1)

STEP = "node f(u: i32, v: i32) -> (y: i32)\n  y = (7 fby u) + v;\n"
# Differences that a caller cannot detect from the name alone.
OTHER_STEPS = {
    "a state that has grown": "node f(u: i32, v: i32) -> (y: i32)\n  y = (7 fby u) + (0 fby 0 fby 0 fby v);\n",
    "a type of an input": "node f(u: i32, v: f32) -> (y: i32)\n  y = (7 fby u) + cast(i32, v);\n",
    "inputs that changed places": "node f(v: i32, u: i32) -> (y: i32)\n  y = (7 fby u) + v;\n",
    "an output more": "node f(u: i32, v: i32) -> (y: i32, z: i32)\n  y = (7 fby u) + v;\n  z = u;\n",
    "a clock of an input": "node f(u: bool, v: i32 when u) -> (y: i32)\n  y = 7 fby merge u v (0 when not u);\n",
    "a fault that a cycle can end in": "node f(u: i32, v: i32) -> (y: i32)\n  y = (7 fby u) / v;\n",
    "variables that changed places": "node f(u: i32, v: i32) -> (y: i32)\n  y = u + (7 fby v);\n",
}
CENTER = "node f(end: bool, x: f64) -> (y: f64)\n  y = x - backfill((fby_end(end, 0.0, s)) + x, end);\n  s = fby_end(end, 0.0, s) + x;\n"
OTHER_CENTERS = {
    "a state that has grown": CENTER.replace("x - ", "x - (0.5 fby x) - "),
    "a type of an input": CENTER.replace("f64", "f32"),
    "segments no more": "node f(end: bool, x: f64) -> (y: f64)\n  y = if end then x else 0.0;\n",
}

STEP_MAIN = """
#include <stdio.h>
#include "f.h"
int main(void) {
  static f_state state;
  int32_t y;
  f_init(&state);
  f_step(&state, 1, 2, &y);
  printf("%d\\n", (int)y);
  return 0;
}
"""
CENTER_MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "f.h"
int main(void) {
  static f_state state;
  double y;
  void* memory = malloc(f_BYTES(4));
  if (f_init(&state, memory, 1) != 6) return 3;
  if (f_init(&state, memory, f_BYTES(4)) != 0) return 4;
  f_push(&state, 0, 1.0);
  f_push(&state, 1, 2.0);
  while (f_pop(&state, &y) == 1) printf("%g\\n", y);
  free(memory);
  return 0;
}
"""
LOADER = """
#include <dlfcn.h>
#include <stdio.h>
#include "f.h"
int main(int argc, char** argv) {
  void* library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (library == NULL) return 3;
  puts(dlsym(library, f_INIT_SYMBOL) == NULL ? "refused" : "found");
  return dlsym(library, "f_init") == NULL;
}
"""


@unittest.skipUnless(shutil.which("cc") and shutil.which("c++"), "no C and C++ compilers")
class Stamp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_in(self, *command, status=0):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        return done

    def library(self, source, *options):
        """Makes the library, as f.o and f.h."""
        (self.folder / "p.rml").write_text(source)
        self.run_in(RMLC, "build", "p.rml", "--node", "f", "--emit", "lib", *options)

    def caller(self, text, compiler=("cc", "-std=c99")):
        """Makes main.o with the existing header."""
        name = "main.cc" if compiler[0] == "c++" else "main.c"
        (self.folder / name).write_text(text)
        self.run_in(*compiler, "-Wall", "-Wextra", "-Werror", "-c", name, "-o", "main.o")

    def stamp(self):
        text = (self.folder / "f.h").read_text()
        return re.search(r"#define f_ABI (\d+)\n#define f_LAYOUT UINT64_C\(0x([0-9a-f]{16})\)\n", text).groups()

    def hold_pairs(self, source, others, main, rows):
        for compiler in (("cc", "-std=c99"), ("c++", "-std=c++11")):
            self.library(source)
            right = self.stamp()
            self.caller(main, compiler)
            self.run_in("cc", "main.o", "f.o", "-lm", "-o", "main")
            self.assertEqual(self.run_in("./main").stdout, rows)
            # The same source has the same stamp, also with other options if these keep the state.
            self.library(source + "-- A remark.\n")
            self.assertEqual(self.stamp(), right)
            self.run_in("cc", "main.o", "f.o", "-lm", "-o", "main")
            for what, other in others.items():
                with self.subTest(what, compiler=compiler[0]):
                    self.library(other)
                    self.assertNotEqual(self.stamp(), right)
                    done = self.run_in("cc", "main.o", "f.o", "-lm", "-o", "main", status=None)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn(f"f_init_abi{right[0]}_layout_{right[1]}", done.stderr)

    def test_steps(self):
        self.hold_pairs(STEP, OTHER_STEPS, STEP_MAIN, "9\n")

    def test_segments(self):
        self.hold_pairs(CENTER, OTHER_CENTERS, CENTER_MAIN, "-2\n-1\n")

    def test_shared_library(self):
        self.library(STEP)
        self.caller(STEP_MAIN)
        (self.folder / "load.c").write_text(LOADER)
        self.run_in("cc", "load.c", "-ldl", "-o", "load")
        shared = ("cc", "-shared", "f.o", "-lm", "-o", "libf.so")
        self.run_in(*shared)
        self.run_in("cc", "main.o", "-L.", "-lf", "-Wl,-rpath,$ORIGIN", "-o", "main")
        self.assertEqual(self.run_in("./main").stdout, "9\n")
        self.assertEqual(self.run_in("./load", "./libf.so").stdout, "found\n")
        stamp = "f_init_abi{}_layout_{}".format(*self.stamp())
        self.library(OTHER_STEPS["a state that has grown"])
        self.run_in(*shared)
        done = self.run_in("./main", status=127)
        self.assertEqual(done.stdout, "")
        self.assertIn(stamp, done.stderr)
        self.assertEqual(self.run_in("./load", "./libf.so").stdout, "refused\n")

    def test_header_alone(self):
        for source in (STEP, CENTER):
            for options in ([], ["-O0"], ["-O3", "--threads", "4"], ["--target", "aarch64-linux-gnu"]):
                with self.subTest(source=source, options=options):
                    self.library(source, *options)
                    right = self.stamp()
                    self.run_in(RMLC, "build", "p.rml", "--node", "f", "--emit", "header", "-o", "alone.h", *options)
                    self.assertEqual((self.folder / "alone.h").read_text(), (self.folder / "f.h").read_text())
                    self.assertIn(f"f_init_abi{right[0]}_layout_{right[1]}".encode(), (self.folder / "f.o").read_bytes())


if __name__ == "__main__":
    unittest.main()
