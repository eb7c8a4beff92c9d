"""Expected values of decompositions up to signs, by torch.linalg; simple functions by their
definitions."""

import numpy as np
import torch
from groups import Entry, Group, values_only

L = torch.linalg


MATRIX = [
    Entry("logarithm", "logarithm_of(a)", lambda a: L.slogdet(a)[1]),
    Entry("singular", "singular_values(a)", L.svdvals),
    Entry("eigen", "eigenvalues(a)", lambda a: L.eigvalsh((a + a.mT) / 2)),
    Entry("pinv", "linalg.pinv(1e-6, a)", L.pinv),
    Entry("lstsq", "linalg.lstsq(1e-6, a, b)", lambda a, b: L.lstsq(a, b[:, None]).solution[:, 0]),
    Entry("adjoint", "linalg.adjoint(a)", lambda a: a.mT),
    Entry("skew", "linalg.skew(a)", lambda a: a - a.mT),
    Entry("columns", "linalg.columns(a, 1, 3)", lambda a: a[:, 1:3]),
    Entry("part", "linalg.part(a, 1, 3, [2, 3])", lambda a: a[:, 1:3].reshape(2, 3)),
]
PLAIN = [
    Entry("diagonal", "linalg.diagonal_matrix(b)", torch.diag_embed),
    Entry("quotient", "linalg.quotient(b, b - 1.0)", lambda b: torch.where(b == 0, 0 * b, b / (b - 1)), gradient=False),
]
PRODUCTS = values_only([
    Entry("qr", "qr_product(a)", lambda a: a),
    Entry("svd", "svd_product(a)", lambda a: a),
    Entry("eigh", "eigh_product(a)", lambda a: (a + a.mT) / 2),
    Entry("r", "upper(a)", lambda a: L.qr(a)[1].abs()),
    Entry("sign", "sign_of(a)", lambda a: L.slogdet(a)[0]),
])
NODES = """node logarithm_of(a) -> (y)
  _, y = linalg.slogdet(a);

node sign_of(a) -> (y)
  y, _ = linalg.slogdet(a);

node singular_values(a) -> (s)
  _, s, _ = linalg.svd(a);

node eigenvalues(a) -> (w)
  w, _ = linalg.eigh(a);

node qr_product(a) -> (y)
  q, r = linalg.qr(a);
  y = matmul(q, r);

node upper(a) -> (y)
  _, r = linalg.qr(a);
  y = abs(r);

node svd_product(a) -> (y)
  u, s, vt = linalg.svd(a);
  y = matmul(u * s, vt);

node eigh_product(a) -> (y)
  w, v = linalg.eigh(a);
  y = matmul(v * w, transpose(v));
"""
random = np.random.default_rng(71)


def drawn(*shape):
    return np.round(random.uniform(-2, 2, shape), 2)


LOOSE = {"f32": "1e-3", "f64": "1e-9"}
ones = [np.array([[v]], float) for v in (2, -3, 1e-6, 1e6)]
special = [np.eye(3), np.zeros((3, 3)), np.ones((3, 3)), np.diag([1e4, 1.0, 1e-2]), np.diag([2.0, 2.0, -2.0])]
GROUPS = [
    Group("linalg_matrices", "ordinary", "PyTorch",
          {"a": [drawn(3, 3) + 3 * np.eye(3) for _ in range(4)], "b": [drawn(3) for _ in range(4)]}, MATRIX, LOOSE, NODES),
    Group("linalg_products", "ordinary", "PyTorch", {"a": [drawn(3, 3) for _ in range(4)]}, PRODUCTS, LOOSE, NODES),
    Group("linalg_special", "edge", "PyTorch", {"a": special}, PRODUCTS[:3] + PRODUCTS[4:], {"f32": "1e-4", "f64": "1e-9"}, NODES),
    Group("linalg_one_element", "edge", "PyTorch", {"a": ones}, PRODUCTS + MATRIX[:2] + values_only(MATRIX[2:3]), LOOSE, NODES),
    Group("linalg_singular", "edge", "PyTorch", {"a": special, "b": [np.array([1.0, 0, -1])] * 5},
          values_only([Entry("pinv", "linalg.pinv(1e-6, a)", lambda a: L.pinv(a, rtol=1e-6)),
                       Entry("lstsq", "linalg.lstsq(1e-6, a, b)", lambda a, b: L.pinv(a, rtol=1e-6) @ b)]
                      + MATRIX[5:]), LOOSE, NODES),
    Group("linalg_plain", "ordinary edge", "PyTorch",
          {"b": [drawn(3), np.array([0.0, -0.0, 0.5]), np.array([np.inf, np.nan, 1.0])]}, PLAIN[1:]),
    Group("linalg_diagonal", "ordinary edge", "PyTorch", {"b": [drawn(3), np.array([0.0, 1e30, -1.0])]}, PLAIN[:1]),
]
