"""The programs of the tests of `--key`, and functions to run them and to compare their rows.

A test that imports this module is called with the compiler as its first argument."""

import resource
import subprocess
import sys

RMLC = sys.argv[1]
SEED = 7

# A program with cells, a window, parameters and random numbers.
LEARNER = """import nn;
import optim;

node net(kernel, bias, x) -> (y)
  hidden = param(glorot_uniform([24, 24]));
  y = sum(nn.affine(kernel, bias, tanh(nn.affine(hidden, zeros([24]), x))));

node predictor(x, wanted) -> (e)
  kernel = param(glorot_uniform([2, 24]));
  bias = param(zeros([2]));
  miss = net(kernel, bias, x) - wanted;
  e = miss * miss;

node main(x: f32) -> (y: f32, n: i32, noise: f32, late: f32)
  n = 1 fby n + 1;
  past = concat((zeros([24]) fby past)[1:], [x]);
  learn = n > 3;
  y, _, _ = diff[optim.adam(0.01)] predictor(past, x, learn, 1.0 when learn);
  noise = sum(normal([3], 0.0, 1.0));
  late = 0.0 fby 0.5 fby x;
"""

# A parameter that some keys use late and some never; its initial value is random.
LATER = """import optim;

node line(x) -> (y)
  y = param(sum(uniform([3], -1.0, 1.0))) * x;

node main(x: f64) -> (y: f64, n: i64)
  n = 1 fby n + 1;
  late = n > 4;
  guess, _ = diff[optim.sgd(0.1)] line(x when late, true, 1.0 when late);
  y = merge late guess (0.0 when not late);
"""

# Memories with elements of all sizes, small and large.
KINDS = """node main(x: f64) -> (y: f64, odd: bool, far: i8, near: i16, sum: f32, parts: f64[3])
  odd = false fby not odd;
  far = 1 fby far * 3 + 1;
  near = 7 fby near * 5 + cast(i16, far);
  sum = cast(f32, x) + (0.0 fby 0.5 * sum);
  flags = zeros_of_truth fby flags != [odd, x > 0.0, x > 1.0];
  zeros_of_truth = [false, false, false];
  rows = (zeros([9, 7]) fby 0.5 * rows) + x;
  bytes = (far_ones fby bytes + far_ones);
  far_ones = cast(i8, ones([45]));
  parts = [rows[8, 6], rows[0, 0] + cast(f64, sum(cast(i32, bytes))), if flags[1] then 1.0 else 2.0];
  y = x + (0.0 fby y);
"""

# A program with so many equations that they are compiled as several functions.
LONG = "node main(x: f64) -> (y: f64, s: f64)\n" + "".join(
    f"  a{k} = 0.5 * (0.0 fby a{k}) + {'x' if k == 0 else f'sin(a{k - 1})'};\n" for k in range(1200)) + \
    "  y = a1199;\n  s = (0.0 fby s) + a3 * a650;\n"

# A constant matrix, of which the code keeps a transposed copy.
STILL = """import nn;

node main(x: f32) -> (y: f32)
  w = param(glorot_uniform([80, 80]));
  past = concat((zeros([80]) fby past)[1:], [x]);
  y = sum(tanh(nn.affine(w, zeros([80]), past)));
"""

# Rows wait for the end of their batch; the rows of the last batch are never known.
CENTER = """node main(end: bool, x: f64) -> (y: f64, k: i32)
  sum = fby_end(end, 0.0, sum) + x;
  count = fby_end(end, 0.0, count) + 1.0;
  y = x - backfill(sum / count, end);
  k = 0 fby k + 1;
"""

# A row waits for the next row of its key.
NEXT = """node main(end: bool, x: f64) -> (d: f64)
  d = if end then 0.0 else (post x) - x;
"""

# Tensors wait in queues that grow.
TENSORS = """node main(end: bool, x: f64) -> (y: f64[3], k: i32)
  y = backfill([x, x + 1.0, 2.0 * x], end);
  k = 0 fby k + 1;
"""

COUNTER = """node main(x: f64) -> (y: f64)
  y = x + (0.0 fby y);
"""

LINE = """import optim;
node line(x) -> (y)
  y = param(0.25) * x + param(sum(uniform([1], -1.0, 1.0)));
node main(x: f64, wanted: f64) -> (guess: f64)
  guess, _ = diff[optim.sgd(0.1)] line(x, true, guess - wanted);
"""

FAULTS = """node main(x: i32) -> (y: i32)
  y = 100 / x + (0 fby y);
"""


def run(*arguments, text="", status=0, limit=None, command=None):
    def set_limit():
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    done = subprocess.run([*(command or [RMLC, "run"]), *map(str, arguments)], input=text, capture_output=True, text=True,
                          preexec_fn=set_limit)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def build(program):
    """Builds an executable for this processor."""
    executable = program.with_suffix("")
    run(program, "-o", executable, "--cpu", "native", command=[RMLC, "build"])
    return executable


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def same(found, expected, what):
    if found == expected:
        return
    a, b = found.splitlines(), expected.splitlines()
    for k in range(max(len(a), len(b))):
        if a[k:k + 1] != b[k:k + 1]:
            raise AssertionError(f"{what}: line {k + 1}: found {a[k:k + 1]}, expected {b[k:k + 1]}")


def rows_by_key(rows):
    """rows: (key, cells). Returns the rows of each key, in the order in which the keys first
    occur."""
    by_key = {}
    for key, cells in rows:
        by_key.setdefault(key, []).append(cells)
    return by_key


def table(names, rows):
    return ",".join(names) + "\n" + "".join(",".join(row) + "\n" for row in rows)
