"""Sums of optimisers over all parameters of a `diff`: joined_updates_test.py RMLC.

NumPy computes the expected values here, with all parameters as one vector.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

RMLC = sys.argv.pop(1)
ENGINES = (["--strict-math"], ["-O0"], ["--engine", "reference"], ["--engine", "channels"])

ROSENBROCK = """import optim;
node coordinate(first: f64) -> (at: f64)
  at = param(first);
node valley(start: f64) -> (cost: f64, x: f64, y: f64)
  x = coordinate(-0.5) + start;
  y = param(0.5) + start;
  above = y - x * x;
  cost = (1.0 - x) * (1.0 - x) + 100.0 * above * above;
node main() -> (cost: f64, x: f64, y: f64)
  cost, x, y, _ = diff[optim.barzilai_borwein(0.0001)] valley(0.0, true, 1.0, 0.0, 0.0);
"""

CLIPPED = """import optim;
node clipped(rate, act, g, p) -> (delta)
  delta = optim.momentum(rate, act, optim.clip_global_norm(1.5, g), p);
node counted(rate, act, g, p) -> (delta)
  delta = -(rate when act) / sum_over_parameters(1.0) * g;
node layer(x: f64[3]) -> (y: f64[2])
  y = matmul(param([[0.5, -0.25, 1.0], [2.0, 0.0, -1.0]]), x) + param([0.25, -0.5]);
node twice(x: f64[3]) -> (y: f64[2])
  y = layer(x) * layer(2.0 * x);
node model(x: f64[3], t: f64[2]) -> (l: f64)
  l = sum((twice(x) - t) * (twice(x) - t));
node main(due: bool, x: f64[3], t: f64[2]) -> (l: f64)
  l, _, _ = diff[OPTIMISER(0.02)] model(x, t, due, 1.0 when due);
"""

HELD = """import optim;
node clipped(rate, act, g, p) -> (delta)
  delta = optim.sgd(rate, act, optim.clip_global_norm(0.5, g), p);
node rnn(end, x) -> (l)
  w = param_end(end, param(0.5));
  u = param_end(end, param(-0.25));
  h = tanh(w * fby_end(end, 0.0, h) + u * x);
  l = h * h;
node main(end: bool, x: f64) -> (l: f64)
  l, _ = diff[clipped(0.1)] rnn(end, x, true, 1.0);
"""


# Sums in the differentiated node, not in the optimiser: instances that the derivative uses
# unchanged, and instances that get a sum of their own.
ELSEWHERE = """node square(x: f64) -> (y: f64)
  y = sum_over_parameters(x * x);
node unit(act, g, p) -> (delta)
  delta = -g / sqrt(sum_over_parameters(g * g));
node model(x: f64) -> (y: f64)
  y = param(1.0) * x + param(2.0) + 10.0 * square(x) + 100.0 * square(stop_gradient(2.0 * x));
node main(x: f64) -> (plain: f64, y: f64, dx: f64)
  plain = model(x);
  y, dx = diff[unit()] model(x, true, 1.0);
