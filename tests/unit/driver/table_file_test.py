"""Parquet and Arrow files as inputs: the child process that reads them. Its place is taken by shell scripts here, so no
PyArrow is needed; python/tests/test_table_files.py reads real files.

    table_file_test.py RMLC
"""

import os
import pathlib
import signal
import subprocess
import sys
import unittest

from in_folder import InFolder

RMLC = pathlib.Path(sys.argv.pop(1)).resolve()
PROGRAM = "node main(x: f64, v: f32[2, 1], b: bool, w: f64 when b) -> (y: f64, s: f32)\n  y = x;\n  s = sum(v);\n"
ROWS = 'printf \'"day","x","v[0,0]","v[1,0]","b","w","rest"\\n"mo, 1",1.5,1,2,true,4,\\n"tu",2,3,4,false,,\\n\'\n'


class TableFile(InFolder):
    def setUp(self):
        super().setUp()
        (self.folder / "main.rml").write_text(PROGRAM)
        (self.folder / "bin").mkdir()
        (self.folder / "x.parquet").write_bytes(b"PAR1")
        self.environment = dict(os.environ, PATH=f"{self.folder}/bin:{os.environ['PATH']}")

    def python(self, script):
        """Makes the script the first python3 of PATH."""
        path = self.folder / "bin" / "python3"
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)

    def run_with(self, *options, source="x.parquet", command=(RMLC, "run", "main.rml")):
        return subprocess.run([*command, "--input", source, *options], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True, timeout=60)  # fmt: skip

    def refused(self, done, status, *words):
        self.assertEqual(done.returncode, status, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def gone(self):
        """The child has ended, and its parent has waited for it."""
        return not pathlib.Path("/proc", (self.folder / "pid").read_text().strip()).exists()

    def test_rows_and_arguments(self):
        self.python(ROWS + 'shift 2; for word in "$@"; do echo "<$word>"; done > words\n')
        for suffix in ("parquet", "arrow", "feather"):
            source = self.folder / f"x.{suffix}"
            source.write_bytes(b"PAR1")
            done = self.run_with("--keep", "day", source=source.name)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout, 'day,y,s\n"mo, 1",1.5,3\ntu,2,7\n')
            self.assertEqual((self.folder / "words").read_text(),
                             f"<x.{suffix}>\n<x>\n<>\n<v>\n<2,1>\n<b>\n<>\n<w>\n<>\n<day>\n<>\n")
        # The separator of CSV files does not matter, and each epoch reads the file again.
        done = self.run_with("--delimiter", ";", "--epochs", "2")
        self.assertEqual(done.stdout, "y,s\n" + 2 * "1.5,3\n2,7\n")

    def test_built_programs(self):
        self.python(ROWS)
        self.assertEqual(subprocess.run([RMLC, "build", "main.rml", "-o", "main"], cwd=self.folder).returncode, 0)
        self.assertEqual(self.run_with(command=("./main",)).stdout, "y,s\n1.5,3\n2,7\n")

    def test_errors_of_the_child(self):
        for script, words in [
            ("echo 'column it is wrong' | tr -d '\\n' >&2; exit 3", ["x.parquet: column it is wrong"]),
            ("echo 'No module' >&2; exit 4", ["x.parquet: Parquet and Arrow files are read with PyArrow", "pip install pyarrow"]),
            ("printf 'Traceback\\nNameError: n\\n' >&2; exit 1", ["has ended with exit status 1: NameError: n"]),
            ("exit 1", ["has ended with exit status 1\n"]),
            (ROWS + "kill -9 $$", ["has been ended by signal 9"]),
            (ROWS + "exit 3", ["x.parquet: "]),
            ("printf 'x,y\\n1,2\\n'", ["x.parquet:1: no column 'v[0,0]' for input 'v' (f32[2,1], columns v[0,0] to v[1,0])"]),
        ]:
            with self.subTest(script=script):
                self.python(script + "\n")
                done = self.run_with()
                self.refused(done, 1, *words)
                # The rows before the error are written.
                self.assertEqual(done.stdout, "y,s\n1.5,3\n2,7\n" if script.startswith("printf '\"day") else "")

    def test_no_python(self):
        self.environment["PATH"] = str(self.folder / "bin")
        self.refused(self.run_with(), 1, "x.parquet: ", "PATH has no python3", "pip install pyarrow")

    def test_a_run_that_needs_no_more_rows(self):
        self.python("echo $$ > pid\n" + ROWS + "while :; do echo '\"we\",3,5,6,true,1,'; done\n")
        done = self.run_with("--cycles", "3")
        self.assertEqual((done.returncode, done.stdout), (0, "y,s\n1.5,3\n2,7\n3,11\n"))
        self.assertTrue(self.gone())

    def test_a_signal(self):
        self.python("echo $$ > pid\n" + ROWS + "echo > ready; exec sleep 60\n")
        running = subprocess.Popen([RMLC, "run", "main.rml", "--input", "x.parquet"], cwd=self.folder, env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
        # The run flushes its rows before it waits for more.
        self.assertEqual([running.stdout.readline() for _ in range(3)], ["y,s\n", "1.5,3\n", "2,7\n"])
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
        self.assertEqual(running.returncode, 130)
        self.assertTrue(self.gone())

    def test_refused(self):
        self.python(ROWS)
        (self.folder / "folder.parquet").mkdir()
        self.refused(self.run_with(source="none.arrow"), 1, "cannot open 'none.arrow'")
        self.refused(self.run_with(source="folder.parquet"), 1, "folder.parquet", "it is a directory")
        os.mkfifo(self.folder / "pipe.arrow")
        self.refused(self.run_with(source="pipe.arrow"), 1, "cannot read 'pipe.arrow'", "must be a regular file")
        self.refused(self.run_with(source="x.parquet.gz"), 2, "x.parquet.gz", "gunzip it")
        self.refused(self.run_with("--shuffle", "--epochs", "2"), 2, "--shuffle: 'x.parquet'", "pyarrow.csv.write_csv")
        self.refused(self.run_with("--output", "y.feather"), 2, "--output y.feather", "pyarrow.parquet.write_table")


if __name__ == "__main__":
    unittest.main()
