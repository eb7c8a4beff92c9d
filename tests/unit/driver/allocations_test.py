"""A running program must not allocate memory, however many rows it reads: allocations_test.py
RMLC.

A library that is loaded before the C library counts every call of the allocator.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

RMLC = pathlib.Path(sys.argv.pop(1))
LIB = RMLC.parent.parent / "lib" / "rmlc"

COUNTER = """
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void*, size_t);
extern void *__libc_memalign(size_t, size_t);
static atomic_long calls;
void* malloc(size_t n) { return calls++, __libc_malloc(n); }
void* calloc(size_t n, size_t each) { return calls++, __libc_calloc(n, each); }
void* realloc(void* p, size_t n) { return calls++, __libc_realloc(p, n); }
void* aligned_alloc(size_t alignment, size_t n) { return calls++, __libc_memalign(alignment, n); }
__attribute__((destructor)) static void tell(void) { fprintf(stderr, "calls %ld\\n", (long)calls); }
"""

SEGMENTS = """node main(end: bool, x: f64) -> (centred: f64)
  n = fby_end(end, 0.0, n) + 1.0;
  total = fby_end(end, 0.0, total) + x;
  mean = if end then total / n else post mean;
  centred = x - mean;
"""
STRAIGHT = """node main(end: bool, x: f64) -> (y: f64, late: f64 when not end)
  y = 0.0 fby 0.5 * y + x;
  late = y when not end;
"""
ON_DEMAND = """node main(end: bool, x: f64) -> (y: f64)
  y = x + (if end then 0.0 else post (post y));
"""


@unittest.skipUnless(shutil.which("c++"), "no C++ compiler")
class Allocations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        (cls.folder / "count.c").write_text(COUNTER)
        cls.command("cc", "-shared", "-fPIC", "-O1", "-o", "count.so", "count.c")
        for rows in (5_000, 50_000):
            lines = (f"{'true' if k % 7 == 6 else 'false'},{k % 13}\n" for k in range(rows))
            (cls.folder / f"{rows}.csv").write_text("end,x\n" + "".join(lines))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def command(cls, *words, **more):
        done = subprocess.run(words, cwd=cls.folder, capture_output=True, text=True, **more)
        assert done.returncode == 0, done.stderr
        return done

    def calls(self, rows, *options):
        done = self.command("./program", "--input", f"{rows}.csv", "--output", "out.csv", *options,
                            env={"LD_PRELOAD": str(self.folder / "count.so")})
        return int(done.stderr.split("calls ")[1])

    def check(self, source, *options, run=()):
        (self.folder / "p.rml").write_text(source)
        self.command(RMLC, "build", "p.rml", "--emit", "obj", "-o", "p.o", *options)
        self.command("c++", "p.o", LIB / "librmlrt.a", "-lz", "-pthread", "-o", "program")
        few, many = self.calls(5_000, *run), self.calls(50_000, *run)
        self.assertGreater(few, 100)
        self.assertLess(many, few + 100, "of ten times as many rows")

    def test_a_straight_program(self):
        self.check(STRAIGHT)

    def test_segments(self):
        self.check(SEGMENTS)

    def test_a_network(self):
        self.check(SEGMENTS, "--parallel", run=("--workers", "2"))

    def test_on_demand(self):
        self.check(ON_DEMAND)

    def test_keys(self):
        rows = (self.folder / "5000.csv").read_text().splitlines()
        for name, times in (("keys_few", 1), ("keys_many", 10)):
            body = [f"{line},{k % 20}" for k, line in enumerate(rows[1:] * times)]
            (self.folder / f"{name}.csv").write_text("\n".join(["end,x,key"] + body) + "\n")
        (self.folder / "p.rml").write_text(STRAIGHT)
        self.command(RMLC, "build", "p.rml", "--emit", "obj", "-o", "p.o")
        self.command("c++", "p.o", LIB / "librmlrt.a", "-lz", "-pthread", "-o", "program")
        few, many = self.calls("keys_few", "--key", "key"), self.calls("keys_many", "--key", "key")
        self.assertLess(many, few + 100)


if __name__ == "__main__":
    unittest.main()
