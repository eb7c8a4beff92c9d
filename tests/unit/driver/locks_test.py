"""A run locks the files that it writes. A second run that would write one of them is refused,
with the first one's name. Run by ctest: locks_test.py RMLC.

Runs are kept alive by an input that does not end; a row in their output shows that they have
begun."""

import os
import signal
import subprocess
import sys
import time
import unittest

from in_folder import InFolder

RMLC = sys.argv.pop(1)
SUM = "node main(x: f64) -> (y: f64)\n  y = x + (0.0 fby y);\n"
DEALT = "node main(end: bool, x: f64 dealt end by 2) -> (y: f64)\n  y = 2.0 * x;\n"


class Locks(InFolder):
    files = {"sum.rml": SUM, "x.csv": "x\n1\n2\n3\n"}

    def setUp(self):
        super().setUp()
        self.running = []
        self.build("sum")

    def tearDown(self):
        for process in self.running:
            process.kill()
            process.wait()
            process.stdin.close()
        super().tearDown()

    def build(self, name, *options):
        subprocess.run([RMLC, "build", f"{name}.rml", "-o", name, *options], cwd=self.folder, check=True)

    def call(self, *command, **options):
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60, **options)

    def start(self, *command, text="x\n1\n", **options):
        """A run that has read the text and waits for more."""
        process = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.running.append(process)
        process.stdin.write(text)
        process.stdin.flush()
        return process

    def wait_for(self, what):
        for _ in range(600):
            if what():
                return
            time.sleep(0.05)
        self.fail("the run does not begin")

    def wait_for_file(self, name):
        self.wait_for(lambda: (self.folder / name).exists() and (self.folder / name).stat().st_size > 0)

    def finish(self, process, text="2\n3\n"):
        _, said = process.communicate(text, timeout=60)
        self.assertEqual((process.returncode, said), (0, ""))

    def content(self):
        return {p.name: p.read_bytes() for p in self.folder.iterdir() if p.is_file()}

    def refused(self, process, name, *command):
        before = {}
        while before != self.content():  # waits until the first run has written its rows
            before = self.content()
            time.sleep(0.1)
        done = self.call(*command)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"cannot write '{name}': process {process.pid} is writing it", done.stderr)
        self.assertEqual(self.content(), before)

    def left(self):
        return [p.name for p in self.folder.iterdir() if p.name.startswith(".")]

    def test_the_same_command_again(self):
        command = ("./sum", "--output", "o.csv", "--resume", "s", "--save-every", "1")
        first = self.start(*command)
        self.wait_for_file("s")
        for lines in (3, 4):  # the state is replaced
            first.stdin.write("1\n")
            first.stdin.flush()
            self.wait_for(lambda: (self.folder / "o.csv").read_text().count("\n") == lines)
        time.sleep(0.2)
        self.refused(first, "s", *command, "--input", "x.csv")
        self.refused(first, "o.csv", "./sum", "--input", "x.csv", "--output", "o.csv")
        self.refused(first, "s", "./sum", "--input", "x.csv", "--load", "s", "--save", "s")
        first.send_signal(signal.SIGSTOP)
        self.refused(first, "s", *command, "--input", "x.csv")
        first.send_signal(signal.SIGCONT)
        self.finish(first)
        self.assertEqual((self.folder / "o.csv").read_text(), "y\n1\n2\n3\n5\n8\n")
        self.assertEqual(self.left(), [])

    def test_a_state_that_is_not_there_yet(self):
        first = self.start("./sum", "--output", "o.csv", "--resume", "s")
        self.wait_for((self.folder / "o.csv").exists)
        self.refused(first, "s", "./sum", "--input", "x.csv", "--resume", "s", "--output", "other.csv")
        self.refused(first, "s", "./sum", "--input", "x.csv", "--save", "s")
        self.finish(first)
        self.assertEqual(self.left(), [])

    def test_a_run_that_was_killed(self):
        command = ("./sum", "--output", "o.csv", "--resume", "s", "--save-every", "1")
        first = self.start(*command)
        self.wait_for_file("s")
        first.kill()
        first.wait()
        done = self.call(*command, "--input", "x.csv")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((self.folder / "o.csv").read_text(), "y\n1\n3\n6\n")
        self.assertEqual(self.left(), [])

    def test_what_else_is_written(self):
        self.write("watched.rml", "node main(x: f64) -> (y: f64)\n  z = x + 1.0;\n  y = z + (0.0 fby y);\n")
        self.build("watched", "--watch", "z")
        for option, name, more in (("--watch-file", "w.txt", ("--watch", "z")), ("--save", "s", ()),
                                   ("--output", "o.csv.gz", ()), ("--output", "o.npy", ()), ("--output", "o.jsonl", ())):
            with self.subTest(option=option):
                first = self.start("./watched", option, name, *more, "--output" if option != "--output" else "--cycles",
                                   "begun.csv" if option != "--output" else "9")
                names = (f".{name}.rmllock", name)
                self.wait_for(lambda: any((self.folder / n).exists() for n in names))
                self.refused(first, name, "./watched", "--input", "x.csv", option, name, *more)
                self.finish(first)
                self.assertEqual(self.left(), [])

    def test_by_another_name(self):
        first = self.start("./sum", "--output", "o.csv")
        self.wait_for((self.folder / "o.csv").exists)
        (self.folder / "link.csv").symlink_to("o.csv")
        os.link(self.folder / "o.csv", self.folder / "same.csv")
        for name in ("./o.csv", "link.csv", "same.csv", f"{self.folder}/o.csv"):
            self.refused(first, name, "./sum", "--input", "x.csv", "--output", name)
        self.finish(first)

    def test_runs_of_other_kinds(self):
        self.write("dealt.rml", DEALT)
        self.build("dealt", "--ranks")
        self.write("dealt.csv", "end,x\n" + "F,1\nT,1\n" * 4)
        done = self.call("./dealt", "--input", "dealt.csv", "--ranks", "2", "--resume", "s", "--output", "o.csv", "--quiet")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        (self.folder / "o.csv").unlink()
        (self.folder / "s").unlink()
        self.build("sum", "--parallel")
        network = self.start("./sum", "--save", "s", "--output", "o.csv")
        self.wait_for((self.folder / "o.csv").exists)
        self.refused(network, "s", "./sum", "--input", "x.csv", "--save", "s")
        self.finish(network)
        self.build("sum")
        keyed = self.start("./sum", "--key", "k", "--resume", "t", "--output", "p.csv", text="k,x\na,1\n")
        self.wait_for((self.folder / "p.csv").exists)
        self.write("k.csv", "k,x\na,1\n")
        self.refused(keyed, "t", "./sum", "--key", "k", "--resume", "t", "--output", "p.csv", "--input", "k.csv")
        self.finish(keyed, "a,2\n")
        memory = self.start(RMLC, "run", "sum.rml", "--output", "q.csv")
        self.wait_for((self.folder / "q.csv").exists)
        self.refused(memory, "q.csv", RMLC, "run", "sum.rml", "--input", "x.csv", "--output", "q.csv")
        self.finish(memory)

    def test_what_is_not_locked(self):
        # Input files, other files, and standard output, which a shell may open for several
        # programs.
        with open(self.folder / "all.csv", "w") as all_rows:
            runs = [self.start("./sum", "--format", "csv", "--output", name, stdout=all_rows) for name in ("/dev/stdout", "-", "own.csv", "/dev/null", "/dev/null")]
            self.wait_for((self.folder / "own.csv").exists)
            done = self.call("./sum", "--input", "x.csv", "--output", "read.csv")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for run in runs:
                self.finish(run)
        # The test keeps both ends of the named pipe open: a run that starts late finds a reader
        # although the other run has ended. The rows of both fit into the pipe.
        os.mkfifo(self.folder / "pipe.csv")
        pipe = os.open(self.folder / "pipe.csv", os.O_RDWR)
        runs = [self.start("./sum", "--output", "pipe.csv") for _ in range(2)]
        for run in runs:
            self.finish(run)
        self.assertEqual(sorted(os.read(pipe, 65536).split()), sorted(b"y 1 3 6".split() * 2))
        os.close(pipe)

    def test_a_file_of_the_name_of_a_lock(self):
        self.write(".s.rmllock", "mine")
        done = self.call("./sum", "--input", "x.csv", "--save", "s")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((self.folder / ".s.rmllock").read_text(), "mine")

    def test_a_run_that_fails(self):
        self.write("x.csv", "x\n1\nnone\n")
        done = self.call("./sum", "--input", "x.csv", "--save", "s", "--output", "o.csv")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.left(), [])


if __name__ == "__main__":
    unittest.main()
