"""Compiled programs must learn the same on any number of ranks, to the bit, and rank 0 must write
the rows of one process.

compiled_test.py RMLC threads|openmpi|mpich. As for one process (tests/micro_batches), NumPy computes the
learned values.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "micro_batches"))
import steps_test
from steps_test import NETS, SIZES, Net

RMLC, TRANSPORT = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
MPIRUN = pathlib.Path(__file__).resolve().with_name("mpirun")
RANKS = range(1, 10) if TRANSPORT == "threads" else (1, 2, 3, 4, 8)
steps_test.RMLC = RMLC
ENDS = np.cumsum(SIZES)
ALL = slice(0, int(ENDS[-1]))

DRAWN = """import nn;
import optim;

const per_step: i32 = 4;

-- Its weight is drawn once, its rows are disturbed by noise; half of the micro-batches move nothing.
node noisy(end, x) -> (y)
  w = param_end(end, param(0.5 * normal([2])));
  y = dot(w, x + 0.1 * normal([2]));

node main(end: bool, act: bool, x: f64[2] dealt end by per_step, t: f64 dealt end by per_step)
    -> (y: f64, average: f64 when last, last: bool)
  y, _ = diff[optim.adam(0.05)] noisy(end, x, act, (y - t) when act);
  mean, last = all_mean(square(y - t) when end);
  average = 0.9 * (0.0 fby average) + 0.1 * broadcast(mean);
