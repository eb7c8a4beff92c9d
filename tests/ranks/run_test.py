"""A program with dealt rows must compute the same on any number of ranks, and ranks must end
together and name the cause.

run_test.py FOLDER [threads|openmpi|mpich] [--kills N]: FOLDER contains the programs
trainer_threads, trainer_openmpi and trainer_mpich (tests/ranks/trainer.cc). NumPy computes the
learned values.
"""

import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "micro_batches"))
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from processes import catches
from tree_sum import tree_sum

FOLDER, TRANSPORT = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
KILLS = int(sys.argv[sys.argv.index("--kills") + 1]) if "--kills" in sys.argv else 4
PROGRAM = FOLDER / f"trainer_{TRANSPORT}"
MPIRUN = pathlib.Path(__file__).resolve().with_name("mpirun")
PER_STEP = 8
SLOW, SLOWER = {"TRAINER_DELAY": "3000"}, {"TRAINER_DELAY": "20000"}  # microseconds by which each cycle is delayed
PATIENCE = 60


def command(ranks, *arguments):
    if TRANSPORT == "threads":
        return [PROGRAM, "--ranks", str(ranks), *arguments]
    return [MPIRUN, TRANSPORT, str(ranks), PROGRAM, *arguments]


def table(seed, micro_batches, tail=0):
    """Rows of micro-batches with one to four rows, and some rows after the last end."""
    draw = random.Random(seed)
    rows = []
    for size in [draw.randint(1, 4) for _ in range(micro_batches)] + [tail + 1]:
        for k in range(size):
            x = [draw.uniform(-1, 1) for _ in range(4)]
            rows.append((k + 1 == size, x, x[0] - 2 * x[1] + x[3] / 2 + draw.uniform(-0.1, 0.1)))
    return rows[:-1]


def write(path, rows):
    lines = [",".join(["T" if end else "F", *map(repr, x), repr(t)]) for end, x, t in rows]
    path.write_text("\n".join(["end,x[0],x[1],x[2],x[3],t", *lines]) + "\n", encoding="ascii")


def half(row):
    h = (row ^ (row >> 33)) * 0xFF51AFD7ED558CCD % 2**64
    return (h ^ (h >> 33)) & 1


def learnt(rows):
    """The weights after all steps, in the order of additions of runtime/ranks/tree.h."""
    weights, gradient, gradients = np.zeros(4), np.zeros(4), []

    def step():
        nonlocal weights
        if gradients:
            weights = weights - 0.01 * tree_sum(gradients + [None] * (PER_STEP - len(gradients)))
        gradients.clear()

    for number, (end, x, t) in enumerate(rows):
        x = np.array(x) * (0.5 if half(number) else 1.0)
        y = 0.0
        for i in range(4):
            y += weights[i] * x[i]
        gradient = gradient + (y - t) * x
        if end:
            gradients.append(gradient)
            gradient = np.zeros(4)
            if len(gradients) == PER_STEP:
                step()
    step()
    return weights


def state(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8:8 + size])
    begin, end = head["weights"]["data_offsets"]
    return np.frombuffer(data[8 + size + begin:8 + size + end]), head["__metadata__"]


def processes(watches=False):
    """The processes of the program, in the order of their start; or the processes that watch
    them."""
    found = subprocess.run(["pgrep", "-f", f"^{PROGRAM} "], capture_output=True, text=True, check=False).stdout
    return sorted(pid for pid in map(int, found.split()) if is_watch(pid) == watches)


def is_watch(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="ascii").strip() == "rank watch"
    except (FileNotFoundError, ProcessLookupError):
        return None


def is_known(pid):
    """True if the process has the abstract socket of a rank."""
    names = pathlib.Path("/proc/net/unix").read_text(encoding="ascii", errors="replace")
    return re.search(rf"@rml-rank-\d+-{pid}$", names, re.M) is not None


