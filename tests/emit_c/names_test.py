"""Ports, memories and external nodes with names that C or C++ use otherwise: the output of
`--emit lib` and `--emit c` must compile."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

RMLC = str(pathlib.Path(sys.argv[1]).resolve())
# Keywords, macros, types, names in the generated functions, and derived names: `n_` for `n`,
# `x_present` for x's flag.
NAMES = ["int", "nullptr", "requires", "not_eq", "errno", "NULL", "I", "complex", "linux", "int32_t", "uint8_t", "INT32_MAX",
         "INFINITY", "NAME", "FILENAME", "n", "n_", "n__", "state", "groups", "k_", "states_", "fault_", "now_", "x_present",
         "main_step", "main_state", "fail", "memcpy", "exp", "constant", "zeros", "table", "least", "position", "rows_ready",
         "unit_1", "unit_1_2_ready", "unit_2_segment", "push_queue_x", "main_push", "main_pop",
         "main_H", "main_ABI", "main_LAYOUT", "main_INIT_SYMBOL", "main_LANES", "main_GROUPS", "main_BYTES", "main_SEGMENT",
         "FP_NAN", "FP_ZERO", "HUGE_VAL", "HUGE_VALF", "MATH_ERRNO", "WCHAR_MAX", "UINTPTR_MAX", "INT_FAST8_MAX", "M_PI",
         "M_PI_2", "M_SQRT2", "BUFSIZ", "RAND_MAX", "CHAR_BIT", "SIGBUS", "SIG_ATOMIC_MAX", "ERANGE", "EDOM", "LC_ALL", "FE_ALL_EXCEPT",
         "PRId64", "SCNxPTR", "FLT_DIG", "EXIT_FAILURE", "SEEK_SET", "WEOF", "CLOCKS_PER_SEC", "L_tmpnam", "math_errhandling",
         "DECIMAL_DIG", "ULLONG_MAX", "int_least8_t",
         "_Generic", "_Atomic", "_Alignas", "_Noreturn", "_Static_assert", "_Thread_local", "_Bool", "_Float128", "__x86_64__",
         "__int128", "__func__", "__cplusplus", "__attribute__", "__LP64__", "_A", "__a"]  # fmt: skip
INPUTS = ", ".join(f"{name}: i32" for name in NAMES)
STEP = f"""node main({INPUTS}, c: bool, x: i32 when c) -> (double: i32, volatile: i32 when c)
  double = ({' + '.join(NAMES)}) / (0 fby double + 3);
  volatile = x;
"""
# Names of outputs, which are also parameters of NODE_pop.
OUTPUTS = """node main(c: bool, x: f32) -> (rows_ready: f32, unit_1: f32, fail: f32, least: f32 when c)
  rows_ready = backfill(x, c);
  unit_1 = 2.0 * rows_ready;
  fail = sum(concat([x], [1.0, 2.0, 3.0]));
  least = x when c;
"""
# Variables that the state stores.
MEMORIES = f"""node main(zz: i32) -> (o: i32)
{"".join(f"  {name} = 0 fby {name} + zz;{chr(10)}" for name in NAMES)}  o = {' + '.join(NAMES)};
"""
STILL = "node main(x: f32) -> (y: f32)\n  y = 2.0 * x;\n"
# The header quotes the equation of a memory, including comments of the program.
COMMENTED = "node main(x: f32) -> (y: f32)\n  y = 0.0 fby (* x*/2, /* *) y + x;\n"
# Characters that change the order of the text, in a comment of the header and in the text of an assertion.
TURNED = "\u202e\u2066\u2069\u202c"
ORDERED = f"""node main(x: f32) -> (y: f32)
  assert x > 0.0, "more than 0 {TURNED}1, € \u061c";
  y = 0.0 fby (* y {TURNED} *) y + x;
