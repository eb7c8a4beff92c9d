"""A saved state moves forward with the run: moves_test.py RMLC [CYCLES].

Trainings whose gradients flow backward over segments, and programs whose memories depend on a
backward sweep. After many cycles a state is as large as after few, except for the inputs of the
open segment. It begins at most one segment before its end, and the run continues with it like an
uninterrupted one.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

RMLC = pathlib.Path(sys.argv.pop(1)).resolve()
CYCLES = int(sys.argv.pop(1)) if sys.argv[1:] else 4000

NODES = {
    "recurrent": "k = param_end(end, param(0.3));\n  h = tanh(k * x + 0.25 * fby_end(end, 0.0, h));\n  y = h;",
    "backward": "k = param_end(end, param(0.3));\n  g = k * x + 0.5 * post_end(end, 0.0, g);\n  y = tanh(g);",
    "both": "k = param_end(end, param(0.3));\n  h = tanh(k * x + 0.25 * fby_end(end, 0.0, h));\n"
            "  g = h + 0.5 * post_end(end, 0.0, g);\n  y = g;",
    "lstm": "y = nn.dense_end(1, end, recurrent.lstm_end(4, end, [x, 1.0]))[0];",
    "norm": "z = nn.batch_norm(1e-5, 0.01, true, end, x);\n  y = param_end(end, param(0.5)) * z;",
    "dense": "y = nn.dense_end(1, end, tanh(nn.dense_end(4, end, [x, x * x])))[0];",
    "free": "y = tanh(param(0.3) * x + param(0.1));",
    "centred": "n = fby_end(end, 0.0, n) + 1.0;\n  t = fby_end(end, 0.0, t) + x;\n  m = backfill(t / n, end);\n"
               "  y = param_end(end, param(0.5)) * (x - m);",
}
OPTIMISERS = {"": -0.01, "[optim.adam(0.01)]": 1.0, "[optim.momentum(0.01)]": 1.0}
# The condition that ends segments, and the maximal length of a segment.
ENDS = {"cycle % 10 == 9": 10, "uniform([]) < 0.125": 120, "cycle % 100 == 99": 100, "cycle % 7 * (cycle % 7) % 7 == 2": 4}
# The use of the loss, and the variable with which the row is written.
BEHIND = {
    "the loss": ("", "l"),
    "fed": ("  s = (0.0 fby s) + backfill(l, end);\n", "s"),
    "ahead": ("  s = 0.5 fby s - 0.001 * post_end(end, l, l);\n", "s"),
    "sampled": ("  q = cycle % 3 == 0;\n  c = (0.0 fby c) + (backfill(l, end) when q);\n  s = merge q c 0.0;\n", "s"),
}
FROM_ROWS = "node main(end: bool, x: f64) -> (s: f64)\n  s = (0.0 fby s) + backfill(x, end);\n"


def text(node, optimiser, end, behind):
    more, row = BEHIND[behind]
    return ("import nn;\nimport optim;\nimport recurrent;\n"
            f"node model(end: bool, x: f64) -> (y: f64)\n  {NODES[node]}\n"
            "node loss_of(end: bool, x: f64, t: f64) -> (l: f64)\n  e = model(end, x) - t;\n  l = e * e;\n"
            f"node main() -> (row: f64)\n  cycle = 0 fby cycle + 1;\n  end = {end};\n"
            "  x = sin(0.1 * cast(f64, cycle % 1000));\n"
            f"  l, _, _ = diff{optimiser} loss_of(end, x, 0.5 * x, true, {OPTIMISERS[optimiser]});\n{more}  row = {row};\n")


def trainings():
    """Every node with every end, and every use of the loss for two of the nodes."""
    for k, node in enumerate(NODES):
        for n, end in enumerate(ENDS):
            yield node, list(OPTIMISERS)[(k + n) % 3], end, "the loss"
    for behind in list(BEHIND)[1:]:
        for node in ("both", "dense"):
            for end in list(ENDS)[:3]:
                yield node, "[optim.adam(0.01)]", end, behind


def metadata(state):
    (length,) = struct.unpack("<Q", state[:8])
    return json.loads(state[8 : 8 + length])["__metadata__"]


class Moves(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)
        self.state = self.folder / "state"

    def tearDown(self):
        self.place.cleanup()

    def run_program(self, cycles, *options, rows=None):
        done = subprocess.run([self.folder / "p", "--quiet", *map(str, options),
                               *(["--cycles", str(cycles)] if rows is None else [])],
                              input=rows, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()[1:]

    def build(self, program):
        (self.folder / "p.rml").write_text(program)
        subprocess.run([RMLC, "build", "p.rml", "-O1", "-o", "p"], cwd=self.folder, check=True)

    def saved(self, cycles, longest):
        """The size of the state, and the rows."""
        rows = self.run_program(cycles, "--save", self.state)
        state = self.state.read_bytes()
        behind = cycles - int(metadata(state)["begins"])
        self.assertLessEqual(behind, longest)
        return len(state) - behind, rows

    def test_trainings(self):
        count = 0
        for node, optimiser, end, behind in trainings():
            with self.subTest(node=node, optimiser=optimiser, end=end, behind=behind):
                self.build(text(node, optimiser, end, behind))
                few, _ = self.saved(CYCLES // 10 + 7, ENDS[end])
                many, rows = self.saved(CYCLES + 3, ENDS[end])
                # The size may differ a little: cycle numbers have more digits, and a flag may be set.
                self.assertLess(abs(many - few), 200)
                again = self.run_program(250, "--load", self.state)
                whole = self.run_program(CYCLES + 253)
                self.assertEqual((rows + again)[: len(whole)], whole)
                count += 1
        self.assertGreaterEqual(count, 50)

    def test_a_memory_that_a_backward_sweep_feeds(self):
        self.build(FROM_ROWS)

        def rows(first, last):
            return "end,x\n" + "".join(f"{'FT'[k % 10 == 9]},{k % 7}\n" for k in range(first, last))

        sizes = {}
        for count in (1000, 1003, 20_000, 20_003):
            self.run_program(0, "--save", self.state, rows=rows(0, count))
            sizes[count] = len(self.state.read_bytes())
            self.assertEqual(int(metadata(self.state.read_bytes())["begins"]), count - count % 10)
        self.assertLess(abs(sizes[20_000] - sizes[1000]), 100)
        self.assertLess(sizes[20_003], 2000)
        # Each row of a segment adds the input at its end.
        again = self.run_program(0, "--load", self.state, rows=rows(20_003, 20_010))
        self.assertEqual(float(again[-1]), sum(10 * (k % 7) for k in range(9, 20_010, 10)))

    # The manual says which trainings have states that do not move on (docs/manual/programs.md, "Trainings without a
    # common cycle"), how large these become, and how to avoid them.
    def test_trainings_without_a_common_cycle(self):
        def rows(first, last):
            marks = (lambda k: k % 10 == 0, lambda k: k % 10 == 9, lambda k: k % 10 == 4, lambda k: k % 20 == 19)
            return "first,last,apart,often,x\n" + "".join(
                ",".join("FT"[mark(k)] for mark in marks) + f",{k % 7}\n" for k in range(first, last))

        learner = ("import optim;\nnode net(end: bool, x: f64) -> (h: f64)\n  w = param_end(end, param(0.5));\n"
                   "  h = tanh(w * fby_end(end, 0.0, h) + x);\n"
                   "node main(first: bool, last: bool, apart: bool, often: bool, x: f64) -> (h: f64, g: f64)\n")
        calls = "  h, _ = diff[optim.adam(0.01)] net({}, x, true, h - 0.5);\n  g = {};\n"
        second = "  g, _ = diff[optim.adam(0.01)] net({}, x, true, g);\n"
        programs = {
            "a row later": ("  end = post first;\n" + calls.format("end", "h"), False),
            "apart": (calls.format("last", "g").replace("  g = g;\n", second.format("apart")), False),
            "in its row": (calls.format("last", "h"), True),
            "together at times": (calls.format("last", "g").replace("  g = g;\n", second.format("often")), True),
        }
        limit = (1 << 20) + 8 * 2000
        for name, (equations, moves) in programs.items():
            with self.subTest(program=name):
                self.build(learner + equations)
                for count in (1000, 60_000):
                    known = self.run_program(0, "--save", self.state, rows=rows(0, count))
                    state = self.state.read_bytes()
                    begins = metadata(state).get("begins")
                    if moves:
                        self.assertLess(len(state), 10_000)
                        self.assertLessEqual(count - int(begins), 20)
                    elif count == 1000:
                        self.assertEqual(begins, "0")
                        self.assertGreater(len(state), 8 * count)
                    else:
                        self.assertIsNone(begins)
                        self.assertLess(len(state), 20_000)
                    self.assertLess(len(state), limit)
                    again = self.run_program(0, "--load", self.state, rows=rows(count, count + 40))
                    self.assertEqual(known + again, self.run_program(0, rows=rows(0, count + 40)))


unittest.main(verbosity=0)