class Ranks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.rows = table(1, 203)
        write(self.folder / "in.csv", self.rows)

    def start(self, ranks, *arguments, environment=None):
        return subprocess.Popen(command(ranks, "--input", "in.csv", "--output", "out.csv", *arguments), cwd=self.folder,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env={**os.environ, **(environment or {})})

    def until(self, condition):
        begin = time.monotonic()
        while not condition():
            self.assertLess(time.monotonic() - begin, PATIENCE)
            time.sleep(0.05)

    def running(self, count):
        """Waits until `count` ranks run and, with MPI, are known to the watchers. A process that has just been forked
        to watch looks like a rank; and a rank that is killed before it is known could not be named."""
        ranks = []

        def complete():
            ranks[:] = [pid for pid in processes() if TRANSPORT == "threads" or is_known(pid)]
            return len(ranks) >= count

        self.until(complete)
        return ranks

    def finish(self, process):
        output = process.communicate(timeout=PATIENCE)[0]
        return process.returncode, output

    def run_well(self, ranks, *arguments):
        status, output = self.finish(self.start(ranks, *arguments))
        self.assertEqual(status, 0, output)
        return output

    def refused(self, ranks, *arguments, environment=None):
        status, output = self.finish(self.start(ranks, *arguments, environment=environment))
        self.assertNotEqual(status, 0, output)
        return output

    def rows_of_rank_0(self, ranks=None):
        """The rows of rank 0 in the last run, or in a run on a number of ranks."""
        if ranks:
            self.run_well(ranks)
        return (self.folder / "out.csv").read_text().splitlines()

    def check_state(self, rows=None):
        np.testing.assert_array_equal(state(self.folder / "state")[0], learnt(rows or self.rows))

    # ---- the same bits

    def test_any_number_of_ranks(self):
        for ranks in (1, 2, 3, 4, 8, 9):
            with self.subTest(ranks=ranks):
                self.run_well(ranks, "--save", "state")
                self.check_state()
                self.assertEqual(state(self.folder / "state")[1]["micro_batches"], "203")

    def test_few_rows(self):
        for micro_batches, tail in ((0, 0), (0, 3), (1, 0), (2, 2), (8, 0), (8, 3), (9, 1)):
            rows = table(2, micro_batches, tail)
            write(self.folder / "in.csv", rows)
            for ranks in (1, 3, 9) if TRANSPORT == "threads" else (3,):
                with self.subTest(micro_batches=micro_batches, tail=tail, ranks=ranks):
                    self.run_well(ranks, "--save", "state")
                    if rows:
                        self.check_state(rows)

    def test_slow_rank(self):
        for slow in ("0", "2"):
            status, output = self.finish(self.start(3, "--save", "state", environment={**SLOW, "TRAINER_SLOW": slow}))
            self.assertEqual(status, 0, output)
            self.check_state()

    def test_cycles(self):
        self.run_well(3, "--cycles", "200", "--save", "state")
        self.check_state(self.rows[:200])

    def test_rows_of_rank_0(self):
        output = self.run_well(2)
        self.assertIn("rank 0 of 2 writes the rows of its own micro-batches", output)
        ends = np.cumsum([0] + [row[0] for row in self.rows])[:-1]
        own = sum(1 for end in ends if end % PER_STEP % 2 == 0)
        self.assertEqual(len((self.folder / "out.csv").read_text().split()), own + 1)

    # ---- snapshots

    def test_resume_on_another_number(self):
        for first, second in ((1, 4), (4, 1), (3, 2), (2, 8)):
            with self.subTest(first=first, second=second):
                (self.folder / "state").unlink(missing_ok=True)
                write(self.folder / "in.csv", self.steps(self.rows, 7))
                self.run_well(first, "--resume", "state")
                write(self.folder / "in.csv", self.rows)
                self.run_well(second, "--resume", "state")
                self.check_state()

    def test_load_on_another_number(self):
        rows = self.steps(self.rows, 7)
        write(self.folder / "in.csv", rows)
        self.run_well(3, "--save", "state")
        write(self.folder / "in.csv", self.rows[len(rows):])
        self.run_well(4, "--load", "state", "--save", "state")
        self.check_state()

    def test_resume_behind_a_partial_step(self):
        write(self.folder / "in.csv", self.rows[:len(self.steps(self.rows, 5)) + 1])
        self.run_well(2, "--resume", "state")
        self.run_well(2, "--resume", "state")  # resumes a run for which no new rows have come
        write(self.folder / "in.csv", self.rows)
        self.assertIn("was saved when the input ended in the middle of a step", self.refused(2, "--resume", "state"))

    def test_resume_with_other_rows(self):
        rows = self.steps(self.rows, 7)
        write(self.folder / "in.csv", rows)
        self.run_well(2, "--resume", "state")
        write(self.folder / "in.csv", [self.rows[1], self.rows[0], *self.rows[2:]])
        self.assertIn("are not those that 'state' was saved after", self.refused(2, "--resume", "state"))
        write(self.folder / "in.csv", rows[:-3])
        self.assertIn(f"ends after {len(rows) - 3} rows", self.refused(2, "--resume", "state"))

    @staticmethod
    def steps(rows, count):
        ends = [k for k, row in enumerate(rows) if row[0]]
        return rows[:ends[count * PER_STEP - 1] + 1]

    # ---- the end of a rank

    def test_fault(self):
        """All ranks report the cause, although mpirun ends the others as soon as one has
        ended."""
        ends = [k for k, row in enumerate(self.rows) if row[0]]
        undisturbed = self.rows_of_rank_0(3)
        self.rows[ends[9]] = (True, self.rows[ends[9]][1], 2e9)  # changes a row in micro-batch 1 of step 1, on rank 1
        write(self.folder / "in.csv", self.rows)
        for late in "0", "1":
            with self.subTest(late=late):
                output = self.refused(3, environment={"TRAINER_LATE": late})
                # Rank 0 has no row of the cycle at which it missed rank 1, nor of a later one.
                written = self.rows_of_rank_0()
                self.assertEqual(written, undisturbed[:len(written)])
                self.assertLess(len(written), len(undisturbed))
                self.assertIn("rank 1: trainer.rml: cycle ", output)
                if TRANSPORT != "threads":
                    self.assertEqual(output.count("rank 1 has stopped: trainer.rml: cycle "), 2, output)

    def test_damaged_row(self):
        with (self.folder / "in.csv").open("a") as file:
            file.write("T,1,2,3,x,5\n")
        self.assertIn(f"in.csv:{len(self.rows) + 2}:9", self.refused(3))

    def test_signal(self):
        """All ranks stop after the same step, and the run can be resumed on another number of
        ranks."""
        for to_all in (True, False):
            with self.subTest(to_all=to_all):
                (self.folder / "state").unlink(missing_ok=True)
                process = self.start(3, "--resume", "state", environment=SLOWER)
                ranks = self.running(1 if TRANSPORT == "threads" else 3)
                self.until(lambda: all(catches(pid, signal.SIGTERM) for pid in ranks))
                time.sleep(1)
                for pid in ranks if to_all else ranks[1:2] or ranks:
                    os.kill(pid, signal.SIGTERM)
                status, output = self.finish(process)
                self.assertEqual(status != 0, True, output)
                self.assertNotIn("is gone", output)
                _, known = state(self.folder / "state")
                self.assertEqual(int(known["micro_batches"]) % PER_STEP, 0)
                self.assertLess(int(known["micro_batches"]), 203)
                self.run_well(2, "--resume", "state")
                self.check_state()

    # ---- mistakes

    def test_what_one_rank_has(self):
        self.assertIn("standard input cannot be read by several ranks", self.refused(2, "--input", "t=-"))
        self.assertIn("'tcp-listen://:1' cannot be read", self.refused(2, "--input", "t=tcp-listen://:1"))
        self.assertIn("--keep end: ", self.refused(2, "--keep", "end"))

    def test_wrong_options(self):
        self.assertIn("--rank-patience: '-1': must be 0 or more", self.refused(2, "--rank-patience", "-1"))
        if TRANSPORT == "threads":
            for ranks in ("0", "257", "x"):
                self.assertIn("--ranks", self.refused(ranks))


