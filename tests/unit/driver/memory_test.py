"""The memory in `rmlc show schedule` must be the memory that a run allocates: memory_test.py
RMLC."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

RMLC = sys.argv.pop(1)
MATRIX = 64 * 64 * 4  # bytes of the matrix

CHAIN = """node main(x: f32[64, 64]) -> (y: f32)
  y = sum(%s);
"""

# Parts of a memory are read in place; outputs are computed in the caller's memory.
PARTS = """node main(k: i32) -> (y: f32[64, 64], w: f32[64])
  all = zeros([3, 64, 64]) fby all + 1.0;
  w = ones([64]);
  y = all[k] * 2.0;
"""

SEGMENTS = """node main(x: f64[10], end: bool) -> (y: f64[10])
  sum = if true fby end then x else (zeros([10]) fby sum) + x;
  y = if end then sum else post y;
"""

# Few rows of a table are trained at a time, so there is no gradient for the whole table.
TABLE = """import nn;
import optim;

node model(i: i32[4]) -> (l)
  l = mean(nn.embedding_rows(1000, 16, i));

node main(i: i32[4]) -> (l: f32)
  l = diff[optim.sgd(0.1)] model(i, true, 1.0);
"""


def run(*arguments, stdin=""):
    done = subprocess.run([RMLC, *map(str, arguments)], capture_output=True, text=True, timeout=120, input=stdin)
    assert done.returncode == 0, done.stderr
    return done


class Memory(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.place.name) / "main.rml"

    def tearDown(self):
        self.place.cleanup()

    def shown(self, text):
        self.file.write_text(text)
        out = run("show", "schedule", self.file).stdout
        return [int(n) for n in re.search(r"^memory: (\d+) .*?(\d+) kept.*?(\d+) for values", out, re.M).groups()], out

    def test_what_is_needed_at_different_times_lies_in_one_place(self):
        product = "x"
        for _ in range(12):
            product = f"tanh(matmul({product}, x))"
        (state, kept, scratch), _ = self.shown(CHAIN % product)
        self.assertGreater(scratch, 2 * MATRIX)
        self.assertLess(scratch, 4 * MATRIX)
        self.assertGreaterEqual(state, kept + scratch)

    def test_what_is_needed_at_the_same_time_does_not(self):
        terms = [f"matmul(tanh(x * {k}.0), x)" for k in range(1, 6)]
        chosen = " + ".join(f"sum({t}) * matmul({u}, {t})" for t, u in zip(terms, terms[1:]))
        (_, _, scratch), _ = self.shown(CHAIN % f"({chosen})")
        self.assertGreater(scratch, 5 * MATRIX)

    def test_parts_and_outputs_are_not_copied(self):
        (_, kept, scratch), _ = self.shown(PARTS)
        self.assertGreaterEqual(kept, 4 * MATRIX)
        self.assertLess(kept, 4 * MATRIX + 1024)
        self.assertEqual(scratch, 0)

    def test_a_table_of_which_few_rows_learn_is_there_once(self):
        (_, kept, scratch), _ = self.shown(TABLE)
        self.assertLess(kept, 1.1 * 1000 * 16 * 4)
        self.assertLess(scratch, 1.1 * 1000 * 16 * 4)  # the scratch memory is that of the table, which is drawn in the
                                                       # first cycle

    def test_a_run_allocates_it(self):
        (state, _, _), out = self.shown(SEGMENTS)
        instant = int(re.search(r"unit \d+: (\d+) bytes for each instant", out).group(1))
        self.assertGreaterEqual(instant, 80)
        rows = ["end," + ",".join(f"x[{k}]" for k in range(10))]
        for k in range(1000):
            rows.append(("true" if k % 100 == 99 else "false") + ",1" * 10)
        stats = run("run", self.file, "--stats", "--input", "-", stdin="\n".join(rows) + "\n").stderr
        self.assertEqual(int(re.search(r"^state +(\d+) bytes", stats, re.M).group(1)), state)
        buffers = int(re.search(r"^buffers +(\d+) bytes", stats, re.M).group(1))
        self.assertGreaterEqual(buffers, 100 * instant)


unittest.main()