"""


class Joined(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def rmlc(self, text, *arguments, rows=""):
        (self.folder / "p.rml").write_text(text)
        return subprocess.run([RMLC, *arguments], input=rows, capture_output=True, text=True, timeout=120, cwd=self.folder)

    def table(self, text, *arguments, rows=""):
        done = self.rmlc(text, "run", "p.rml", *arguments, rows=rows)
        self.assertEqual(done.returncode, 0, done.stderr)
        return np.array([[float(x) for x in line.split(",")] for line in done.stdout.split("\n")[1:-1]])

    def test_barzilai_and_borwein(self):
        """A descent in the plane, whose two coordinates are parameters of different instances."""
        def valley(p):
            x, y = p
            above = y - x * x
            return (1 - x) ** 2 + 100 * above**2, np.array([-2 * (1 - x) - 400 * x * above, 200 * above])
        p, before, rate, costs, points = np.array([-0.5, 0.5]), None, 0.0001, [], []
        for _ in range(251):
            cost, g = valley(p)
            costs.append(cost)
            points.append(p)
            if before is not None:
                dp, dg = p - before[0], g - before[1]
                rate = abs(dp @ dg) / (dg @ dg) if dg @ dg > 0 else rate
            before = (p, g)
            p = p - rate * g
        self.assertLess(min(costs), 2e-5)
        for options in ENGINES:
            found = self.table(ROSENBROCK, "--cycles", "251", *options)
            # Rounding errors grow, because the steps are large.
            np.testing.assert_allclose(found[:30, 1:], points[:30], rtol=1e-7)
            self.assertLess(found[:, 0].min(), 2e-5)

    def test_sums_elsewhere_are_of_one(self):
        p, expected = np.array([1.0, 2.0]), []
        for x in (1.0, 2.0, -0.5):
            y = p @ [x, 1.0] + 10 * x * x + 100 * (2 * x) ** 2
            expected.append([[1.0, 2.0] @ np.array([x, 1.0]) + 410 * x * x, y, p[0] + 20 * x])
            p = p - np.array([x, 1.0]) / np.hypot(x, 1.0)
        for options in ENGINES:
            found = self.table(ELSEWHERE, *options, rows="x\n1\n2\n-0.5\n")
            np.testing.assert_allclose(found, expected, rtol=1e-12)

    def train(self, update, rows):
        """The loss of each row, and of four separate instances of a layer."""
        kernels = [np.array([[0.5, -0.25, 1.0], [2.0, 0.0, -1.0]]) for _ in range(4)]
        biases = [np.array([0.25, -0.5]) for _ in range(4)]
        losses = []
        for due, x, t in rows:
            inputs = [x, 2 * x, x, 2 * x]
            y = [k @ v + b for k, b, v in zip(kernels, biases, inputs)]
            left, right = y[0] * y[1] - t, y[2] * y[3] - t
            losses.append(left @ right)
            if not due:
                continue
            by_y = [right * y[1], right * y[0], left * y[3], left * y[2]]
            update(kernels, biases, [np.outer(d, v) for d, v in zip(by_y, inputs)], by_y)
        return losses

    def rows(self):
        random = np.random.default_rng(3)
        return [(k % 3 != 1, random.normal(size=3).round(3), random.normal(size=2).round(3)) for k in range(30)]

    def text(self, rows):
        return "due,x[0],x[1],x[2],t[0],t[1]\n" + "".join(
            f"{'FT'[bool(d)]},{','.join(map(str, x))},{','.join(map(str, t))}\n" for d, x, t in rows)

    def test_the_norm_of_all(self):
        rows, speeds = self.rows(), []

        def update(kernels, biases, *gradients):
            flat = [g for group in gradients for g in group]
            norm = np.sqrt(sum((g * g).sum() for g in flat))
            scale = min(1.0, 1.5 / norm)
            if not speeds:
                speeds.extend(np.zeros_like(g) for g in flat)
            for k, (p, g) in enumerate(zip([*kernels, *biases], flat)):
                speeds[k] = 0.9 * speeds[k] + scale * g
                p -= 0.02 * speeds[k]

        wanted = self.train(update, rows)
        for options in ENGINES:
            found = self.table(CLIPPED.replace("OPTIMISER", "clipped"), *options, rows=self.text(rows))
            np.testing.assert_allclose(found[:, 0], wanted, rtol=1e-9)

    def test_equal_parts_are_summed_each(self):
        """The number of parameters, and the number of those that are updated."""
        rows = self.rows()
        for frozen, number in ((None, 8), ("*twice2*", 4)):
            def update(kernels, biases, kernel_gradients, bias_gradients):
                for k in range(number // 2):
                    kernels[k] -= 0.02 / number * kernel_gradients[k]
                    biases[k] -= 0.02 / number * bias_gradients[k]
            wanted = self.train(update, rows)
            for options in ENGINES:
                found = self.table(CLIPPED.replace("OPTIMISER", "counted"), *options, *(["--freeze", frozen] if frozen else []),
                                   rows=self.text(rows))
                np.testing.assert_allclose(found[:, 0], wanted, rtol=1e-9)

    def test_segments(self):
        x = np.random.default_rng(4).normal(size=24).round(3)
        ends = [k % 6 == 5 for k in range(24)]
        w, u, wanted = 0.5, -0.25, []
        for first in range(0, 24, 6):
            h = [0.0]
            for v in x[first:first + 6]:
                h.append(np.tanh(w * h[-1] + u * v))
            wanted += [v * v for v in h[1:]]
            dw = du = carried = 0.0
            for k in range(6, 0, -1):
                d = (2 * h[k] + carried) * (1 - h[k] ** 2)
                dw, du, carried = dw + d * h[k - 1], du + d * x[first + k - 1], d * w
            norm = np.hypot(dw, du)
            scale = min(1.0, 0.5 / norm)
            w, u = w - 0.1 * scale * dw, u - 0.1 * scale * du
        rows = "end,x\n" + "".join(f"{'FT'[e]},{v}\n" for e, v in zip(ends, x))
        for options in ENGINES:
            np.testing.assert_allclose(self.table(HELD, *options, rows=rows)[:, 0], wanted, rtol=1e-9)

    def refused(self, text, *words):
        done = self.rmlc(text, "check", "p.rml")
        self.assertEqual(done.returncode, 1)
        for each in words:
            self.assertIn(each, done.stderr)

    def test_different_activities(self):
        apart = HELD.replace("u = param_end(end, param(-0.25))", "u = param(-0.25)").replace(
            "h = tanh(w * fby_end(end, 0.0, h) + u * x);\n  l = h * h", "l = w * x + u * x")
        self.refused(apart, "error[E0604]: the values that are summed over parameters differ in clock, type or shape",
                     "`rnn.w` is updated on ", "`rnn.u` is updated on ", "param_end")

    def test_different_shapes(self):
        text = CLIPPED.replace("OPTIMISER", "counted").replace("sum_over_parameters(1.0)", "sum(sum_over_parameters(g))")
        self.refused(text, "error[E0604]", " sums f64[2, 3]", " sums f64[2]", "sum scalars")

    def test_in_an_iteration(self):
        text = "node f(x) -> (y)\n  y = sum_over_parameters(x);\nnode main(x: f64[2]) -> (y: f64[2])\n  y = map f(x);\n"
        self.refused(text, "it sums over parameters a value that differs between elements")

    def test_two_diffs_stand_apart(self):
        """Each `diff` has a group of its own, although both have the same optimiser."""
        text = ROSENBROCK.replace("node main() -> (cost: f64, x: f64, y: f64)",
                                  "node main() -> (cost: f64, x: f64, y: f64, other: f64)") + \
            "  other, _, _, _ = diff[optim.barzilai_borwein(0.0001)] valley(0.25, true, 1.0, 0.0, 0.0);\n"
        one = self.table(ROSENBROCK, "--cycles", "40", "--strict-math")
        np.testing.assert_array_equal(self.table(text, "--cycles", "40", "--strict-math")[:, :3], one)


unittest.main(verbosity=0)
