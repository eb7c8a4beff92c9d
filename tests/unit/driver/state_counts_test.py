"""The state of a program with effects contains the counts of units and queues. Counts that
contradict each other are refused, with the number and the right value: state_counts_test.py RMLC."""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

from saved_states import put_together, take_apart

RMLC = sys.argv.pop(1)
SECONDS = 20  # limit of a run; it takes milliseconds, or years if it believes a wrong count

# Text, options of rmlc build, columns of the input.
PROGRAMS = {
    "counter": ("node main() -> (n: i64)\n  n = 0 fby n + 1;\n", ["--grain", "op"], ""),
    "ahead": ("node main(x: f64) -> (y: f64, n: i64)\n  y = x + post (post x);\n  n = 0 fby n + 1;\n", [], "x"),
    "held": ("node main(x: f64, e: bool) -> (y: f64, z: f64 when e)\n  y = backfill(x, e) + 0.5 * (0.0 fby x);\n"
             "  z = (post (x when e)) + (1.0 fby (x when e));\n", [], "xe"),
    "tasks": ("node main(x: f64, e: bool) -> (y: f64, z: f64 when e)\n  s = fby_end(e, 0.0, s) + x;\n"
              "  y = backfill(s, e) + post x;\n  z = (post (x when e)) + (1.0 fby (x when e));\n", ["--grain", "op"], "xe"),
    "segments": ("node main(x: f64, e: bool) -> (y: f64[2])\n  s = fby_end(e, zeros([2]), s) + x * [1.0, 2.0];\n"
                 "  y = backfill(s, e) * [1.0, 3.0];\n", ["--chunk", "segment"], "xe"),
    "learned": ("node net(e: bool, x: f64) -> (l: f64)\n  h = x * param_end(e, param(0.5)) + 0.5 * fby_end(e, 0.0, h);\n"
                "  l = h * h;\nnode main(e: bool, x: f64) -> (l: f64)\n  l, _ = diff net(e, x, true, 1.0);\n",
                ["--grain", "op"], "xe"),
    "sampled": ("node main(e: bool, x: f64 when e) -> (y: f64)\n  y = merge e (x + post x) (0.0 when not e);\n", [], "xe"),
}
EFFECT = "node seen(x: f64) -> (y: f64)\n", "  assert seen(0.5) == 0.5;\n"
MOVED = (-1, 1, 1 << 40)


def rows(columns, count):
    cells = {"x": lambda k: str(k * 7 % 5 / 2), "e": lambda k: "FTFFT"[k % 5]}
    if columns == "":
        return ""
    return ",".join(columns) + "\n" + "".join(",".join(cells[c](k) for c in columns) + "\n" for k in range(count))


def sampled_rows(count):
    return "e,x\n" + "".join("F,\n" if k % 3 == 0 else f"T,{k}\n" for k in range(count))


class Program:
    def __init__(self, folder, name):
        text, self.options, self.columns = PROGRAMS[name]
        self.rows = sampled_rows if name == "sampled" else lambda count: rows(self.columns, count)
        self.path, self.state = folder / name, folder / (name + ".state")
        source = folder / (name + ".rml")
        source.write_text(EFFECT[0] + text + EFFECT[1])
        seen = folder / "seen.o"
        subprocess.run(["cc", "-c", "-x", "c", "-", "-o", seen], input="void seen(double x, double* y) { *y = x; }\n",
                       text=True, check=True)
        subprocess.run([RMLC, "build", source, "-o", self.path, "--link", seen, *self.options], check=True,
                       stderr=subprocess.DEVNULL)

    def run(self, count, *options):
        cycles = ["--cycles", str(count)] if self.columns == "" else []
        return subprocess.run([self.path, *map(str, options), *cycles], input=self.rows(count), capture_output=True,
                              text=True, timeout=SECONDS)

    def save(self, count):
        done = self.run(count, "--save", self.state)
        assert done.returncode == 0, done.stderr
        return take_apart(self.state.read_bytes())

    def load(self, header, data):
        self.state.write_bytes(put_together(header, data))
        return self.run(4, "--load", self.state)


class Counts(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)

    def tearDown(self):
        self.place.cleanup()

    def refused(self, done, what):
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn("damaged: " + what, done.stderr)

    def test_more_cycles_than_a_unit_has_run(self):
        """Without the check this runs 2^46 instants before the first row."""
        program = Program(self.folder, "counter")
        header, data = program.save(5)
        header["__metadata__"]["cycle"] = str(1 << 46)
        self.refused(program.load(header, data), "'unit 0' counts 5, not 6 or more: all values that it waits for are present")
        program = Program(self.folder, "ahead")
        header, data = program.save(5)
        header["__metadata__"]["cycle"] = str(1 << 46)
        self.refused(program.load(header, data), f"what was put into 'queue x' counts 5, not {1 << 46}, one for each cycle")
        header["__metadata__"]["cycle"] = "5"
        self.assertEqual(program.load(header, data).returncode, 0)

    def test_fewer_cycles_than_a_unit_has_run(self):
        """Without the check no row is written before 2^46 further cycles."""
        program = Program(self.folder, "counter")
        header, data = program.save(5)
        header["__metadata__"].update(cycle="4", rows="4")
        self.refused(program.load(header, data), "'unit 0' counts 5, not 4 at most, the cycles")

    def test_every_count_in_turn(self):
        """Each count is determined by the others."""
        for name in PROGRAMS:
            program = Program(self.folder, name)
            header, data = program.save(9)
            again = program.load(header, data)
            self.assertEqual(again.returncode, 0, f"{name}: {again.stderr}")
            refused = 0
            for tensor, entry in header.items():
                if tensor == "__metadata__" or entry["dtype"] != "I64" or not tensor.startswith(("unit", "queue")):
                    continue
                if tensor.startswith("queue") and not tensor.endswith("counts"):
                    continue
                for at in range(*entry["data_offsets"], 8):
                    (number,) = struct.unpack("<q", data[at : at + 8])
                    for by in MOVED:
                        changed = bytearray(data)
                        changed[at : at + 8] = struct.pack("<q", number + by)
                        done = program.load(header, changed)
                        self.assertEqual((done.returncode, done.stdout), (1, ""), f"{name}, {tensor}, {number + by}")
                        self.assertIn("damaged: ", done.stderr)
                        refused += 1
            self.assertGreater(refused, 5, name)
            changed = json.loads(json.dumps(header))
            changed["__metadata__"]["identity"] = "0" * 16
            self.assertIn("laid out differently", program.load(changed, data).stderr)
            for key in ("cycle", "rows"):
                for by in MOVED:
                    changed = json.loads(json.dumps(header))
                    changed["__metadata__"][key] = str(int(header["__metadata__"][key]) + by)
                    self.assertEqual(program.load(changed, data).returncode, 1, f"{name}: {key} {by}")


unittest.main(verbosity=0)
