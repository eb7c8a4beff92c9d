"""Names of functions in memory, for perf: perf_map_test.py RMLC."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

RMLC = sys.argv.pop(1)
PROGRAM = """node main(end: bool, x: f64) -> (y: f64, z: f64)
  y = 0.5 * x + 0.5 * (0.0 fby y);
  s = fby_end(end, 0.0, s) + x;
  z = backfill(s, end);
"""


class PerfMap(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        (self.folder / "p.rml").write_text(PROGRAM)

    def run_program(self, wanted, *options):
        """Runs p.rml and returns the content of its map file; None if there is no file."""
        running = subprocess.Popen([RMLC, "run", "p.rml", *options], cwd=self.folder, text=True, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "RMLC_PERF_MAP": wanted})
        out, err = running.communicate("end,x\nF,1\nT,2\n")
        self.assertEqual((running.returncode, out, err), (0, "y,z\n0.5,3\n1.25,3\n", ""))
        file = pathlib.Path(f"/tmp/perf-{running.pid}.map")
        if not file.exists():
            return None
        self.addCleanup(file.unlink)
        return file.read_text()

    def test_functions_have_places(self):
        for options in ([], ["-O0"], ["--engine", "channels"]):
            found = self.run_program("1", *options)
            functions = []
            for line in found.splitlines():
                start, size, name = line.split(" ", 2)
                functions.append((int(start, 16), int(size, 16), name))
            self.assertIn("main.push", [name for _, _, name in functions], options)
            functions.sort()
            for (start, size, name), (after, _, _) in zip(functions, functions[1:] + [(2**64, 0, "")]):
                self.assertGreater(size, 0, name)
                self.assertLessEqual(start + size, after, name)

    def test_nobody_asks(self):
        for wanted in ("", "0"):
            self.assertIsNone(self.run_program(wanted))


unittest.main()
