"""--classes and --time: cells that are texts.

Times are compared with Python's datetime. Run by ctest: texts_test.py RMLC."""

import csv
import datetime
import pathlib
import random
import subprocess
import sys
import unittest

from in_folder import InFolder

RMLC = pathlib.Path(sys.argv.pop(1))
UTC = datetime.timezone.utc
PROGRAM = """node main(kind: i32, t: f64) -> (next: i32, u: f64)
  next = kind + 1;
  u = t;
"""
FLAGGED = """node main(there: bool, kind: i32 when there) -> (seen: i32 when there, there_too: bool)
  seen = kind;
  there_too = there;
"""
KINDS = "setosa\nversicolor\nvirginica, white\n"


class Texts(InFolder):
    files = {"p.rml": PROGRAM, "flagged.rml": FLAGGED, "kinds.txt": KINDS}

    def table(self, name, header, rows):
        with open(self.folder / name, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(rows)

    def run_it(self, *arguments, program="p.rml", command="run", **more):
        return subprocess.run([RMLC, command, program, *arguments], cwd=self.folder, capture_output=True, text=True, **more)

    def rows(self, *arguments, **more):
        done = self.run_it(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return list(csv.DictReader(done.stdout.splitlines()))

    def refused(self, status, *arguments, **more):
        done = self.run_it(*arguments, **more)
        self.assertEqual(done.returncode, status, (arguments, done.stderr))
        return done.stderr

    def test_classes_are_lines(self):
        self.table("in.csv", ["t", "kind"], [[1, "versicolor"], [2, "setosa"], [3, "virginica, white"]])
        self.assertEqual([row["next"] for row in self.rows("--input", "in.csv", "--classes", "kind=kinds.txt")], ["2", "1", "3"])

    def test_classes_are_written_as_texts(self):
        self.table("in.csv", ["t", "kind"], [[1, "versicolor"], [2, "setosa"]])
        rows = self.rows("--input", "in.csv", "--classes", "kind=kinds.txt", "--classes", "next=kinds.txt")
        self.assertEqual([row["next"] for row in rows], ["virginica, white", "versicolor"])
        self.table("in.csv", ["t", "kind"], [[1, "setosa"], [2, "virginica, white"]])
        self.assertIn("<stdout>: row 2: output 'next' is 3, but 'kinds.txt' has the classes 0 to 2",
                      self.refused(1, "--input", "in.csv", "--classes", "kind=kinds.txt", "--classes", "next=kinds.txt")
                      .replace("standard output", "<stdout>"))

    def test_trace_reads_and_writes_them(self):
        self.table("in.csv", ["t", "kind"], [["2026-11-26", "versicolor"]])
        options = ("--input", "in.csv", "--classes", "kind=kinds.txt", "--time", "t=%Y-%m-%d")
        self.assertRegex(self.run_it(*options, command="trace").stdout, r"kind +\| +1\nt +\| +1795651200\n")
        self.assertEqual(self.rows(*options, "--format", "csv", command="trace")[0]["kind"], "versicolor")

    def test_missing_classes(self):
        self.write("with_na.txt", "NA\nhere\n")
        self.table("in.csv", ["kind"], [["here"], ["NA"], ["none"], ["  "]])
        absent = ("--input", "in.csv", "--missing", "absent", "--classes")
        self.assertEqual([row["seen"] for row in self.rows(*absent, "kind=with_na.txt", program="flagged.rml")],
                         ["1", "0", "", ""])

    def test_rows_are_whole(self):
        """A row with an unknown class is not written, nor any row that follows."""
        self.table("in.csv", ["t", "kind"], [[1, "setosa"], [2, "virginica, white"], [3, "setosa"]])
        for outputs in (["--output", "o.csv"], ["--output", "next=o.csv", "--output", "u=p.csv"]):
            self.refused(1, "--input", "in.csv", "--classes", "kind=kinds.txt", "--classes", "next=kinds.txt", *outputs)
            rows = (self.folder / "o.csv").read_text()
            self.assertEqual(rows, "next,u\nversicolor,1\n" if len(outputs) == 2 else "next\nversicolor\n")

    def test_lists_that_are_no_files(self):
        self.table("in.csv", ["t", "kind"], [[1, "setosa"]])
        self.assertIn("cannot read '/dev/zero': it is a device",
                      self.refused(1, "--input", "in.csv", "--classes", "kind=/dev/zero"))
        (self.folder / "list").write_text('cat kinds.txt | "$1" run p.rml --input in.csv --classes kind=/dev/stdin\n')
        done = subprocess.run(["sh", "list", RMLC], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "next,u\n1,1\n"), done.stderr)

    def test_lists_of_other_systems(self):
        self.write("dos.txt", "\ufeffa\r\nb c\r\n d \r\né")
        self.table("in.csv", ["t", "kind"], [[0, "a"], [0, "b c"], [0, "d"], [0, "é"]])
        rows = self.rows("--input", "in.csv", "--classes", "kind=dos.txt")
        self.assertEqual([row["next"] for row in rows], ["1", "2", "3", "4"])

    def test_wrong_classes(self):
        self.table("in.csv", ["t", "kind"], [[1, "setosa"], [2, "setsa"]])
        self.assertEqual(self.refused(1, "--input", "in.csv", "--classes", "kind=kinds.txt"),
                         "in.csv:3:3: cycle 1: column 'kind': 'setsa' is not a class of 'kinds.txt'; did you mean 'setosa'?\n")
        for text, complaint in (("a\nb\na\n", "list.txt:3: 'a' is class 0 already, in line 1"),
                                ("a\n\nb\n", "list.txt:2: empty; every line is the name of a class"), ("", "list.txt: empty")):
            self.write("list.txt", text)
            self.assertIn(complaint, self.refused(1, "--input", "in.csv", "--classes", "kind=list.txt"))
        self.assertIn("this command makes it:\n  tail -n +2 data.csv | cut -d, -f3 | sort -u > no.txt\n",
                      self.refused(1, "--input", "in.csv", "--classes", "kind=no.txt"))
        for argument, complaint in (("kid=kinds.txt", "no input or output 'kid'; did you mean 'kind'?"),
                                    ("t=kinds.txt", "'t' is f64; classes are integers"), ("kind", "expected NAME=FILE"),
                                    ("kind=", "expected NAME=FILE")):
            self.assertIn(complaint, self.refused(2, "--input", "in.csv", "--classes", argument))
        self.assertIn("has classes already",
                      self.refused(2, "--input", "in.csv", "--classes", "kind=kinds.txt", "--classes", "kind=kinds.txt"))
        self.assertIn("'kind' is in '-', which is neither CSV nor JSON lines",
                      self.refused(2, "--format", "chron", "--classes", "kind=kinds.txt"))
        self.assertIn("'next' is in 'o.chron', which is neither CSV nor JSON lines",
                      self.refused(2, "--input", "in.csv", "--output", "o.chron", "--classes", "next=kinds.txt"))
        self.assertIn("the file is a list of classes",
                      self.refused(2, "--input", "in.csv", "--classes", "kind=kinds.txt", "--format", "csv", "--output", "kinds.txt"))
        self.write("small.rml", "node main(kind: i8) -> (o: i8)\n  o = kind;\n")
        self.write("many.txt", "".join(f"c{k}\n" for k in range(129)))
        self.assertIn("129 classes are too many for 'kind', which is i8",
                      self.refused(2, "--classes", "kind=many.txt", program="small.rml"))
        self.write("many.txt", "".join(f"c{k}\n" for k in range(128)))
        self.assertEqual(self.rows("--classes", "kind=many.txt", program="small.rml", input="kind\nc127\n"), [{"o": "127"}])

    def test_times(self):
        generator = random.Random(3)
        begin, end = datetime.datetime(1800, 1, 1), datetime.datetime(2200, 1, 1)
        moments = [begin + datetime.timedelta(seconds=generator.randrange(int((end - begin).total_seconds()))) for _ in range(300)]
        moments += [datetime.datetime(2000, 2, 29), datetime.datetime(1970, 1, 1), datetime.datetime(1969, 12, 31, 23, 59, 59)]
        for form in ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%d.%m.%Y %H:%M:%S", "%F %T", "%Y%m%d%H%M%S", "%Y-%j %H:%M:%S",
                     "%b %d %Y, %I:%M:%S %p", "%m/%d/%Y %H:%M:%S%%"):
            python = form.replace("%F", "%Y-%m-%d").replace("%T", "%H:%M:%S")
            self.table("in.csv", ["t", "kind"], [[moment.strftime(python), 0] for moment in moments])
            rows = self.rows("--input", "in.csv", "--time", "t=" + form)
            for row, moment in zip(rows, moments, strict=True):
                self.assertEqual(float(row["u"]), moment.replace(tzinfo=UTC).timestamp(), (form, moment))

    def test_days_and_zones(self):
        for form, text, moment in (("%Y-%m-%d", "2026-11-26", (2026, 11, 26)), ("%Y-%m", "2026-11", (2026, 11, 1)),
                                   ("%d.%m.%y", "26.11.69", (1969, 11, 26)), ("%d.%m.%y", "26.11.68", (2068, 11, 26)),
                                   ("%Y-%m-%dT%H:%M:%S%z", "2026-11-26T02:30:00+02:30", (2026, 11, 26)),
                                   ("%Y-%m-%dT%H:%M:%S%z", "2026-11-25T19:00:00-0500", (2026, 11, 26)),
                                   ("%Y-%m-%dT%H:%M:%S%z", "2026-11-26T00:00:00Z", (2026, 11, 26)),
                                   ("%Y-%m-%d %H:%M:%S", "2016-12-31 23:59:60", (2017, 1, 1))):
            self.table("in.csv", ["t", "kind"], [[text, 0]])
            row = self.rows("--input", "in.csv", "--time", "t=" + form)[0]
            self.assertEqual(float(row["u"]), datetime.datetime(*moment, tzinfo=UTC).timestamp(), (form, text))

    def test_fractions(self):
        whole = datetime.datetime(2026, 11, 26, 12, 0, 1, tzinfo=UTC).timestamp()
        for form, text, value in (("%Y-%m-%dT%H:%M:%S", "2026-11-26T12:00:01.25", whole + 0.25),
                                  ("%Y-%m-%dT%H:%M:%S", "2026-11-26T12:00:01,5", whole + 0.5),
                                  ("%Y-%m-%dT%H:%M:%S.%f", "2026-11-26T12:00:01.000001", whole + 1e-6),
                                  ("%Y-%m-%dT%H:%M:%S.%f", "2026-11-26T12:00:01", whole),
                                  ("%F %TZ", "2026-11-26 12:00:01.123456789Z", whole + 0.123456789),
                                  ("%I:%M:%S %p %F", "12:00:01.5 PM 2026-11-26", whole + 0.5),
                                  ("%F %T", "1969-12-31 23:59:59.75", -0.25), ("unix", "1764158401.125", 1764158401.125),
                                  ("unix", "-1e3", -1000.0)):
            self.table("in.csv", ["t", "kind"], [[text, 0]])
            self.assertEqual(float(self.rows("--input", "in.csv", "--time", "t=" + form)[0]["u"]), value, (form, text))

    def test_what_is_no_time(self):
        for form, text in (("%Y-%m-%d", "2026-02-29"), ("%Y-%m-%d", "2026-04-31"), ("%Y-%m-%d", "2026-13-01"),
                           ("%Y-%m-%d", "2026-11-26 "  "x"), ("%Y-%m-%d", "26-11-26"), ("%Y-%m-%d", "yesterday"),
                           ("%Y-%m-%d %H:%M:%S", "2026-11-26 24:00:00"), ("%Y-%m-%d %H:%M:%S", "2026-11-26 12:00:61"),
                           ("%Y-%m-%d %H:%M:%S", "2026-11-26 12:00:01."), ("%Y-%m-%d %H:%M", "2026-11-26 12:00.5"),
                           ("unix", "inf"), ("unix", "2026-11-26")):
            self.table("in.csv", ["kind", "t"], [[0, text]])
            self.assertRegex(self.refused(1, "--input", "in.csv", "--time", "t=" + form),
                             "in.csv:2:3: cycle 0: column 't': '.*' is not a time such as ")
        self.assertIn("'t' is empty", self.refused(1, "--time", "t=%F", input="kind,t\n0,\n"))
        self.assertEqual(self.rows("--time", "t=%F", "--missing", "nan", input="kind,t\n0,NA\n")[0]["u"], "nan")

    def test_wrong_formats(self):
        for argument, complaint in (("t=%H:%M:%S", "a format needs the year"), ("t=%Y-%Q", "'%Q' is none of"), ("t=%Y%", "'%' is none of"),
                                    ("t=%s", "'%s' is none of"), ("t", "expected NAME=FORMAT"), ("u=unix", "no input 'u'"),
                                    ("kind=unix", "'kind' is i32; seconds since 1970 need f64")):
            self.assertIn(complaint, self.refused(2, "--time", argument))
        self.assertIn("has a format already", self.refused(2, "--time", "t=unix", "--time", "t=unix"))
        self.write("f32.rml", "node main(t: f32) -> (u: f32)\n  u = t;\n")
        self.assertIn("'t' is f32; seconds since 1970 need f64", self.refused(2, "--time", "t=unix", program="f32.rml"))
        self.assertIn("'t' is in '-', which is neither CSV nor JSON lines",
                      self.refused(2, "--format", "chron", "--time", "t=unix"))


if __name__ == "__main__":
    unittest.main()
