"""Linear algebra of sizes that LAPACK computes in blocks, compared with NumPy:
linear_algebra_test.py RMLC."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError:
    print("skipped: no NumPy")
    sys.exit(77)

RMLC = sys.argv.pop(1)

SOURCE = """
import linalg;
node solution(a: DTYPE[M, N], b: DTYPE[N, 3]) -> (x: DTYPE[N, 3])
  x = solve(a, b);
node inverted(a: DTYPE[M, N]) -> (x: DTYPE[N, N])
  x = inverse(a);
node values(a: DTYPE[M, N]) -> (u: DTYPE[M, K], s: DTYPE[K], vt: DTYPE[K, N])
  u, s, vt = linalg.svd(a);
node eigen(a: DTYPE[M, N]) -> (w: DTYPE[N], v: DTYPE[N, N])
  w, v = linalg.eigh(a);
node factor(a: DTYPE[M, N]) -> (l: DTYPE[N, N])
  l = cholesky(a);
node triangles(a: DTYPE[M, N]) -> (q: DTYPE[M, K], r: DTYPE[K, N])
  q, r = linalg.qr(a);
"""


def size(m, n):
    return numpy.random.default_rng(m * 1000 + n).normal(size=(m, n))


class LinearAlgebra(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)

    def tearDown(self):
        self.place.cleanup()

    def run_node(self, node, outputs, dtype, *operands):
        """The outputs of one cycle, and the messages of the run."""
        m, n = operands[0].shape
        source = self.folder / "f.rml"
        text = SOURCE.replace("DTYPE", "f32" if dtype == numpy.float32 else "f64")
        for name, value in (("M", m), ("N", n), ("K", min(m, n))):
            text = text.replace(f"{name},", f"{value},").replace(f"{name}]", f"{value}]")
        source.write_text(text)
        command = [RMLC, "run", source, "--node", node]
        for name, operand in zip("ab", operands):
            numpy.save(self.folder / f"{name}.npy", operand.astype(dtype)[None])
            command += ["--input", f"{name}={self.folder / name}.npy"]
        for name in outputs:
            command += ["--output", f"{name}={self.folder / name}.npy"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            return None, done.stderr
        return [numpy.load(self.folder / f"{name}.npy")[0].astype(float) for name in outputs], done.stderr

    def close(self, got, wanted, dtype, scale=1.0):
        tolerance = (2e-4 if dtype == numpy.float32 else 1e-11) * scale
        self.assertLess(numpy.abs(got - wanted).max(initial=0), tolerance)

    def test_solutions(self):
        for dtype in (numpy.float32, numpy.float64):
            for n in (1, 5, 130):
                a = (size(n, n) + 3 * n**0.5 * numpy.eye(n)).astype(dtype).astype(float)
                b = size(n, 3).astype(dtype).astype(float)
                (x,), _ = self.run_node("solution", ["x"], dtype, a, b)
                self.close(x, numpy.linalg.solve(a, b), dtype)
                (x,), _ = self.run_node("inverted", ["x"], dtype, a)
                self.close(x, numpy.linalg.inv(a), dtype)
                positive = a @ a.T
                (l,), _ = self.run_node("factor", ["l"], dtype, positive)
                self.close(l, numpy.linalg.cholesky(positive), dtype, n**0.5)

    def test_singular_ones_are_refused(self):
        for n in (2, 130):
            a = numpy.zeros((n, n))
            a[:, : n - 1] = size(n, n - 1)
            got, message = self.run_node("solution", ["x"], numpy.float64, a, size(n, 3))
            self.assertIsNone(got)
            self.assertIn("cycle 0: the matrix is singular", message)

    def decomposed(self, a, dtype):
        """U, S and V of a: orthogonal, and with the singular values of NumPy."""
        a = a.astype(dtype).astype(float)
        (u, s, vt), _ = self.run_node("values", ["u", "s", "vt"], dtype, a)
        largest = max(1.0, s.max(initial=0))
        self.close(s, numpy.linalg.svd(a, compute_uv=False), dtype, largest)
        self.close(u * s @ vt, a, dtype, largest)
        self.close(u.T @ u, numpy.eye(u.shape[1]), dtype)
        self.close(vt @ vt.T, numpy.eye(u.shape[1]), dtype)

    def test_singular_values(self):
        for dtype in (numpy.float32, numpy.float64):
            for m, n in ((1, 1), (5, 3), (130, 130), (150, 40), (40, 150), (200, 64)):
                self.decomposed(size(m, n), dtype)
            self.decomposed(size(100, 3) @ size(3, 90), dtype)  # a matrix of rank 3
            self.decomposed(numpy.ones((70, 60)), dtype)
            self.decomposed(numpy.zeros((60, 70)), dtype)
            self.decomposed(numpy.eye(65), dtype)  # a matrix whose singular values are all equal
            self.decomposed(numpy.diag(10.0 ** -numpy.arange(0, 30, 0.5)), dtype)

    def test_eigenvalues(self):
        for dtype in (numpy.float32, numpy.float64):
            for a in (size(1, 1), size(5, 5), size(130, 130), numpy.ones((70, 70)), numpy.zeros((70, 70)), numpy.eye(65)):
                a = ((a + a.T) / 2).astype(dtype).astype(float)
                (w, v), _ = self.run_node("eigen", ["w", "v"], dtype, a)
                largest = max(1.0, numpy.abs(w).max())
                self.close(w, numpy.linalg.eigvalsh(a), dtype, largest)
                self.close(v * w @ v.T, a, dtype, largest)
                self.close(v.T @ v, numpy.eye(len(a)), dtype)

    def test_orthogonal_and_triangular(self):
        for dtype in (numpy.float32, numpy.float64):
            for m, n in ((1, 1), (130, 130), (150, 40), (40, 150)):
                a = size(m, n).astype(dtype).astype(float)
                (q, r), _ = self.run_node("triangles", ["q", "r"], dtype, a)
                self.close(q @ r, a, dtype, 10)
                self.close(q.T @ q, numpy.eye(min(m, n)), dtype)
                self.close(numpy.abs(r), numpy.abs(numpy.linalg.qr(a)[1]), dtype, 20)

    def test_what_is_not_a_number(self):
        for value in (numpy.nan, numpy.inf):
            a = size(100, 100)
            a[50, 60] = value
            for node, outputs in (("values", ["u", "s", "vt"]), ("eigen", ["w", "v"]), ("triangles", ["q", "r"])):
                got, _ = self.run_node(node, outputs, numpy.float64, a)
                for output in got:
                    self.assertTrue(numpy.isnan(output).all())


unittest.main()