"""
PRINTS = """#include <stdio.h>
#include "p.h"
int main(void) {
  static main_state state;
  float y;
  main_init(&state);
  main_step(&state, 0.0f, &y);
  puts(main_message(&state));
  return 0;
}
"""
EXTERNALS = ["order", "state", "position", "last", "k_", "n", "part", "length", "i", "t", "unit_1", "unit_2_ready",
             "table"]  # fmt: skip
DECLARED = "".join(f"node {name}(x: f64) -> (y: f64)\n" for name in EXTERNALS)
# A function with the name of a port, of an output, of a variable, and of a name that every
# function contains.
SAME = [
    DECLARED + "node main(order: f64, c: bool) -> (part: f64)\n  k_ = order(order);\n"
    "  part = part(" + " + ".join(f"{name}(order)" for name in EXTERNALS) + ") + (0.0 fby part) + k_;\n",
    DECLARED + "node main(state: f64, c: bool) -> (last: f64)\n  order = order(backfill(state, c));\n"
    "  last = order + " + " + ".join(f"{name}(order)" for name in EXTERNALS) + ";\n",
]
WAITS = STEP.replace("volatile = x", "volatile = x + (backfill(state, c) when c)")
HEADERS = ["complex", "errno", "fenv", "float", "inttypes", "limits", "locale", "math", "setjmp", "signal", "stddef", "stdint",
           "stdio", "stdlib", "time", "wchar", "wctype"]  # fmt: skip
BEFORE = "".join(f"#include <{header}.h>\n" for header in HEADERS)
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
            later = [word for node in re.findall(r"^node (\w+)\(x: f64\) -> \(y: f64\)$", program, re.M)
                     for word in ("--external", node)]
            subprocess.run([RMLC, "build", "p.rml", "--emit", emit, "-o", output, *later, *options], cwd=folder, check=True)
            for suffix in ["c", "cc"]:
                (folder / f"alone.{suffix}").write_text('#include "p.h"\n')
                (folder / f"behind.{suffix}").write_text((BEFORE if suffix == "c" else "") + '#include "p.h"\n')
            self.compile(folder, "gcc", "-std=gnu99", "behind.c")
            self.compile(folder, "gcc", "-std=c99", "alone.c")
            self.compile(folder, "gcc", "-std=gnu17", "alone.c")
            self.compile(folder, "g++", "-std=c++20", "alone.cc")
            if emit == "c":
                self.compile(folder, "gcc", "-std=c99", "p.c")

    def test_steps(self):
        self.check(STEP, "c")
        self.check(STEP, "lib", "--lanes")

    def test_memories(self):
        self.check(MEMORIES, "c")
        self.check(MEMORIES, "lib", "--lanes")

    def test_a_group_that_keeps_nothing(self):
        self.check(STILL, "lib", "--lanes")

    def test_comments_of_the_program(self):
        self.check(COMMENTED, "c")

    def test_order_of_the_text(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "p.rml").write_text(ORDERED, encoding="utf-8")
            for emit, output in (("lib", "p.o"), ("c", "p.c")):
                command = [RMLC, "build", "p.rml", "--emit", emit, "-o", output]
                done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
                self.assertEqual(done.stderr.count("warning[W0101]"), 2)
                for written in folder.glob("p.[ch]"):
                    text = written.read_text(encoding="utf-8")
                    self.assertNotRegex(text, f"[{TURNED}\u061c]")
                    self.assertIn("y", text)
            (folder / "prints.c").write_text(PRINTS)
            self.compile(folder, "gcc", "-std=c99", "p.c")
            subprocess.run(["gcc", "-o", "prints", "prints.c", "p.c"], cwd=folder, check=True)
            said = subprocess.run([folder / "prints"], capture_output=True, check=True).stdout.decode()
            self.assertIn(f"more than 0 {TURNED}1, € \u061c", said)

    def test_external_nodes(self):
        for program in SAME:
            with self.subTest(program=program):
                self.check(program, "c")

    def test_rows_that_wait(self):
        for program in [WAITS, OUTPUTS]:
            self.check(program, "c")
            self.check(program, "lib")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
