"""`rmlc trace` must read and write the same formats as programs.

The rows are worked out by hand: a sum, the sum of the next cycle, and the sum where c is true.
Run by ctest: trace_test.py RMLC."""

import gzip
import json
import pathlib
import subprocess
import sys
import unittest

from in_folder import InFolder

RMLC = pathlib.Path(sys.argv.pop(1))
PROGRAM = """node main(c: bool, x: f64, k: i32 when c) -> (last: f64, odd: f64 when c)
  sum = (0.0 fby sum) + x;
  last = post sum;
  odd = sum when c;
"""
ROWS = "c,x,k\nT,1,3\nF,2.5,\nT,4,5\n"
SHOWN = """c    |   T   F   T
x    |   1 2.5   4
k    |   3   .   5
last | 3.5 7.5   ?
odd  |   1   . 7.5
"""
SHOWN_CSV = "c,x,k,last,odd\ntrue,1,3,3.5,1\nfalse,2.5,,7.5,\ntrue,4,5,,7.5\n"


class Trace(InFolder):
    files = {"m.rml": PROGRAM, "in.csv": ROWS}

    def trace(self, *arguments, **more):
        return subprocess.run([RMLC, "trace", "m.rml", *arguments], cwd=self.folder, capture_output=True, text=True, **more)

    def shown(self, *arguments, **more):
        done = self.trace(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def refused(self, status, *arguments):
        done = self.trace(*arguments)
        self.assertEqual(done.returncode, status, arguments)
        return done.stderr

    def test_every_format_is_read(self):
        self.write("in.jsonl", "".join(json.dumps(row) + "\n" for row in (
            {"c": True, "x": 1, "k": 3}, {"c": False, "x": 2.5, "k": None}, {"c": True, "x": 4, "k": 5})))
        self.write("in.chron", "c | T F T\nx | 1 2.5 4\nk | 3 . 5\n")
        self.write("semicolons.csv", ROWS.replace(",", ";"))
        (self.folder / "in.csv.gz").write_bytes(gzip.compress(ROWS.encode()))
        for name in ("in.csv", "in.jsonl", "in.chron", "in.csv.gz"):
            self.assertEqual(self.shown("--input", name), SHOWN, name)
        self.assertEqual(self.shown("--input", "semicolons.csv", "--delimiter", ";"), SHOWN)
        self.assertEqual(self.shown("--input", "-", input=self.read("in.chron")), SHOWN)

    def test_streams_of_several_files(self):
        self.write("x.jsonl", '{"x":1}\n{"x":2.5}\n{"x":4}\n')
        self.assertEqual(self.shown("--input", "x=x.jsonl", "--input", "in.csv"), SHOWN)

    def test_every_format_is_written(self):
        self.assertEqual(self.shown("--input", "in.csv", "--output", "t.csv"), "")
        self.assertEqual(self.read("t.csv"), SHOWN_CSV)
        self.assertEqual(self.shown("--input", "-", "--format", "csv", input=ROWS), SHOWN_CSV)
        self.shown("--input", "in.csv", "--output", "t.chron.gz", "--output", "x=x.jsonl")
        self.assertEqual(gzip.decompress((self.folder / "t.chron.gz").read_bytes()).decode(),
                         "".join(line + "\n" for line in SHOWN.splitlines() if not line.startswith("x")))
        self.assertEqual(self.read("x.jsonl"), '{"x":1}\n{"x":2.5}\n{"x":4}\n')

    def test_watched_variables_are_shown_once(self):
        self.assertIn("\nsum  |   1 3.5 7.5\nlast ", self.shown("--input", "in.csv", "--watch", "sum"))
        self.assertEqual(self.shown("--input", "in.csv", "--watch", "odd"), SHOWN)

    def test_cycles(self):
        self.assertIn("x    | 1\n", self.shown("--input", "in.csv", "--cycles", "1"))

    def test_a_wrong_row_is_told_with_its_place(self):
        self.write("wrong.csv", "c,x,k\nT,1,3\nF,abc,\n")
        done = self.trace("--input", "wrong.csv")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "wrong.csv:3:3: cycle 1: column 'x': 'abc' is not an f64\n")
        self.assertIn("x    | 1\n", done.stdout)
        self.write("against.csv", "c,x,k\nT,1,3\nF,2,7\n")
        self.assertEqual(self.refused(1, "--input", "against.csv"),
                         "against.csv:3:5: input 'k' is present in cycle 1, against its clock base on c\n")

    def test_wrong_use(self):
        self.assertIn("give their rows with --input FILE", self.refused(1))
        self.assertIn("cannot open 'no.csv'", self.refused(1, "--input", "no.csv"))
        self.assertIn("the node has no input 'y'", self.refused(2, "--input", "y=in.csv"))
        self.assertIn("the node has no output 'z'", self.refused(2, "--input", "in.csv", "--output", "z=z.csv"))
        self.assertIn("is a live stream", self.refused(2, "--input", "tcp://localhost:1?format=csv"))
        self.assertIn("unknown at the end", self.refused(2, "--input", "in.csv", "--output", "last=last.npy"))

    def test_nothing_is_written_over(self):
        self.assertIn("the same file as input", self.refused(2, "--input", "in.csv", "--output", "in.csv"))
        self.assertIn("E0804", self.refused(1, "--input", "in.csv", "--format", "csv", "--output", "m.rml"))
        self.assertEqual((self.read("in.csv"), self.read("m.rml")), (ROWS, PROGRAM))


if __name__ == "__main__":
    unittest.main()