@unittest.skipIf(TRANSPORT == "threads", "threads cannot differ, nor be killed")
class Processes(Ranks):
    def differing(self, second, *arguments, program=PROGRAM, first=()):
        """Rank 0 as usual, and rank 1 in the folder `second`, with another program or other
        arguments."""
        common = ["--input", "in.csv", "--output", "out.csv"]
        # Open MPI 5.0.7 crashes on a command with several programs.
        script = self.folder / "each"
        script.write_text("\n".join(["case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in",
                                     f"0) exec {shlex.join(map(str, [PROGRAM, *common, *first]))} ;;",
                                     f"*) cd {shlex.quote(str(second))} &&",
                                     f"   exec {shlex.join(map(str, [program, *common, *arguments]))} ;;", "esac", ""]),
                          encoding="utf-8")
        run = subprocess.run([MPIRUN, TRANSPORT, "2", "sh", script], cwd=self.folder, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False)
        self.assertNotEqual(run.returncode, 0, run.stdout)
        self.assertFalse((self.folder / "out.csv").exists())
        return run.stdout

    def other_folder(self):
        other = self.folder / "other"
        other.mkdir(exist_ok=True)
        shutil.copy(self.folder / "in.csv", other)
        return other

    def test_other_options(self):
        self.assertIn("rank 1 was started differently from rank 0: argument 6 is '5', but that of rank 0 is '4'",
                      self.differing(self.folder, "--seed", "5", first=("--seed", "4")))
        self.assertIn("rank 1 was started differently from rank 0: the number of options is 6, but that of rank 0 is 4",
                      self.differing(self.folder, "--seed", "5"))

    def test_other_program(self):
        other = self.folder / "other_program"
        shutil.copy(PROGRAM, other)
        with other.open("ab") as file:
            file.write(b"x")
        self.assertRegex(self.differing(self.folder, program=other),
                         r"rank 1 was started differently from rank 0: the program's file is \d+ bytes, checksum \w+, but that of")

    def test_other_data(self):
        other = self.other_folder()
        write(other / "in.csv", self.rows[:-1])
        self.assertRegex(self.differing(other), r"rank 1 was started differently .*: the file 'in.csv' is \d+ bytes, .*, but that of")
        (other / "in.csv").unlink()
        self.assertRegex(self.differing(other), r"rank 1 was .*: the file 'in.csv' is missing, but that of rank 0 is \d+")

    def test_ranks_of_mpirun(self):
        self.assertIn("unknown option '--ranks'", self.refused(2, "--ranks", "2"))

    def test_other_launcher(self):
        """The launcher of another MPI, and a program that is not for MPI."""
        other = {"openmpi": "mpich", "mpich": "openmpi"}[TRANSPORT]
        for program, text in ((PROGRAM, "for (Open MPI|MPICH), and mpirun is that of another MPI"),
                              (FOLDER / "trainer_threads", "without --mpi")):
            if not shutil.which(f"mpirun.{other}"):
                self.skipTest(f"no {other}")
            run = subprocess.run([MPIRUN, other, "2", program, "--input", "in.csv", "--output", "out.csv"],
                                 cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False)
            self.assertNotEqual(run.returncode, 0)
            self.assertRegex(run.stdout, f"2 ranks were started, but they cannot reach each other: this program was built {text}")
            self.assertFalse((self.folder / "out.csv").exists())

    def test_alone(self):
        """The program runs without mpirun."""
        run = subprocess.run([PROGRAM, "--input", "in.csv", "--output", "out.csv", "--save", "state"], cwd=self.folder,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.check_state()

    def test_kill(self):
        """The others stop within ten seconds and name the killed rank. Resuming from the last
        snapshot gives the undisturbed bits."""
        draw = random.Random(5)
        for kill in range(KILLS):
            (self.folder / "state").unlink(missing_ok=True)
            # MPICH's mpirun may end before it has forwarded the messages, unless it is told to
            # leave the other ranks alone.
            surely_told = TRANSPORT == "openmpi" or kill < KILLS // 2
            options = {"MPICH_OPTIONS": "-disable-auto-cleanup"} if surely_told else {}
            slow = {**options, **SLOWER, **({"TRAINER_SLOW": str(draw.randrange(4))} if kill % 2 else {})}
            process = self.start(4, "--resume", "state", "--save-every", "40", environment=slow)
            ranks = self.running(4)
            time.sleep(0.5 + draw.random())
            victim = draw.choice(ranks)
            os.kill(victim, signal.SIGKILL)
            begin = time.monotonic()
            status, output = self.finish(process)
            with self.subTest(kill=kill, slow=slow):
                self.assertNotEqual(status, 0)
                while processes() + processes(watches=True) and time.monotonic() - begin < 10:
                    time.sleep(0.05)
                self.assertLess(time.monotonic() - begin, 10)
                if surely_told:
                    self.assertRegex(output, rf"rank \d is gone: its process {victim} on \S+ was killed or has crashed")
                self.run_well(draw.choice((1, 2, 3, 4, 8)), "--resume", "state", "--save-every", "40")
                self.check_state()

    def test_stopped_rank(self):
        """A rank that does not answer is waited for as long as --rank-patience says, and then
        named."""
        process = self.start(3, "--rank-patience", "2", environment=SLOWER)
        stopped = self.running(3)[-1]
        time.sleep(1)
        os.kill(stopped, signal.SIGSTOP)
        try:
            begin = time.monotonic()
            while process.poll() is None and len(processes()) == 3 and time.monotonic() - begin < PATIENCE:
                time.sleep(0.1)
            self.assertLess(time.monotonic() - begin, 12)
        finally:
            try:
                os.kill(stopped, signal.SIGKILL)
            except ProcessLookupError:
                pass
        _, output = self.finish(process)
        self.assertRegex(output, r"rank \d has not (sent .*|ended) in 2 seconds: it is slow, stopped or disconnected")


if TRANSPORT != "threads":
    del Ranks  # removes the base class, because the class Processes contains all its tests
unittest.main(argv=[sys.argv[0], "-v"])
