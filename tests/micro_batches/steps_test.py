"""The learned values of a node with dealt inputs, to the bit. NumPy adds the gradients of
single micro-batches in the tree that the language defines (docs/language.md) and updates the
parameters; the compiler runs the unchanged program.

The gradient of a micro-batch is the value that an optimiser `reveal` leaves in a parameter
that was 0. Each run stops in the middle of a step, which has then updated nothing; a resumed
run completes it."""

import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
from tree_sum import tree_sum

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples"))
from safetensors import parameters

RMLC = sys.argv[1]
HERE = pathlib.Path(__file__).parent
NETS = {"mlp": 13, "lstm": 43, "norm": 15, "line": 3}
SIZES = [3, 1, 2, 4, 2, 3, 1, 1, 5, 2, 3, 2]  # number of rows of each micro-batch
STOP = 10  # number of rows after which a run stops and another one resumes it
rng = np.random.default_rng(3)


def run(*arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def parameter(state):
    """The single parameter of a saved state, `v` of the network itself."""
    ((values, _),) = [found for name, found in parameters(state).items() if re.fullmatch(r"\w+\.v", name)]
    return np.array(values)


class Net:
    """A network of nets.rml, built, and its rows."""

    def __init__(self, name, size, folder):
        self.name, self.folder, rows = name, folder, sum(SIZES)
        self.w = rng.uniform(-0.7, 0.7, size)
        self.x, self.t = rng.uniform(-1, 1, (rows, 2)), rng.uniform(-1, 1, rows)
        self.end = np.zeros(rows, bool)
        self.end[np.cumsum(SIZES) - 1] = True
        self.one = folder / f"one_{name}"
        run(RMLC, "build", HERE / "nets.rml", "--node", f"one_{name}", "-o", self.one,
            "--strict-math")

    def learned(self, program, rows, w, *options):
        """The parameter after these rows."""
        np.savez(self.folder / "rows.npz", end=self.end[rows], w=np.tile(w, (len(self.t[rows]), 1)), x=self.x[rows],
                 t=self.t[rows])
        saves = [] if "--resume" in options else ["--save", self.folder / "state"]
        run(*program, "--input", self.folder / "rows.npz", "--output", self.folder / "l.csv", "--quiet", *saves, *options)
        return parameter(self.folder / "state")

    def gradient(self, rows, w):
        """The gradient of a micro-batch. For `line` it is given row by row, and the rows are
        added in order."""
        if self.name != "line":
            return self.learned([self.one], rows, w)
        total = None
        for row in range(rows.start, rows.stop):
            g = self.learned([self.one], slice(row, row + 1), w)
            total = g if total is None else total + g
        return total


def moves(net, per_step):
    """The parameter before each step, and after the last complete step."""
    batches = [slice(stop - size, stop) for stop, size in zip(np.cumsum(SIZES), SIZES)]
    moved, momentum, expected = np.zeros_like(net.w), np.zeros_like(net.w), [np.zeros_like(net.w)]
    for first in range(0, len(SIZES) - per_step + 1, per_step):
        total = tree_sum(net.gradient(rows, net.w + moved) for rows in batches[first:first + per_step])
        momentum = 0.9 * momentum + total
        moved = moved + -0.05 * momentum
        expected.append(moved)
    return expected


def check(net, per_step):
    ends, expected = np.cumsum(SIZES), moves(net, per_step)
    program = [RMLC, "run", HERE / "nets.rml", "--node", f"main_{net.name}", "-D", f"per_step={per_step}",
               "--strict-math"]
    cut = ends[STOP - 1]
    found = net.learned(program, slice(0, cut), net.w)
    (net.folder / "state").rename(net.folder / "first")
    resumed = net.learned(program, slice(cut, None), net.w, "--load", net.folder / "first")
    wrong = [f"{net.name}, {per_step} a step, {what}: {a} instead of {b}, off by {np.max(np.abs(a - b))}" for what, a, b in
             (("cut off", found, expected[STOP // per_step]), ("resumed", resumed, expected[len(SIZES) // per_step]))
             if a.tobytes() != b.tobytes()]
    return wrong


if __name__ == "__main__":
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for name, size in NETS.items():
            net = Net(name, size, pathlib.Path(folder))
            problems += [line for per_step in (1, 4, 5) for line in check(net, per_step)]
    sys.exit("\n".join(problems) or 0)
