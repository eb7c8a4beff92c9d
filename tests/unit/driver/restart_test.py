"""A run with --load destroys no rows: it continues the outputs that the state names, and refuses others.

Run by ctest: restart_test.py RMLC."""

import gzip
import pathlib
import subprocess
import sys
import unittest

from in_folder import InFolder

RMLC = pathlib.Path(sys.argv.pop(1))
SUM = """node main(x: f64) -> (y: f64)
  y = x + (0.0 fby y);
"""
WAITING = """node main(end: bool, x: f64) -> (mean: f64)
  sum = fby_end(end, 0.0, sum) + x;
  mean = backfill(sum, end);
"""
ONE, TWO, BOTH = "x\n1\n2\n", "x\n3\n4\n", "y\n1\n3\n6\n10\n"


class Restart(InFolder):
    files = {"sum.rml": SUM, "waiting.rml": WAITING, "one.csv": ONE, "two.csv": TWO}

    def call(self, *arguments, program="sum.rml", **more):
        return subprocess.run([RMLC, "run", program, *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=120, **more)

    def right(self, *arguments, err="", **more):
        done = self.call(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, err), arguments)

    def refused(self, words, *arguments, status=1, **more):
        before = {p.name: p.read_bytes() for p in self.folder.iterdir() if p.is_file()}
        done = self.call(*arguments, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertEqual({p.name: p.read_bytes() for p in self.folder.iterdir() if p.is_file()}, before)

    # What was written after the state was saved is written again.
    def test_an_output_of_the_state_continues(self):
        for name in ("o.csv", "o.jsonl", "o.npy", "o.csv.gz"):
            self.write("all.csv", "x\n1\n2\n3\n4\n")
            self.right("--input", "all.csv", "--output", "whole." + name)
            self.right("--input", "one.csv", "--output", name, "--save", "s")
            if not name.endswith("gz"):
                with open(self.folder / name, "ab") as file:
                    file.write(b"99\n1")
            for _ in range(2):
                self.right("--input", "two.csv", "--output", name, "--load", "s")
                read = gzip.decompress if name.endswith("gz") else bytes
                self.assertEqual(read((self.folder / name).read_bytes()),
                                 read((self.folder / ("whole." + name)).read_bytes()), name)

    def test_rows_that_waited(self):
        self.write("first.csv", "end,x\nT,1\nF,2\n")
        self.write("rest.csv", "end,x\nT,3\n")
        arguments = ("--output", "o.csv", "--save", "s", "--quiet")
        self.right("--input", "first.csv", *arguments, program="waiting.rml")
        self.right("--input", "rest.csv", *arguments, "--load", "s", program="waiting.rml")
        self.assertEqual(self.read("o.csv"), "mean\n1\n5\n5\n")

    def test_other_files_are_not_overwritten(self):
        self.right("--input", "one.csv", "--output", "o.csv", "--save", "s")
        self.write("other.csv", "precious\n")
        load = ("--input", "two.csv", "--load", "s")
        self.refused("'other.csv' is not empty, and the state 's' does not say where to continue it: give another file, "
                     "--append to write after its rows, or --overwrite to replace it", *load, "--output", "other.csv")
        self.write("other.npz", "precious\n")
        self.refused("'other.npz' is not empty", *load, "--output", "other.npz")
        self.right(*load, "--output", "other.csv", "--overwrite")
        self.assertEqual(self.read("other.csv"), "y\n6\n10\n")
        # --overwrite does not discard the rows of a file that the state names.
        self.right(*load, "--output", "o.csv", "--overwrite")
        self.assertEqual(self.read("o.csv"), BOTH)
        # Files without rows, and new files, are written.
        self.write("empty.csv", "")
        self.right(*load, "--output", "empty.csv")
        self.right(*load, "--output", "new.csv")
        self.assertEqual(self.read("empty.csv"), self.read("new.csv"))
        # A run without --load overwrites.
        self.right("--input", "one.csv", "--output", "other.csv")
        self.assertEqual(self.read("other.csv"), "y\n1\n3\n")

    def test_an_output_that_has_changed(self):
        self.right("--input", "one.csv", "--output", "o.csv", "--save", "s")
        load = ("--input", "two.csv", "--load", "s", "--output", "o.csv")
        self.write("o.csv", "y\n1\n")
        self.refused("it has 4 bytes, but 6 had been written when the state was saved", *load)
        self.write("o.csv", "y\n1\n33\n4\n")
        self.refused("no row ends after its first 6 bytes", *load)
        self.write("o.csv", "z\n1\n3\n")
        self.refused("its header is 'z', but this run writes the columns 'y'", *load)
        # A file that was moved away begins again.
        (self.folder / "o.csv").rename(self.folder / "old.csv")
        self.right(*load)
        self.assertEqual(self.read("o.csv"), "y\n6\n10\n")

    def test_the_first_run_of_a_service(self):
        service = ("--load", "live", "--save", "live", "--output", "o.csv")
        note = "--load: 'live' does not exist, so the run begins at the beginning\n"
        self.write("o.csv", "precious\n")
        self.refused("'o.csv' is not empty, and there is no state 'live' that says where to continue it", "--input",
                     "one.csv", *service)
        (self.folder / "o.csv").unlink()
        self.right("--input", "one.csv", *service, err=note)
        self.right("--input", "two.csv", *service)
        self.assertEqual(self.read("o.csv"), BOTH)
        self.refused("cannot read 'none'", "--input", "one.csv", "--load", "none", "--output", "new.csv")
        # A run that stops before its first save leaves a state with which the same command begins again.
        (self.folder / "live").unlink()
        (self.folder / "o.csv").unlink()
        self.write("bad.csv", "x\n1\n2\nthree\n")
        done = self.call("--input", "bad.csv", *service, "--quiet")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.read("o.csv"), "y\n1\n3\n")
        self.right("--input", "one.csv", *service)
        self.assertEqual(self.read("o.csv"), "y\n1\n3\n")

    def test_keys(self):
        self.write("k1.csv", "m,x\na,1\nb,2\n")
        self.write("k2.csv", "x,m\n3,b\n4,c\n")
        service = ("--key", "m", "--load", "live", "--save", "live", "--output", "y=o.csv", "--quiet")
        self.right("--input", "k1.csv", *service)
        self.right("--input", "k2.csv", *service)
        self.assertEqual(self.read("o.csv"), "m,y\na,1\nb,2\nb,5\nc,4\n")
        (self.folder / "live").unlink()
        self.refused("'o.csv' is not empty", "--input", "k1.csv", *service)
        self.right("--input", "k1.csv", *service, "--append")
        self.assertEqual(self.read("o.csv"), "m,y\na,1\nb,2\nb,5\nc,4\na,1\nb,2\n")

    def test_append(self):
        for name in ("o.csv", "o.jsonl", "o.npy", "o.csv.gz"):
            for option in (["--output", name + "?append"], ["--output", name, "--append"]):
                for source in ("one.csv", "two.csv"):
                    self.right("--input", source, *option)
                data = (self.folder / name).read_bytes()
                if name == "o.csv":
                    self.assertEqual(data, b"y\n1\n3\n3\n7\n")
                if name == "o.jsonl":
                    self.assertEqual(data.count(b"\n"), 4)
                if name == "o.npy":
                    self.assertIn(b"'shape': (4,)", data)
                if name == "o.csv.gz":
                    self.assertEqual(gzip.decompress(data), b"y\n1\n3\n3\n7\n")
                (self.folder / name).unlink()

    # A killed run may have left half a row, or half a header.
    def test_append_after_half_a_row(self):
        for before, after in (("y\n1\n2", "y\n1\n3\n7\n"), ("y", "y\n3\n7\n"), ("", "y\n3\n7\n")):
            self.write("o.csv", before)
            self.right("--input", "two.csv", "--output", "o.csv?append")
            self.assertEqual(self.read("o.csv"), after)
        self.write("o.csv", "note,y\n\"a\nb\",1\n\"c\nd")
        self.write("notes.csv", "note,x\ne,5\n")
        self.right("--input", "notes.csv", "--output", "o.csv", "--append", "--keep", "note")
        self.assertEqual(self.read("o.csv"), "note,y\n\"a\nb\",1\ne,5\n")
        self.right("--input", "one.csv", "--output", "o.npy")
        with open(self.folder / "o.npy", "ab") as file:
            file.write(b"half")
        self.right("--input", "two.csv", "--output", "o.npy?append")
        self.assertIn(b"'shape': (4,)", (self.folder / "o.npy").read_bytes())

    def test_append_refuses(self):
        self.write("o.csv", "z\n1\n")
        self.refused("its header is 'z', but this run writes the columns 'y'", "--input", "one.csv", "--output",
                     "o.csv?append")
        whole = gzip.compress(b"y\n1\n2\n")
        (self.folder / "o.csv.gz").write_bytes(whole[:-10])
        self.refused("cannot append to 'o.csv.gz'", "--input", "one.csv", "--output", "o.csv.gz?append")
        (self.folder / "o.csv.gz").write_bytes(gzip.compress(b"y\n1\n2"))
        self.refused("its compressed rows end within a row", "--input", "one.csv", "--output", "o.csv.gz?append")
        self.right("--input", "one.csv", "--output", "o.npy")
        data = (self.folder / "o.npy").read_bytes()
        (self.folder / "o.npy").write_bytes(data.replace(b"<f8", b"<f4"))
        self.refused("not an array of f64 that a run has written", "--input", "one.csv", "--output", "o.npy?append")
        for name in ("o.npz", "o.chron"):
            self.refused("has a format that is written when the run ends", "--input", "one.csv", "--output",
                         name + "?append", status=2)
        self.refused("--append: no output is a file", "--input", "one.csv", "--append", status=2)
        self.refused("?append: '-' is not a file", "--input", "one.csv", "--output", "-?append", status=2)
        self.refused("--resume: it continues 'n.csv' at the saved row", "--input", "one.csv", "--output", "n.csv?append",
                     "--resume", "s", status=2)
        self.refused("--overwrite requires --load", "--input", "one.csv", "--output", "n.csv", "--overwrite", status=2)

    def test_parameters_of_files(self):
        self.refused("--output o.csv?presnt: unknown parameter 'presnt'; did you mean 'present'?", "--input", "one.csv",
                     "--output", "o.csv?presnt", status=2)
        self.refused("'append' has no meaning here: it is for outputs", "--input", "one.csv?append", status=2)
        self.refused("'append' has no meaning here: it is for files", "--input", "one.csv", "--output",
                     "unix://s?append", status=2)
        self.refused("'append' takes no value", "--input", "one.csv", "--output", "o.csv?append=1", status=2)
        self.refused("has no meaning here", "--input", "one.csv", "--output", "o.csv?qos=1", status=2)
        # A question mark that belongs to a name.
        self.write("a?b.csv", ONE)
        self.right("--input", "a?b.csv", "--output", "c?d?", "--format", "csv")
        self.assertEqual(self.read("c?d"), "y\n1\n3\n")


if __name__ == "__main__":
    unittest.main()
