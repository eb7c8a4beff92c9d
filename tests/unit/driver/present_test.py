"""Columns and rows of outputs: the key in named outputs, rows in which something is present (?present), and columns that
pass through (--keep, --classes, --time) in JSON lines and .npz.

Run by ctest: present_test.py RMLC."""

import json
import pathlib
import subprocess
import sys
import unittest
import zipfile

from in_folder import InFolder

RMLC = pathlib.Path(sys.argv.pop(1))
ALARM = """node main(x: f64) -> (high: bool, level: f64 when high, low: f64 when not high)
  high = x > 2.0;
  level = x when high;
  low = x when not high;
"""
SUM = """node main(x: f64) -> (a: f64, n: i32)
  a = x + (0.0 fby a);
  n = 1 fby n + 1;
"""
WAITING = """node main(end: bool, x: f64) -> (mean: f64)
  sum = fby_end(end, 0.0, sum) + x;
  mean = backfill(sum, end);
"""
KINDS = """node main(t: f64, kind: i32) -> (pause: f64, kind2: i32, both: i32[2])
  pause = t - (t fby t);
  kind2 = 1 - kind;
  both = [kind, 1 - kind];
"""
HOLD = """node main(c: bool, x: f64 when c) -> (held: f64)
  held = merge c x ((0.0 fby held) when not c);
"""
KEYED = 'machine,at,x\npump,mo,1\nNA,"tu, 8",2\npump,,3\n'