"""


class Compiled(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_it(self, *command):
        done = subprocess.run(list(map(str, command)), cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def program(self, file, *options):
        """The command that runs FILE on a number of ranks."""
        if TRANSPORT == "threads":
            return lambda ranks: [RMLC, "run", file, *options, "--ranks", str(ranks)]
        self.run_it(RMLC, "build", file, *options, f"--mpi={TRANSPORT}", "-o", "program")
        return lambda ranks: [MPIRUN, TRANSPORT, str(ranks), self.folder / "program"]

    def own(self, ranks, per_step):
        """The rows of rank 0."""
        number = np.repeat(np.arange(len(SIZES)), SIZES)
        return np.flatnonzero(number % per_step % ranks == 0)

    def check_net(self, name, per_step):
        net = Net(name, NETS[name], self.folder)
        options = ["--node", f"main_{name}", "-D", f"per_step={per_step}", "--strict-math"]
        file = steps_test.HERE / "nets.rml"
        expected = steps_test.moves(net, per_step)[-1]
        alone = net.learned([RMLC, "run", file, *options], ALL, net.w)
        rows = (self.folder / "l.csv").read_text().splitlines()[1:]
        self.assertEqual(alone.tobytes(), expected.tobytes())
        program = self.program(file, *options)
        for ranks in RANKS:
            with self.subTest(net=name, per_step=per_step, ranks=ranks):
                found = net.learned(program(ranks), ALL, net.w)
                self.assertEqual(found.tobytes(), expected.tobytes())
                own = (self.folder / "l.csv").read_text().splitlines()[1:]
                self.assertEqual(own, [rows[k] for k in self.own(ranks, per_step)])
        return net, program, expected

    def test_mlp(self):
        self.check_net("mlp", 4)

    def test_one_micro_batch(self):
        """One micro-batch per step: rank 0 has them all."""
        self.check_net("mlp", 1)

    def test_lstm(self):
        self.check_net("lstm", 5)  # a run whose last step is incomplete

    def test_moments_of_batches(self):
        self.check_net("norm", 4)

    def test_gradients_of_rows(self):
        self.check_net("line", 5)

    def test_snapshots(self):
        """A state that some ranks saved after a step is resumed by others."""
        net, program, expected = self.check_net("mlp", 4)
        for first, then in ((3, 2), (1, 4), (8, 1)):
            net.learned(program(first), slice(0, int(ENDS[7])), net.w, "--save-every", "5")
            found = net.learned(program(then), ALL, net.w, "--resume", self.folder / "state")
            self.assertEqual(found.tobytes(), expected.tobytes())
            net.learned(program(first), slice(0, int(ENDS[3])), net.w)
            (self.folder / "state").rename(self.folder / "first")
            found = net.learned(program(then), slice(int(ENDS[3]), None), net.w, "--load", self.folder / "first")
            self.assertEqual(found.tobytes(), expected.tobytes())
        # The rows after the last end of a micro-batch are only in the memories of one rank.
        net.learned(program(2), slice(0, int(ENDS[3]) + 1), net.w)
        (self.folder / "state").rename(self.folder / "first")
        with self.assertRaisesRegex(SystemExit, "the input ended in the middle of a micro-batch"):
            net.learned(program(3), slice(int(ENDS[3]) + 1, None), net.w, "--load", self.folder / "first")

    @unittest.skipIf(TRANSPORT != "threads", "ranks of mpirun also say other things")
    def test_what_is_sent(self):
        """The numbers that `show ranks` predicts must be measured."""
        net = Net("mlp", NETS["mlp"], self.folder)
        file = steps_test.HERE / "nets.rml"
        for name, per_step, ranks, meetings in (("mlp", 4, 2, 1), ("mlp", 4, 3, 1), ("mlp", 5, 4, 1), ("line", 4, 9, 1),
                                                ("drawn", 4, 3, 4)):
            with self.subTest(net=name, per_step=per_step, ranks=ranks):
                program = [file, "--node", f"main_{name}", "-D", f"per_step={per_step}"]
                if name == "drawn":
                    (self.folder / "drawn.rml").write_text(DRAWN, encoding="ascii")
                    program = ["drawn.rml"]
                shown = self.run_it(RMLC, "show", "ranks", *program, "--ranks", ranks).stdout
                lines = re.findall(r": (\d+) messages?, (\d+) bytes", shown)
                self.assertEqual(len(lines), meetings + 1, shown)
                of_step = [sum(int(line[k]) for line in lines[:-1]) for k in (0, 1)]
                self.assertEqual(of_step, [int(n) for n in lines[-1]])
                self.assertNotIn("stdlib", shown)
                number = np.repeat(np.arange(len(SIZES)), SIZES)
                w = np.zeros((ALL.stop, NETS.get(name, 1)))
                np.savez(self.folder / "in.npz", end=net.end, act=number > 0, w=w, x=net.x, t=net.t)
                done = self.run_it(RMLC, "run", *program, "--input", "in.npz", "--output", "out.csv", "--stats", "--ranks",
                                   ranks)
                sent = re.findall(r"rank \d of \d has sent (\d+) messages, (\d+) bytes", done.stderr)
                self.assertEqual(len(sent), ranks)
                measured = [sum(int(line[k]) for line in sent) for k in (0, 1)]
                agreed = 2 * (ranks - 1)  # number of messages without content, before the first row
                self.assertEqual(measured, [len(SIZES) // per_step * of_step[0] + agreed,
                                            len(SIZES) // per_step * of_step[1]], shown)

    @unittest.skipIf(TRANSPORT != "threads", "the same of all transports")
    def test_sums_overlap(self):
        """The trace shows that rank 0 computes a sequence while sums of the sequence before
        are being exchanged."""
        program = steps_test.HERE.parents[1] / "examples/ranks/recall.rml"
        self.run_it(RMLC, "run", program, "--node", "sequences", "--cycles", 8000, "--output", "bits.csv")
        self.run_it(RMLC, "run", program, "--node", "learn", "--input", "bits.csv", "--output", "out.csv", "--ranks", 2, "--profile",
                    "trace.json")
        events = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        sums, computed = ([(e["ts"], e["ts"] + e["dur"]) for e in events if e.get("cat") == cat and e["ph"] == "X"]
                          for cat in ("sum", "compute"))
        # Five parameters and one output are summed. Parameters change where the step of the output ends.
        self.assertEqual(len(sums), 6 * (8000 // 10 // 8))
        self.assertTrue(any(a < c and d < b for a, b in sums for c, d in computed))

    def test_draws(self):
        """Random values depend on the number of the row, on every rank. A parameter has the
        same initial value on all ranks. `bp` on any rank updates all."""
        (self.folder / "drawn.rml").write_text(DRAWN, encoding="ascii")
        rng = np.random.default_rng(5)
        rows = ALL.stop
        end = np.isin(np.arange(rows), ENDS - 1)
        number = np.repeat(np.arange(len(SIZES)), SIZES)
        np.savez(self.folder / "in.npz", end=end, act=np.isin(number, (1, 2, 9)), x=rng.uniform(-1, 1, (rows, 2)),
                 t=rng.uniform(-1, 1, rows))

        def results(*command):
            self.run_it(*command, "--input", "in.npz", "--output", "out.csv", "--save", "state", "--seed", "3", "--quiet")
            table = [line.split(",") for line in (self.folder / "out.csv").read_text().splitlines()[1:]]
            return ([row[0] for row in table], [row[1] for row in table if row[1]],
                    [v for name, (v, _) in steps_test.parameters(self.folder / "state").items() if name.endswith(".w")])

        y, averages, weights = results(RMLC, "run", "drawn.rml", "--strict-math")
        self.assertEqual((len(averages), len(weights)), (3, 1))
        program = self.program("drawn.rml", "--strict-math")
        for ranks in RANKS:
            with self.subTest(ranks=ranks):
                found = results(*program(ranks))
                self.assertEqual(found, ([y[k] for k in self.own(ranks, 4)], averages, weights))


unittest.main(argv=[sys.argv[0], "-v"])
