"""Programs as networks, from the command line: networks_test.py RMLC.

The same rows as without, faults at the same cycle, partners that wait, wrong input, full disks, saved states, traces."""

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

# A recurrence, a segment, a clock below base, and what is known only when a segment ends.
MIXED = """
node main(end: bool, on: bool, x: f64) -> (level: f64, mean: f64, sampled: f64, late: f64)
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

    def test_a_fault_is_that_of_the_program(self):
        self.write("divides.rml", DIVIDES)
        rows = "x\n" + "".join(f"{500 - k}\n" for k in range(1000))
        want = self.run_rmlc("run", "divides.rml", text=rows)
        self.assertEqual(want.returncode, 1)
        for grain in GRAINS:
            program = self.build("divides.rml", "--grain", grain)
            got = subprocess.run([program], input=rows, capture_output=True, text=True, timeout=60)
            self.assertEqual((got.returncode, got.stdout, got.stderr), (1, want.stdout, want.stderr), grain)

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
        program = self.build("mixed.rml", "--parallel")
        for options in (["--on-nan", "stop"], ["--save", "s", "--save-every", "10"]):
            done = subprocess.run([program, *options], input="", capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2)
            self.assertIn("not for a network of tasks", done.stderr)
        self.assertEqual(self.run_rmlc("build", "mixed.rml", "--parallel", "--emit", "lib").returncode, 2)
        done = self.run_rmlc("build", "mixed.rml", "--parallel", "--emit", "obj", "--target", "armv7-linux-gnueabihf")
        self.assertEqual(done.returncode, 1)
        self.assertIn("64 bits", done.stderr)
        plain = self.build("mixed.rml")
        self.assertEqual(subprocess.run([plain, "--workers", "2"], input="", capture_output=True, timeout=60).returncode, 2)


if __name__ == "__main__":
    unittest.main()