class Columns(InFolder):
    files = {"alarm.rml": ALARM, "sum.rml": SUM, "waiting.rml": WAITING, "kinds.rml": KINDS, "hold.rml": HOLD,
             "x.csv": "x\n1\n3\n2\n5\n", "keyed.csv": KEYED}

    def call(self, program, *arguments, **more):
        return subprocess.run([RMLC, "run", program, *arguments, "--quiet"], cwd=self.folder, capture_output=True,
                              text=True, timeout=120, **more)

    def right(self, program, *arguments, **more):
        done = self.call(program, *arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def refused(self, words, program, *arguments, status=2, **more):
        done = self.call(program, *arguments, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(words, done.stderr)

    # The arrays of an .npz, decoded without NumPy: shapes, and bytes.
    def arrays(self, name):
        found = {}
        with zipfile.ZipFile(self.folder / name) as archive:
            for entry in archive.namelist():
                data = archive.read(entry)
                length = int.from_bytes(data[8:10], "little")
                head, body = data[10:10 + length].decode(), data[10 + length:]
                kind = head.split("'descr': '")[1].split("'")[0]
                if kind.startswith("<U"):
                    size = 4 * int(kind[2:])
                    body = [body[k:k + size].decode("utf-32-le").rstrip("\0") for k in range(0, len(body), size)]
                found[entry.removesuffix(".npy")] = (kind, body)
        return found

    def test_named_outputs_have_the_key(self):
        self.right("sum.rml", "--key", "machine", "--input", "keyed.csv", "--output", "a=a.csv", "--output", "n=n.jsonl")
        self.assertEqual(self.read("a.csv"), "machine,a\npump,1\nNA,2\npump,4\n")
        self.assertEqual([json.loads(line) for line in self.read("n.jsonl").splitlines()],
                         [{"machine": "pump", "n": 1}, {"machine": "NA", "n": 1}, {"machine": "pump", "n": 2}])
        self.right("sum.rml", "--key", "machine", "--input", "keyed.csv", "--output", "a=a.npz", "--output",
                   "machine=k.csv", "--output", "rest.csv")
        found = self.arrays("a.npz")
        self.assertEqual(found["machine"], ("<U4", ["pump", "NA", "pump"]))
        self.assertEqual(found["a"][0], "<f8")
        self.assertEqual(self.read("k.csv"), "machine\npump\nNA\npump\n")
        self.assertEqual(self.read("rest.csv"), "machine,n\npump,1\nNA,1\npump,2\n")

    def test_typed_keys_and_many_rows(self):
        rows = [(k % 7, k * 0.5) for k in range(20_000)]
        self.write("many.csv", "x,m\n" + "".join(f"{x},{m}\n" for m, x in rows))
        whole = self.right("sum.rml", "--key", "m:i32", "--input", "many.csv")
        self.right("sum.rml", "--key", "m:i32", "--input", "many.csv", "--output", "a=a.csv", "--output", "n=n.csv",
                   "--output", "m=m.npy")
        a, n = self.read("a.csv").splitlines(), self.read("n.csv").splitlines()
        self.assertEqual([f"{x},{y.split(',')[1]}" for x, y in zip(a, n)], whole.splitlines())
        self.assertEqual(n[0], "m,n")

    def test_rows_with_a_value(self):
        self.right("alarm.rml", "--input", "x.csv", "--output", "level=level.csv?present", "--output",
                   "low=low.jsonl?present", "--output", "high=high.csv")
        self.assertEqual(self.read("level.csv"), "level\n3\n5\n")
        self.assertEqual(self.read("low.jsonl"), '{"low":1}\n{"low":2}\n')
        self.assertEqual(self.read("high.csv"), "high\nfalse\ntrue\nfalse\ntrue\n")
        self.assertEqual(self.right("alarm.rml", "--input", "x.csv", "--output", "level=-?present"), "level\n3\n5\n")
        # One of several sampled outputs is enough.
        self.assertEqual(len(self.right("alarm.rml", "--input", "x.csv", "--output", "-?present").splitlines()), 5)
        self.right("alarm.rml", "--input", "x.csv", "--output", "level=level.npz?present")
        self.assertEqual(self.arrays("level.npz")["level.present"], ("|b1", b"\1\1"))

    def test_rows_with_a_value_and_copied_cells_and_keys(self):
        self.write("t.csv", "at,m,x\nmo,a,1\ntu,b,3\nwe,a,5\n")
        self.right("alarm.rml", "--key", "m", "--input", "t.csv", "--keep", "at", "--output", "level=o.csv?present",
                   "--output", "low=o.jsonl?present")
        self.assertEqual(self.read("o.csv"), "at,m,level\ntu,b,3\nwe,a,5\n")
        self.assertEqual(self.read("o.jsonl"), '{"at":"mo","m":"a","low":1}\n')

    def test_rows_with_a_value_are_saved(self):
        self.write("y.csv", "x\n1\n7\n")
        for source in ("x.csv", "y.csv"):
            self.right("alarm.rml", "--input", source, "--output", "level=o.csv?present", "--load", "s", "--save", "s")
        self.assertEqual(self.read("o.csv"), "level\n3\n5\n7\n")

    def test_present_is_refused(self):
        self.refused("--output o.csv?present: its outputs ('high') are present at every cycle; remove ?present",
                     "alarm.rml", "--input", "x.csv", "--output", "high=o.csv?present")
        self.refused("a chronogram shows every cycle", "alarm.rml", "--input", "x.csv", "--output", "o.chron?present")
        self.refused("'present' has no meaning here: it is for outputs", "alarm.rml", "--input", "x.csv?present")

    def test_copied_cells_with_keys(self):
        run = ("sum.rml", "--key", "machine", "--input", "keyed.csv", "--keep", "at")
        self.assertEqual(self.right(*run), 'at,machine,a,n\nmo,pump,1,1\n"tu, 8",NA,2,1\n,pump,4,2\n')
        self.assertEqual(self.right(*run, "--format", "jsonl").splitlines()[1:],
                         ['{"at":"tu, 8","machine":"NA","a":2,"n":1}', '{"at":null,"machine":"pump","a":4,"n":2}'])
        self.right(*run, "--output", "o.npz")
        self.assertEqual(self.arrays("o.npz")["at"], ("<U5", ["mo", "tu, 8", ""]))

    # Rows of different keys overtake each other, also across a saved state.
    def test_copied_cells_of_rows_that_wait(self):
        rows = ["mo,a,F,1", "tu,b,F,2", "we,b,T,3", "th,c,F,4", "fr,a,T,5", "sa,c,T,6"]
        self.write("all.csv", "\n".join(["day,m,end,x", *rows, ""]))
        whole = self.right("waiting.rml", "--key", "m", "--keep", "day", "--input", "all.csv")
        self.assertEqual(whole, "day,m,mean\ntu,b,5\nwe,b,5\nmo,a,6\nfr,a,6\nth,c,10\nsa,c,10\n")
        for split in range(len(rows) + 1):
            self.write("first.csv", "\n".join(["day,m,end,x", *rows[:split], ""]))
            self.write("rest.csv", "\n".join(["day,m,end,x", *rows[split:], ""]))
            for name in ("s", "o.csv"):
                (self.folder / name).unlink(missing_ok=True)
            run = ("waiting.rml", "--key", "m", "--keep", "day", "--output", "o.csv")
            self.right(*run, "--input", "first.csv", "--save", "s")
            self.right(*run, "--input", "rest.csv", "--load", "s")
            self.assertEqual(self.read("o.csv"), whole, split)
            for name in ("s", "o.csv"):
                (self.folder / name).unlink()
            self.right(*run, "--input", "first.csv", "--resume", "s")
            self.right(*run, "--input", "all.csv", "--resume", "s")
            self.assertEqual(self.read("o.csv"), whole, split)
        self.refused("was saved by a run that kept 'day', not 'end'", "waiting.rml", "--key", "m", "--keep", "end",
                     "--output", "o.csv", "--input", "all.csv", "--resume", "s", status=1)

    def test_copied_fields_of_json_lines(self):
        self.write("x.jsonl", '{"at": "2026-05-01", "x": 1, "more": {"a": [1, "}"]}}\n'
                              '{"x": 2, "at": 1.50, "more": null}\n{"x":3,"at":"say \\"é\\""}\n')
        run = ("sum.rml", "--input", "x.jsonl", "--keep", "at", "--keep", "more")
        self.assertEqual(self.right(*run, "--format", "jsonl"),
                         '{"at":"2026-05-01","more":{"a": [1, "}"]},"a":1,"n":1}\n{"at":1.50,"more":null,"a":3,"n":2}\n'
                         '{"at":"say \\"é\\"","more":null,"a":6,"n":3}\n')
        self.assertEqual(self.right(*run),
                         'at,more,a,n\n2026-05-01,"{""a"": [1, ""}""]}",1,1\n1.50,,3,2\n"say ""é""",,6,3\n')
        self.refused("<stdin>:1: cycle 0: no field 'att' to keep; did you mean 'at'?", "sum.rml", "--keep", "att",
                     "--format", "jsonl", input='{"x": 1, "at": 2}\n', status=1)

    def test_copied_arrays(self):
        self.write("through.rml", "node main(v: f64) -> (x: f64)\n  x = v;\n")
        self.write("v.csv", 'at,v\nmo,1\n"é, 8",2\n,3\n')
        self.right("through.rml", "--input", "v.csv", "--keep", "at", "--keep", "v", "--output", "x.npz")
        run = ("sum.rml", "--input", "x.npz", "--keep", "v", "--keep", "at")
        self.assertEqual(self.right(*run), 'v,at,a,n\n1,mo,1,1\n2,"é, 8",3,2\n3,,6,3\n')
        self.refused("x.npz: no column 'att' to keep; did you mean 'at'?", "sum.rml", "--input", "x.npz", "--keep", "att",
                     status=1)
        # An array of numbers.
        self.right("through.rml", "--input", "v.csv", "--output", "y.npz")
        self.write("none.rml", "node main(x: f64) -> (y: f64)\n  y = 2.0 * x;\n")
        self.assertEqual(self.right("none.rml", "--input", "y.npz", "--keep", "x"), "x,y\n1,2\n2,4\n3,6\n")

    def test_kept_cells_of_dropped_rows(self):
        # A bad row of one input drops the row of the other, with its kept cell.
        self.write("through.rml", "node main(b: f64) -> (c: f64)\n  c = b;\n")
        self.write("b.csv", "at,b\nr0,10\nr1,20\nr2,30\n")
        self.right("through.rml", "--input", "b.csv", "--keep", "at", "--output", "b.npz")
        self.write("both.rml", "node main(a: f64, c: f64) -> (y: f64)\n  y = a + c;\n")
        self.write("a.csv", "a\n1\nbad\n3\n")
        done = self.call("both.rml", "--input", "a=a.csv", "--input", "c=b.npz", "--keep", "at", "--on-bad-row", "skip")
        self.assertEqual((done.returncode, done.stdout), (0, "at,y\nr0,11\nr2,33\n"), done.stderr)

    def test_live_inputs(self):
        feed = subprocess.Popen([RMLC, "run", "sum.rml", "--input", "x.csv", "--output", "unix://s?format=jsonl", "--quiet"],
                                cwd=self.folder)
        self.write("double.rml", "node main(n: i32) -> (m: i32)\n  m = 2 * n;\n")
        out = self.right("double.rml", "--input", "unix-listen://s?format=jsonl", "--keep", "a", "--format", "jsonl")
        feed.wait(60)
        self.assertEqual(out, '{"a":1,"m":2}\n{"a":4,"m":4}\n{"a":6,"m":6}\n{"a":11,"m":8}\n')

    def test_classes_and_times_in_json_lines(self):
        self.write("kinds", "good\nbad\n")
        self.write("t.jsonl", '{"t": "2026-05-01T00:00:00", "kind": "bad"}\n{"t": "2026-05-01T00:00:30.5", "kind": "good"}\n')
        run = ("kinds.rml", "--input", "t.jsonl", "--time", "t=%Y-%m-%dT%H:%M:%S", "--classes", "kind=kinds")
        self.assertEqual(self.right(*run, "--classes", "kind2=kinds", "--classes", "both=kinds", "--format", "jsonl"),
                         '{"pause":0,"kind2":"good","both":["bad","good"]}\n{"pause":30.5,"kind2":"bad","both":["good","bad"]}\n')
        self.write("t.jsonl", '{"t": 5, "kind": "bad"}\n{"t": 7.5, "kind": "worse"}\n')
        run = ("kinds.rml", "--input", "t.jsonl", "--time", "t=unix", "--classes", "kind=kinds")
        self.refused("t.jsonl:2: cycle 1: 'kind': 'worse' is not a class of 'kinds'", *run, status=1)
        self.write("t.jsonl", '{"t": 5, "kind": "bad"}\n{"t": true, "kind": "bad"}\n')
        self.refused("'t': 'true' is not a time such as", *run, status=1)

    def test_missing_values_in_json_lines(self):
        lines = '{"x": 1}\n{"x": null}\n{}\n{"x": 4}\n'
        self.assertEqual(self.right("hold.rml", "--format", "jsonl", "--missing", "absent", input=lines),
                         '{"held":1}\n{"held":1}\n{"held":1}\n{"held":4}\n')


if __name__ == "__main__":
    unittest.main()
