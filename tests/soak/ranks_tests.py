"""The helpers of tests/ranks/run_test.py, for searches that start and kill ranks. NumPy
computes the learned values."""
import importlib.util
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SYSTEM_PYTHON = "/usr/bin/python3"
if not importlib.util.find_spec("numpy") and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM_PYTHON):
    os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])

TESTS = pathlib.Path(__file__).resolve().parent.parent / "ranks"
TRANSPORTS = ("openmpi", "mpich")
TO_STOP = 10  # seconds for the other ranks to stop after one is killed
SNAPSHOTS = ("--resume", "state", "--save-every", "40")


class Wrong(Exception):
    """The error that a case has found."""


def load(transport, build, folder):
    """Loads the module for a trainer with a path of its own, by which its processes are
    recognised. Runs none of its tests."""
    name = f"trainer_{transport}"
    trainer = pathlib.Path(build, "tests/ranks", name)
    if not trainer.exists():
        subprocess.run(["ninja", "-C", build, name], check=True, stdout=subprocess.DEVNULL)
    (pathlib.Path(folder) / name).symlink_to(trainer)
    arguments, main = sys.argv, unittest.main
    sys.argv, unittest.main = ["run_test.py", str(folder), transport], lambda **_: None
    try:
        spec = importlib.util.spec_from_file_location(f"run_test_{transport}", TESTS / "run_test.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.argv, unittest.main = arguments, main
    return module


class Training:
    """A context manager: the folder and the rows of a training. The ranks end with the context.
    `ranks` is a test object with helpers."""

    def __init__(self, module, seed, steps):
        self.module, self.ranks = module, module.Processes("test_kill")
        self.rows = module.table(seed, steps * module.PER_STEP + 3)

    def __enter__(self):
        self.ranks.setUp()
        self.ranks.rows = self.rows
        self.module.write(self.ranks.folder / "in.csv", self.rows)
        return self

    def __exit__(self, *_):
        for pid in self.processes():
            _kill(pid)
        self.ranks.doCleanups()

    def processes(self):
        return self.module.processes() + self.module.processes(watches=True)

    def at_work(self, process, count, file):
        """Returns the process of each rank once one of them has written a file."""
        end = time.monotonic() + self.module.PATIENCE
        while not (self.ranks.folder / file).exists():
            if process.poll() is not None:
                raise Wrong(f"ended too soon: {process.communicate()[0]}")
            if time.monotonic() > end:
                raise Wrong(f"no {file} in {self.module.PATIENCE} seconds")
            time.sleep(0.01)
        found = {_rank_of(pid): pid for pid in self.module.processes()}
        if sorted(found) != list(range(count)):
            raise Wrong(f"the ranks at work are {found}")
        return found

    def kill(self, process, rank, pid, is_told=True):
        """Kills a rank. Returns true if it is named before any other rank, which must happen
        if `is_told`. All others must end in time."""
        number = _number(pid)
        begin = time.monotonic()
        _kill(pid)
        status, output = self.ranks.finish(process)
        while self.processes() and time.monotonic() - begin < TO_STOP:
            time.sleep(0.05)
        seconds = time.monotonic() - begin
        gone = re.findall(r"rank (\d+) is gone: its process (\d+) on ", output)
        told = gone[:1] == [(str(rank), str(number))]
        for is_wrong, text in ((seconds >= TO_STOP, f"{seconds:.1f} seconds"), (status == 0, "status 0"),
                               (not told and (is_told or gone), "not named")):
            if is_wrong:
                raise Wrong(f"rank {rank}, process {number}, killed: {text}: {output}")
        return told


def _kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _number(pid):
    """The number of a process in its own namespace, if it has one."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    return int(next(line for line in status.splitlines() if line.startswith("NSpid:")).split()[-1])


def _rank_of(pid):
    words = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    values = dict(word.split(b"=", 1) for word in words if b"=" in word)
    return int(values.get(b"OMPI_COMM_WORLD_RANK") or values[b"PMI_RANK"])


def _problem_of(work):
    """The error in words, or None. Everything that `work` waits for ends."""
    try:
        work()
    except (Wrong, AssertionError) as error:
        return str(error)
    except subprocess.TimeoutExpired as error:
        return f"hangs: {error}"
    return ""


def search(check, counted, missing=lambda: ""):
    """A whole search: `check` gets a case, the module of its MPI and the counts; `missing`
    says why no case can run."""
    first, count, build = int(sys.argv[1]), int(sys.argv[2]), os.path.abspath(sys.argv[3])
    counts = dict.fromkeys(("cases", *counted, "skipped", "wrong"), 0)
    modules = {}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the processes that were started, as after SIGINT
    reason = missing()
    with tempfile.TemporaryDirectory() as folder:
        for case in range(first, first + count):
            transport = TRANSPORTS[case % 2]
            absent = reason or ("" if shutil.which(f"mpirun.{transport}") else f"no mpirun.{transport}")
            if absent:
                counts["skipped"] += 1
                print(f"case {case}: skipped: {absent}", flush=True)
                continue
            if transport not in modules:
                modules[transport] = load(transport, build, folder)
            counts["cases"] += 1
            if problem := _problem_of(lambda: check(case, modules[transport], counts)):
                counts["wrong"] += 1
                print(f"case {case}, {transport}: {problem[:3000]}", flush=True)
    print(" ".join(f"{name}={value}" for name, value in counts.items()))
    return 1 if counts["wrong"] else 0
