"""`rmlc build --mpi` makes programs for the mpirun of the installed MPI, or says which package to
install.

build_test.py RMLC [openmpi] [mpich]: the MPIs with which rmlc was built.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

RMLC, KNOWN = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
MPIRUN = pathlib.Path(__file__).resolve().with_name("mpirun")
SOURCE = "node main() -> (x: f64, n: i32)\n  x = normal([]);\n  n = 0 fby n + 1;\n"
FAKE_COMPILER = """#!/bin/sh
case $1 in
  -print-file-name=*) echo "${1#*=}" ;;
  *) exit 1 ;;
esac
"""


class Build(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "noise.rml").write_text(SOURCE, encoding="ascii")
        self.rows = self.run_it(RMLC, "run", "noise.rml", "--cycles", "5")

    def call(self, *command, path=None):
        environment = {**os.environ, "PATH": path} if path else None
        return subprocess.run(list(map(str, command)), cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, check=False)

    def run_it(self, *command):
        done = self.call(*command)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def refused(self, status, text, *command, path=None):
        done = self.call(*command, path=path)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(text, done.stderr)

    def test_programs_of_each_mpi(self):
        for mpi in KNOWN:
            with self.subTest(mpi=mpi):
                self.run_it(RMLC, "build", f"--mpi={mpi}", "noise.rml", "-o", "noise")
                self.assertEqual(self.run_it("./noise", "--cycles", "5"), self.rows)
                self.assertEqual(self.run_it(MPIRUN, mpi, "3", "./noise", "--cycles", "5"), self.rows)
                done = self.call(MPIRUN, mpi, "3", "./noise", "--cycles", "5", "--stats", "--output", "rows.csv")
                for rank in range(3):
                    self.assertIn(f"rank {rank} of 3 has sent ", done.stderr)
                self.assertEqual((self.folder / "rows.csv").read_text(), self.rows)

    def test_dealt_rows(self):
        """A program built for threads, and `rmlc run`. A program without sums needs the number
        of micro-batches in a step."""
        (self.folder / "dealt.rml").write_text("const n = 2;\n"
                                               "node main(end: bool, x: f64 dealt end by n) -> (y: f64)\n  y = x;\n")
        (self.folder / "in.csv").write_text("end,x\nT,1\nT,2\nF,3\nT,4\nT,5\nT,6\n")
        self.run_it(RMLC, "build", "--ranks", "dealt.rml", "-o", "dealt")
        for program in (["./dealt"], [RMLC, "run", "dealt.rml"]):
            for options, rows in (([], "1 2 3 4 5 6"), (["--ranks", "1"], "1 2 3 4 5 6"), (["--ranks", "2"], "1 3 4 6"),
                                  (["--ranks=3"], "1 3 4 6")):
                done = self.run_it(*program, "--input", "in.csv", "--quiet", *options)
                self.assertEqual(done.split(), ["y", *rows.split()])
        self.refused(2, "--key: the program is built for ranks", "./dealt", "--input", "in.csv", "--key", "k")
        self.refused(1, "a step on ranks has 1 to 65535 micro-batches, not 70000", RMLC, "build", "--ranks", "dealt.rml", "-D",
                     "n=70000", "-o", "other")
        self.refused(1, "the number of micro-batches in a step is not known", RMLC, "build", "--ranks", "dealt.rml", "-D",
                     "n=1+1", "-o", "other")
        self.refused(1, "--ranks: 'main' has no dealt inputs", RMLC, "build", "--ranks", "noise.rml", "-o", "other")
        self.assertFalse((self.folder / "other").exists())

    def test_show(self):
        """`show ranks` refuses programs without dealt inputs, and wrong options."""
        self.refused(1, "'main' has no dealt inputs", RMLC, "show", "ranks", "noise.rml")
        self.refused(2, "--ranks applies to show ranks only", RMLC, "show", "core", "noise.rml", "--ranks", "2")
        self.refused(2, "--ranks", RMLC, "show", "ranks", "noise.rml", "--ranks", "0")

    def test_any_mpi(self):
        if KNOWN:
            self.run_it(RMLC, "build", "--mpi", "noise.rml")
            self.assertEqual(self.run_it("./noise", "--cycles", "5"), self.rows)

    def test_no_mpi(self):
        """The compiler reports that it finds no MPI."""
        compiler = self.folder / "bin/cc"
        compiler.parent.mkdir()
        compiler.write_text(FAKE_COMPILER, encoding="ascii")
        compiler.chmod(0o755)
        path = f"{compiler.parent}:/usr/bin:/bin"
        for mpi, package in (("openmpi", "openmpi-bin"), ("mpich", "mpich")):
            text = f"install it (Debian: apt install {package})" if mpi in KNOWN else "this rmlc was built without"
            for asked in (f"--mpi={mpi}", "--mpi"):
                self.refused(1, text, RMLC, "build", asked, "noise.rml", "-o", "noise", path=path)
        self.refused(1, "no MPI was found for --mpi", RMLC, "build", "--mpi", "noise.rml", "-o", "noise", path=path)
        self.assertFalse((self.folder / "noise").exists())

    def test_wrong_options(self):
        self.refused(2, "lam not in {any,openmpi,mpich}", RMLC, "build", "--mpi=lam", "noise.rml")
        self.refused(2, "--mpi works with programs only, not with --emit obj", RMLC, "build", "--mpi", "noise.rml", "--emit",
                     "obj")
        self.refused(2, "--mpi cannot be combined with --parallel", RMLC, "build", "--mpi", "noise.rml", "--parallel")
        self.refused(2, "unknown option '--ranks'", RMLC, "run", "noise.rml", "--ranks", "2")
        self.refused(2, "--ranks works with programs only, not with --emit lib", RMLC, "build", "--ranks", "noise.rml", "--emit",
                     "lib")
        self.refused(2, "--ranks cannot be combined with --parallel", RMLC, "build", "--ranks", "noise.rml", "--parallel")
        self.refused(2, "--ranks is for threads and --mpi for processes", RMLC, "build", "--ranks", "--mpi", "noise.rml")
        self.refused(2, "--ranks cannot be combined with --engine reference", RMLC, "run", "noise.rml", "--engine", "reference",
                     "--ranks", "2")

    def test_state(self):
        for mpi in KNOWN:
            self.run_it(RMLC, "build", f"--mpi={mpi}", "noise.rml", "-o", "noise")
            self.run_it(MPIRUN, mpi, "3", "./noise", "--cycles", "3", "--save", "state", "--output", "rows.csv")
            rows = self.run_it(MPIRUN, mpi, "2", "./noise", "--cycles", "2", "--load", "state")
            self.assertEqual(self.rows.splitlines()[4:], rows.splitlines()[1:])


unittest.main(argv=[sys.argv[0], "-v"])
