"""--keep: input columns that are written with the rows of the output, read and compared by
Python's csv.

The means of the program wait for the end of a batch, so rows are written late, and the last
ones never. Run by ctest: keep_test.py RMLC."""

import csv
import pathlib
import random
import signal
import subprocess
import sys
import time
import unittest

from in_folder import InFolder

RMLC = pathlib.Path(sys.argv.pop(1))
PROGRAM = """node main(end: bool, x: f64) -> (mean: f64, b: bool, big: f64 when b)
  sum = fby_end(end, 0.0, sum) + x;
  count = fby_end(end, 0.0, count) + 1.0;
  mean = backfill(sum / count, end);
  b = x > 1.5;
  big = x when b;
"""
WEEK = "day,end,x\nmo,F,1\ntu,T,2\nwe,F,3\nth,F,4\n"
REST = "day,end,x\nfr,F,5\nsa,T,6\n"
BEGUN = "day,mean,b,big\nmo,1.5,false,\ntu,1.5,true,2\n"
GONE_ON = "we,4.5,true,3\nth,4.5,true,4\nfr,4.5,true,5\nsa,4.5,true,6\n"


class Keep(InFolder):
    files = {"late.rml": PROGRAM, "week.csv": WEEK, "rest.csv": REST}

    def run_it(self, *arguments, command=(RMLC, "run", "late.rml"), **more):
        return subprocess.run([*command, *arguments, "--quiet"], cwd=self.folder, capture_output=True, text=True, **more)

    def rows(self, *arguments, **more):
        done = self.run_it(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def refused(self, status, *arguments):
        done = self.run_it(*arguments)
        self.assertEqual(done.returncode, status, arguments)
        return done.stderr

    def test_cells_leave_with_their_rows(self):
        self.assertEqual(self.rows("--input", "week.csv", "--keep", "day"), BEGUN)
        self.assertEqual(self.rows("--input", "week.csv", "--keep", "x", "--keep", "day"),
                         "x,day,mean,b,big\n1,mo,1.5,false,\n2,tu,1.5,true,2\n")
        self.assertEqual(self.rows("--input", "week.csv", "--keep", "day", "--engine", "reference"), BEGUN)

    def test_built_programs(self):
        subprocess.run([RMLC, "build", "late.rml", "-o", "late"], cwd=self.folder, check=True)
        self.assertEqual(self.rows("--input", "week.csv", "--keep", "day", command=("./late",)), BEGUN)

    def test_networks(self):
        subprocess.run([RMLC, "build", "late.rml", "-o", "late", "--parallel", "--grain", "op"], cwd=self.folder, check=True)
        self.assertEqual(self.rows("--input", "week.csv", "--keep", "day", "--save", "s", command=("./late",)), BEGUN)
        self.assertEqual(self.rows("--input", "rest.csv", "--keep", "day", "--load", "s", command=("./late",)),
                         "day,mean,b,big\n" + GONE_ON)

    def test_whatever_the_cells_hold(self):
        texts = ["", " a ", "a,b", 'say "no"', '"', "two\nlines", "cr\r\nlf", "é", "NA", "'", ";", "-1.50", "=1+1"]
        with open(self.folder / "odd.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["a, b", "end", "x"])
            for k, text in enumerate(texts):
                writer.writerow([text, "T", k])
        self.rows("--input", "odd.csv", "--keep", "a, b", "--output", "out.csv")
        with open(self.folder / "out.csv", newline="") as file:
            rows = list(csv.reader(file))
        self.assertEqual(rows[0], ["a, b", "mean", "b", "big"])
        self.assertEqual([row[0] for row in rows[1:]], texts)
        self.assertEqual([float(row[1]) for row in rows[1:]], [float(k) for k in range(len(texts))])

    def test_other_delimiters(self):
        self.assertEqual(self.rows("--delimiter", ";", "--keep", "Order ID", input="Order ID;end;x\n1,5;T;2\n"),
                         'Order ID,mean,b,big\n"1,5",2,true,2\n')

    def test_a_column_without_a_name(self):
        self.assertEqual(self.rows("--keep", "", "--keep", "day", input=",day,end,x\n0,mo,T,2\n"),
                         ",day,mean,b,big\n0,mo,2,true,2\n")

    def test_several_files(self):
        self.write("end.csv", "day,end\nmo,F\ntu,T\n")
        self.write("x.csv", "x\n1\n2\n")
        self.rows("--input", "end=end.csv", "--input", "x=x.csv", "--keep", "day", "--output", "mean=m.csv", "--output",
                  "rest_of_it.csv")
        self.assertEqual(self.read("m.csv"), "day,mean\nmo,1.5\ntu,1.5\n")
        self.assertEqual(self.read("rest_of_it.csv"), "day,b,big\nmo,false,\ntu,true,2\n")

    def test_threads_and_long_segments(self):
        generator = random.Random(7)
        lengths = [generator.choice((1, 2, 3000)) for _ in range(60)]
        with open(self.folder / "many.csv", "w", encoding="ascii") as file:
            file.write("id,end,x\n")
            row = 0
            for length in lengths:
                for k in range(length):
                    file.write(f"r{row},{'T' if k == length - 1 else 'F'},{row}\n")
                    row += 1
        self.rows("--input", "many.csv", "--keep", "id", "--output", "out.csv")
        with open(self.folder / "out.csv", newline="", encoding="ascii") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), sum(lengths))
        first = 0
        for length in lengths:
            for k in range(first, first + length):
                self.assertEqual(rows[k]["id"], f"r{k}")
                self.assertAlmostEqual(float(rows[k]["mean"]), first + (length - 1) / 2)
                self.assertEqual(rows[k]["big"], "" if k < 2 else rows[k]["big"])
            first += length

    def test_a_state_has_what_is_pending(self):
        self.assertEqual(self.rows("--input", "week.csv", "--keep", "day", "--save", "s"), BEGUN)
        self.assertEqual(self.rows("--input", "rest.csv", "--keep", "day", "--load", "s"), "day,mean,b,big\n" + GONE_ON)
        self.assertEqual(self.rows("--input", "rest.csv", "--load", "s").splitlines()[1], "4.5,true,3")
        self.assertIn("2 rows were not yet written, with 'day' kept for them, not 'x'",
                      self.refused(1, "--input", "rest.csv", "--keep", "x", "--load", "s"))
        self.rows("--input", "week.csv", "--save", "without")
        self.assertIn("with no columns kept for them, not 'day': use the same --keep in the run that saves",
                      self.refused(1, "--input", "rest.csv", "--keep", "day", "--load", "without"))

    def test_a_state_without_pending_rows(self):
        self.write("whole.csv", "end,x\nF,1\nT,2\n")
        self.rows("--input", "whole.csv", "--save", "s")
        self.assertEqual(self.rows("--input", "rest.csv", "--keep", "day", "--load", "s"),
                         "day,mean,b,big\nfr,5.5,true,5\nsa,5.5,true,6\n")

    def test_a_run_that_is_gone_on_with(self):
        going_on = ("--keep", "day", "--resume", "s", "--output", "out.csv")
        self.rows("--input", "week.csv", *going_on)
        self.assertEqual(self.read("out.csv"), BEGUN)
        self.write("all.csv", WEEK + REST.split("\n", 1)[1])
        for other in (("--keep", "x"), ()):
            self.assertIn("was saved by a run that kept 'day'",
                          self.refused(1, "--input", "all.csv", *other, "--resume", "s", "--output", "out.csv"))
        self.rows("--input", "all.csv", *going_on)
        self.assertEqual(self.read("out.csv"), BEGUN + GONE_ON)

    def test_a_run_that_is_killed(self):
        with open(self.folder / "many.csv", "w", encoding="ascii") as file:
            file.write("id,end,x\n")
            file.writelines(f"r{k},{'T' if k % 700 == 699 else 'F'},{k % 13}\n" for k in range(300_000))
        going_on = ("--input", "many.csv", "--keep", "id", "--resume", "s", "--save-every", "9001", "--output", "out.csv")
        child = subprocess.Popen([RMLC, "run", "late.rml", *going_on, "--quiet"], cwd=self.folder, stderr=subprocess.DEVNULL)
        while child.poll() is None and not (self.folder / "s").exists():
            time.sleep(0.001)
        child.send_signal(signal.SIGKILL)
        child.wait()
        self.rows(*going_on)
        self.rows("--input", "many.csv", "--keep", "id", "--output", "undisturbed.csv")
        self.assertTrue(self.read("out.csv") == self.read("undisturbed.csv"))

    def test_wrong_use(self):
        week = ("--input", "week.csv")
        self.assertEqual(self.refused(1, *week, "--keep", "dya"), "week.csv:1: no column 'dya' to keep; did you mean 'day'?\n")
        self.assertEqual(self.refused(2, *week, "--keep", "day", "--keep", "day"), "--keep day: the column is named twice\n")
        self.assertEqual(self.refused(2, *week, "--keep", "mean"),
                         "--keep mean: an output has that name; rename it in the program\n")
        self.assertIn("no output is CSV", self.refused(2, *week, "--keep", "day", "--output", "o.chron"))
        self.write("week.chron", "end = T\nx = 1\n")
        self.assertIn("no input is CSV", self.refused(2, "--input", "week.chron", "--keep", "day"))
        self.write("twice.csv", "day,day,end,x\nmo,tu,T,1\n")
        self.assertEqual(self.refused(1, "--input", "twice.csv", "--keep", "day"), "twice.csv:1: column 'day' appears twice\n")
        self.write("end.csv", "day,end\nmo,F\n")
        self.write("x.csv", "day,x\nmo,1\n")
        self.assertIn("'end.csv' and 'x.csv' have this column",
                      self.refused(1, "--input", "end=end.csv", "--input", "x=x.csv", "--keep", "day"))
        self.assertIn("have no header", self.refused(2, "--input", "mqtt://localhost/t?format=csv", "--keep", "day"))


if __name__ == "__main__":
    unittest.main()
