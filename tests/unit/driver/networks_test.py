"""Programs as networks, from the command line: networks_test.py RMLC.

The same rows as without a network, faults at the same cycle, waiting partners, wrong input,
full disks, saved states, traces."""

import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

RMLC = sys.argv.pop(1)
GRAINS = ["pass", "stage", "op"]

DIVIDES = """
node main(x: i32) -> (y: i32, z: i32)
  y = 0 fby (y + x);
  z = 100 / x;
"""

# A recurrence, a segment, a clock below base, and a value that is known only at the end of a
# segment.
MIXED = """
node main(end: bool, on: bool, x: f64) -> (level: f64, mean: f64, sampled: f64 when on, late: f64)
  level = 0.5 * (1.0 fby level) + x;
  sum = fby_end(end, 0.0, sum) + x;
  count = fby_end(end, 0.0, count) + 1.0;
  mean = backfill(sum / count, end);
  sampled = level when on;
  late = mean * level + (0.0 fby late);
"""


def mixed_rows(count):
    lines = ["end,on,x"]
    for k in range(count):
        lines.append(f"{str(k % 7 == 6).lower()},{str(k % 3 == 0).lower()},{(k * 37 % 101) / 8}")
    return "\n".join(lines) + "\n"


class Networks(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def run_rmlc(self, *arguments, text=None):
        return subprocess.run([RMLC, *arguments], cwd=self.folder, input=text, capture_output=True, text=True, timeout=120)

    def build(self, source, *options):
        done = self.run_rmlc("build", source, "-o", "program", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return str(self.folder / "program")

    def test_rows_are_the_same(self):
        self.write("mixed.rml", MIXED)
        rows = mixed_rows(1000)
        want = self.run_rmlc("run", "mixed.rml", "--strict-math", text=rows)
        self.assertEqual(want.returncode, 0, want.stderr)
        self.assertEqual(len(want.stdout.splitlines()), 1000 - 1000 % 7 + 1)
        for grain in GRAINS:
            for workers, capacity in ((1, 1), (2, 2), (8, 64)):
                got = self.run_rmlc("run", "mixed.rml", "--strict-math", "--engine", "channels", "--grain", grain,
                                    "--workers", str(workers), "--capacity", str(capacity), text=rows)
                self.assertEqual((got.returncode, got.stdout), (0, want.stdout), f"{grain} {workers} {capacity}")

    def test_a_condition_that_the_last_instant_does_not_compute(self):
        """A condition that an instant does not need is not read there, at any optimisation and
        for any processor."""
        text = "node main(e: bool, x: f64, z: f64) -> (s: f64)\n  s = if e then x else if (post s) > 0.0 then post x else post z;\n"
        self.write("late.rml", text)
        rows = "e,x,z\nF,1,2\nT,3,4\nF,1,-2\nF,5,7\nT,-3,4\nT,5,1\n"
        for level in ("-O0", "-O1", "-O2", "-O3"):
            for processor in ("generic", "native"):
                program = self.build("late.rml", "--grain", "pass", level, "--cpu", processor)
                done = subprocess.run([program], input=rows, capture_output=True, text=True, timeout=60)
                self.assertEqual(done.stdout, "s\n3\n3\n5\n4\n-3\n5\n", f"{level}, {processor}: {done.stderr}")

    def test_a_fault_is_that_of_the_program(self):
        self.write("divides.rml", DIVIDES)
        rows = "x\n" + "".join(f"{500 - k}\n" for k in range(1000))
        want = self.run_rmlc("run", "divides.rml", text=rows)
        self.assertEqual(want.returncode, 1)
        for grain in GRAINS:
            program = self.build("divides.rml", "--grain", grain)
            got = subprocess.run([program], input=rows, capture_output=True, text=True, timeout=60)
            self.assertEqual((got.returncode, got.stdout, got.stderr), (1, want.stdout, want.stderr), grain)

    def test_rows_that_came_before_the_fault_in_the_same_cycle(self):
        self.write("late.rml", """
            node main(end: bool, n: i32) -> (y: i32)
              y = [5, 6, 7][n + 0 * backfill(n, end)];
        """)
        self.assert_same("end,n\nfalse,1\nfalse,2\nfalse,3\ntrue,0\n", "late.rml", told="cycle 2: index")

    def test_of_two_faults_the_first(self):
        self.write("two.rml", """
            node main(on: bool, n: i32) -> (sampled: i32, y: i32)
              at = [1, 2][n when on];
              sampled = merge on (at) (0);
              y = [3, 4][n];
        """)
        self.assert_same("on,n\ntrue,0\ntrue,5\n", "two.rml", told="cycle 1: index")

    def test_a_wrong_row_ends_the_run(self):
        self.write("divides.rml", DIVIDES)
        rows = "x\n" + "5\n" * 300 + "five\n" + "5\n" * 300
        got = self.run_rmlc("run", "divides.rml", "--engine", "channels", text=rows)
        self.assertEqual(got.returncode, 1)
        self.assertIn("<stdin>:302:1: cycle 300", got.stderr)
        self.assertEqual(len(got.stdout.splitlines()), 301)

    def test_a_partner_gets_each_row_before_it_sends_the_next(self):
        self.write("divides.rml", DIVIDES)
        for grain in GRAINS:
            program = self.build("divides.rml", "--grain", grain)
            with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
                watch = time.monotonic()
                run.stdin.write("x\n")
                for k in range(1, 50):
                    run.stdin.write(f"{k}\n")
                    run.stdin.flush()
                    if k == 1:
                        self.assertEqual(run.stdout.readline(), "y,z\n")
                    self.assertEqual(run.stdout.readline(), f"{k * (k - 1) // 2},{100 // k}\n")
                run.stdin.close()
                self.assertEqual(run.wait(30), 0)
                self.assertLess(time.monotonic() - watch, 30)

    @unittest.skipUnless(pathlib.Path("/dev/full").exists(), "no /dev/full here")
    def test_a_full_disk_ends_the_run_while_input_waits(self):
        program = self.build(self.write("divides.rml", DIVIDES), "--parallel")
        with subprocess.Popen([program, "--output", "/dev/full"], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as run:
            run.stdin.write("x\n" + "7\n" * 20)
            run.stdin.flush()
            self.assertEqual(run.wait(30), 1)
            self.assertIn("No space left", run.stderr.read())

    def test_a_signal_ends_the_run(self):
        program = self.build(self.write("divides.rml", DIVIDES), "--parallel")
        with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as run:
            run.stdin.write("x\n7\n")
            run.stdin.flush()
            self.assertEqual([run.stdout.readline(), run.stdout.readline()], ["y,z\n", "0,14\n"])
            run.send_signal(signal.SIGINT)
            self.assertEqual(run.wait(30), 130)
            self.assertIn("interrupted after 1 cycles", run.stderr.read())

    def test_a_saved_state_goes_on(self):
        self.write("mixed.rml", MIXED)
        rows = mixed_rows(150).splitlines()
        for grain in GRAINS:
            program = self.build("mixed.rml", "--grain", grain)
            whole = subprocess.run([program], input="\n".join(rows) + "\n", capture_output=True, text=True, timeout=60)
            state = str(self.folder / "state")
            first = subprocess.run([program, "--save", state], input="\n".join(rows[:101]) + "\n", capture_output=True,
                                   text=True, timeout=60)
            second = subprocess.run([program, "--load", state], input="\n".join(rows[:1] + rows[101:]) + "\n",
                                    capture_output=True, text=True, timeout=60)
            self.assertEqual((first.returncode, second.returncode), (0, 0), first.stderr + second.stderr)
            self.assertEqual(first.stdout + second.stdout.split("\n", 1)[1], whole.stdout, grain)

    def programs(self, source, *options):
        """The commands for the program itself and for every kind of network of it, by name."""
        for grain in [None, *GRAINS]:
            name = f"{source}, {grain}, {options}"
            if not (self.folder / name).exists():
                done = self.run_rmlc("build", source, "-o", name, "--strict-math", *options,
                                     *(["--grain", grain] if grain else []))
                self.assertEqual(done.returncode, 0, done.stderr)
            for capacity in (["--capacity", "1"], ["--capacity", "64"]) if grain else ([],):
                yield f"{name} {capacity}", [str(self.folder / name), *capacity]

    def assert_same(self, text, source, *options, told="", watched=()):
        """Status, rows and messages must be those without a network."""
        want = None
        for name, program in self.programs(source, *watched):
            done = subprocess.run([*program, *options], cwd=self.folder, input=text, capture_output=True, text=True,
                                  timeout=60)
            got = (done.returncode, done.stderr, done.stdout)
            want = want or got
            self.assertIn(told, done.stderr)
            self.assertEqual(got, want, f"{name} {options}")
        return want

    def test_states_saved_on_the_way(self):
        self.write("mixed.rml", MIXED)
        self.write("whole.csv", mixed_rows(150))
        # A wrong row ends the run without saving, so the state is the last one that was saved on
        # the way.
        self.write("wrong.csv", mixed_rows(100) + "wrong\n")
        want = None
        for name, program in self.programs("mixed.rml"):
            for every in (7, 20, 64):
                for stale in ("rows.csv", "state"):
                    (self.folder / stale).unlink(missing_ok=True)
                done = []
                for rows in ("wrong.csv", "whole.csv"):
                    done.append(subprocess.run([*program, "--input", rows, "--output", "rows.csv", "--quiet", "--resume",
                                                "state", "--save-every", str(every)], cwd=self.folder, capture_output=True,
                                               text=True, timeout=60))
                    if rows == "wrong.csv":
                        self.assertEqual(self.saved("cycle"), str(100 - 100 % every), name)
                self.assertEqual([run.returncode for run in done], [1, 0], name + done[1].stderr)
                rows = (self.folder / "rows.csv").read_text()
                want = want or rows
                self.assertEqual(rows, want, f"{name} {every}")

    def test_saved_rows_are_those_that_the_cycles_determine(self):
        self.write("mixed.rml", MIXED)
        for name, program in self.programs("mixed.rml"):
            for stale in ("rows.csv", "state"):
                (self.folder / stale).unlink(missing_ok=True)
            # No further row comes, so the run waits and is killed.
            with subprocess.Popen([*program, "--resume", "state", "--save-every", "50", "--output", "rows.csv"],
                                  cwd=self.folder, stdin=subprocess.PIPE, text=True) as run:
                run.stdin.write(mixed_rows(100))
                run.stdin.flush()
                end = time.monotonic() + 30
                while self.saved("cycle") != "100" and time.monotonic() < end:
                    time.sleep(0.01)
                run.kill()
            # 14 segments of 7 cycles were complete.
            self.assertEqual([self.saved("cycle"), self.saved("rows"), self.saved("segments")], ["100", "98", "14"], name)
            self.assertEqual(len((self.folder / "rows.csv").read_text().splitlines()), 99, name)

    def saved(self, key):
        state = self.folder / "state"
        text = state.read_bytes().decode("latin-1") if state.exists() else ""
        return text.split(f'"{key}":"')[1].split('"')[0] if text else ""

    def test_a_fault_before_a_state_is_saved(self):
        self.write("divides.rml", DIVIDES)
        rows = "x\n" + "".join(f"{25 - k}\n" for k in range(40))
        for every in ("10", "25", "26", "1"):
            self.assert_same(rows, "divides.rml", "--save", "state", "--save-every", every, told="cycle 25: ")

    def test_segments_are_counted_on(self):
        self.write("mixed.rml", MIXED)
        program = self.build("mixed.rml", "--parallel")
        for count, segments in ((50, 7), (150, 21)):
            self.write("in.csv", mixed_rows(count))
            done = subprocess.run([program, "--input", "in.csv", "--output", "rows.csv", "--resume", "state", "--stats",
                                   "--save-every", "3"], cwd=self.folder, capture_output=True, text=True, timeout=60)
            self.assertRegex(done.stderr, f"segments  *{segments}\n")

    def test_what_is_not_finite_is_found_in_the_same_cycle(self):
        self.write("mixed.rml", MIXED)
        for place, value in ((0, "inf"), (20, "nan"), (23, "inf"), (39, "-inf")):
            rows = mixed_rows(40).splitlines()
            rows[place + 1] = rows[place + 1].rsplit(",", 1)[0] + "," + value
            for how in ("stop", "continue"):
                want = self.assert_same("\n".join(rows) + "\n", "mixed.rml", "--on-nan", how, told="infinite" if "inf" in value else "not a number")
                self.assertEqual(want[0], 1 if how == "stop" else 0)

    def test_the_first_equation_that_is_not_finite(self):
        # Values of a recurrence that is cut, of a cell that begins with infinity, and of an
        # output; together, and in an instance. The order in the program is not an order of
        # computation.
        self.write("first.rml", """
node layer(x: f64) -> (y: f64)
  w = param(1.0);
  moved = w fby moved * x;
  y = sqrt(moved);
node main(x: f64) -> (z: f64, low: f64, h: f64, last: f64)
  last = 0.0 fby z;
  z = layer(x) + 1.0;
  low = fby_min(1.0 / 0.0, x);
  h = tanh(a + x);
  a = 0.5 * (0.0 fby g);
  g = tanh(a) + (0.0 fby h) / x;
node fby_min(start, x) -> (m)
  m = minimum(start fby m, x);
""")
        for values in ((2, -3, 5), (2, 0, 5), (2, "inf", 5), (0,), ("nan",), (1, "nan"), (1e200, 1e200, 1)):
            rows = "x\n" + "\n".join(map(str, values)) + "\n"
            for how in ("stop", "continue"):
                self.assert_same(rows, "first.rml", "--on-nan", how, told="cycle ")
                self.assert_same(rows, "first.rml", "--on-nan", how, "--watch", "*", "--watch-file", "log",
                                 watched=("--watch", "*"))
        self.assert_same("x\n1\n2\n", "first.rml", "--on-nan", "stop")

    def test_what_is_not_finite_and_a_fault(self):
        self.write("both.rml", """
node main(x: i32) -> (y: f64, z: i32)
  y = 1.0 / cast(f64, x - 3) + (0.0 fby y);
  z = 100 / x;
""")
        for values, told in (((5, 3, 0), "infinite"), ((5, 0, 3), "division"), ((5, 3), "infinite"), ((0,), "division")):
            rows = "x\n" + "\n".join(map(str, values)) + "\n"
            self.assert_same(rows, "both.rml", "--on-nan", "stop", told=told)
            self.assert_same(rows, "both.rml", "--on-nan", "continue", "--save", "s", "--save-every", "2", told=told)

    def test_a_wrong_presence_is_told_with_its_place(self):
        self.write("sub.rml", """
node main(end: bool, c: bool, x: f64 when c) -> (y: f64, t: f64)
  y = merge c x 0.0;
  s = fby_end(end, 0.0, s) + y;
  t = backfill(s, end);
""")
        for wrong in (0, 100, 357):
            for c in ("T", "F"):
                rows = [f"{'FT'[k % 5 == 4]},{'FT'[k % 3 == 0]},{k if k % 3 == 0 else ''}" for k in range(400)]
                rows[wrong] = f"{'FT'[wrong % 5 == 4]},{c},{'' if c == 'T' else 7}"
                text = "end,c,x\n" + "\n".join(rows) + "\n"
                self.assert_same(text, "sub.rml", told=f"<stdin>:{wrong + 2}:")
                if wrong == 100:
                    self.assert_same(text, "sub.rml", "--on-nan", "stop", told=f"<stdin>:{wrong + 2}:")

    def test_progress_is_told(self):
        self.write("mixed.rml", MIXED)
        self.write("in.csv", mixed_rows(5000))
        done = self.run_rmlc("run", "mixed.rml", "--engine", "channels", "--progress", "always", "--input", "in.csv",
                             "--output", "out.csv")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"5000 cycles|4998 cycles")

    def test_a_trace_names_tasks_and_states(self):
        program = self.build(self.write("mixed.rml", MIXED), "--grain", "op")
        done = subprocess.run([program, "--profile", "trace.json", "--quiet"], cwd=self.folder, input=mixed_rows(100),
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        events = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        states = {event.get("cat") for event in events}
        self.assertTrue({"computing", "emitting", "waiting"} <= states, states)
        self.assertIn("level", {event.get("name") for event in events})

    def test_tasks_are_shown(self):
        self.write("mixed.rml", MIXED)
        text = self.run_rmlc("show", "tasks", "mixed.rml", "--grain", "op").stdout
        self.assertRegex(text, r"network main: \d+ tasks, \d+ rings")
        self.assertIn("segments of end", text)
        self.assertIn("  writes x : f64, at most 256, to ", text)
        self.assertEqual(self.run_rmlc("show", "tasks", "mixed.rml", "-o", "tasks.dot").returncode, 0)
        self.assertIn("digraph", (self.folder / "tasks.dot").read_text())

    def test_what_is_not_for_networks_is_refused(self):
        self.write("mixed.rml", MIXED)
        self.assertEqual(self.run_rmlc("build", "mixed.rml", "--parallel", "--emit", "lib").returncode, 2)
        done = self.run_rmlc("build", "mixed.rml", "--parallel", "--emit", "obj", "--target", "armv7-linux-gnueabihf")
        self.assertEqual(done.returncode, 1)
        self.assertIn("64 bits", done.stderr)
        plain = self.build("mixed.rml")
        self.assertEqual(subprocess.run([plain, "--workers", "2"], input="", capture_output=True, timeout=60).returncode, 2)


if __name__ == "__main__":
    unittest.main()
