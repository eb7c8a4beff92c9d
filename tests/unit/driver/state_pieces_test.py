"""A run in two pieces, the second of which loads the state of the first, writes the rows of
one run: at every split, on every engine. Damaged states of programs that run on demand are
refused: state_pieces_test.py RMLC."""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import programs_in_pieces
from programs_in_pieces import ON_DEMAND, ROWS, STATIC, Program, table
from saved_states import put_together, take_apart

RMLC = programs_in_pieces.RMLC = sys.argv.pop(1)
ENGINES = {"-O0": ["-O0"], "-O3": ["-O3"], "network": ["--parallel"]}

class Pieces(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)

    def tearDown(self):
        self.place.cleanup()

    def check(self, texts, engines):
        for name, text in texts.items():
            for engine in engines:
                program = Program(self.folder, text, ENGINES[engine])
                whole = program.rows(0, ROWS)
                self.assertGreater(len(whole), 4, name)
                for split in range(ROWS + 1):
                    with self.subTest(program=name, engine=engine, split=split):
                        first = program.rows(0, split, "--save", program.state)
                        self.assertEqual(first + program.rows(split, ROWS, "--load", program.state), whole)

    def test_with_a_schedule(self):
        self.check(STATIC, ENGINES)

    def test_on_demand(self):
        self.check(ON_DEMAND, ["-O0", "-O3"])

    def test_on_demand_is_what_these_need(self):
        for name, text in ON_DEMAND.items():
            source = self.folder / "p.rml"
            source.write_text(text)
            shown = subprocess.run([RMLC, "show", "schedule", source], capture_output=True, text=True, check=True).stdout
            self.assertTrue(shown.startswith("on demand: "), name)

    def test_in_many_pieces(self):
        """Each piece begins with the state of the one before."""
        for name, text in ON_DEMAND.items():
            program = Program(self.folder, text, ["-O1"])
            whole, got = program.rows(0, ROWS), []
            for first in range(0, ROWS, 3):
                load = ["--load", program.state] if first > 0 else []
                got += program.rows(first, first + 3, *load, "--save", program.state)
            self.assertEqual(got, whole, name)

    def test_saved_after_a_long_time(self):
        """Values that are no longer needed were dropped many times, so the state is as small
        as after a few rows."""
        program = Program(self.folder, ON_DEMAND["held"], ["-O1"])
        lines = table(program.names, 0, ROWS).splitlines()
        source = self.folder / "long.csv"
        source.write_text("\n".join(lines[:1] + lines[1:] * 400) + "\n")
        done = program.run(0, 0, "--input", source, "--save", program.state)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(program.state.stat().st_size, 4096)
        again = program.rows(0, ROWS, "--load", program.state)
        source.write_text("\n".join(lines[:1] + lines[1:] * 401) + "\n")
        longer = program.run(0, 0, "--input", source).stdout.splitlines()[1:]
        self.assertEqual(again, longer[len(done.stdout.splitlines()) - 1 :])


class Damaged(unittest.TestCase):
    """Damaged states of programs that run on demand."""

    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.program = Program(pathlib.Path(self.place.name), ON_DEMAND["at times"], ["-O1"])
        self.rows = next(n for n in range(8, ROWS) if len(self.program.rows(0, n)) < n - 2)
        self.program.rows(0, self.rows, "--save", self.program.state)
        self.header, self.data = take_apart(self.program.state.read_bytes())

    def tearDown(self):
        self.place.cleanup()

    def refused(self, header, data, what="damaged: "):
        self.program.state.write_bytes(put_together(header, data))
        done = self.program.run(self.rows, ROWS, "--load", self.program.state)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn(what, done.stderr)

    def changed(self):
        return json.loads(json.dumps(self.header)), bytearray(self.data)

    def test_numbers(self):
        moved = 0
        for key in ("cycle", "rows", "begins"):
            for by in (-1, 1, 1 << 40, 1 << 61):
                header, data = self.changed()
                number = int(header["__metadata__"][key]) + by
                if number < 0:
                    continue
                header["__metadata__"][key] = str(number)
                self.refused(header, data)
                moved += 1
        self.assertGreater(moved, 9)

    def test_cycles_of_inputs(self):
        for name in ("input x at", "input q at"):
            begin, end = self.header[name]["data_offsets"]
            self.assertGreater(end, begin + 8)
            for at in range(begin, end, 8):
                (number,) = struct.unpack("<q", self.data[at : at + 8])
                for value in (number - 1, number + 1, -1, 1 << 40):
                    header, data = self.changed()
                    data[at : at + 8] = struct.pack("<q", value)
                    self.refused(header, data)

    def test_a_row_that_is_known_already(self):
        header, data = self.changed()
        header["__metadata__"]["rows"] = header["__metadata__"]["begins"]
        known = int(self.header["__metadata__"]["rows"])
        if known > int(header["__metadata__"]["rows"]):
            self.refused(header, data, f"'rows' counts {header['__metadata__']['begins']}, not {known}")

    def test_what_is_needed_and_not_there(self):
        """A missing value is reported when it is requested."""
        program = Program(pathlib.Path(self.place.name), ON_DEMAND["delayed"], ["-O1"])
        program.rows(0, 9, "--save", program.state)
        header, data = take_apart(program.state.read_bytes())
        self.assertNotEqual(header["__metadata__"]["begins"], "0")
        name = "before x"
        header["__metadata__"]["open"] = json.dumps([name])
        begin, end = header.pop(name)["data_offsets"]
        del data[begin:end]
        for entry in header.values():
            if "data_offsets" in entry and entry["data_offsets"][0] >= end:
                entry["data_offsets"] = [at - (end - begin) for at in entry["data_offsets"]]
        program.state.write_bytes(put_together(header, data))
        done = program.run(9, ROWS, "--load", program.state)
        self.assertEqual((done.returncode, done.stdout.splitlines()[1:]), (1, []), done.stderr)
        self.assertIn("the state that this run started with lacks a value that is needed: 'before x'", done.stderr)

    def test_another_program(self):
        program = Program(pathlib.Path(self.place.name), ON_DEMAND["held"], ["-O1"])
        done = program.run(self.rows, ROWS, "--load", self.program.state)
        self.assertEqual(done.returncode, 1)


unittest.main(verbosity=0)
