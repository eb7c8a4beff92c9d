"""Expected values of gradients of decompositions, for arbitrary adjoints of their parts, by
PyTorch."""

import numpy as np
import torch
from groups import Entry, Group, values_only

L = torch.linalg


def adjoint(function, count):
    """The adjoint of the first input; the last `count` arguments are adjoints. PyTorch
    computes the parts itself."""

    def run(*given):
        a = given[0].detach().clone().requires_grad_()
        parts = function(a)
        parts = parts if isinstance(parts, tuple) else (parts,)
        used = [(p, d) for p, d in zip(parts, given[len(given) - count:], strict=True) if p.requires_grad and p.numel()]
        (da,) = torch.autograd.grad([p for p, _ in used], a, [d for _, d in used])
        return da

    return run


def svd(u, s, vt, du, ds, dvt):
    """Singular vectors have arbitrary signs, so those of PyTorch get the signs of the given
    parts."""
    a = ((u * s) @ vt).requires_grad_()
    parts = L.svd(a, full_matrices=False)
    signs = (parts[0] * u).sum(0).sign().detach()
    (da,) = torch.autograd.grad(parts, a, [du * signs, ds, dvt * signs[:, None]])
    return da


def eigh(w, v, dw, dv):
    """The adjoint of a matrix from the adjoints of its eigenvalues and eigenvectors."""
    a = ((v * w) @ v.mT).requires_grad_()
    parts = L.eigh((a + a.mT) / 2)
    signs = (parts[1] * v).sum(0).sign().detach()
    (da,) = torch.autograd.grad(tuple(parts), a, [dw, dv * signs])
    return da


NODES = """node qr_back(a, dq, dr) -> (da)
  q, r = linalg.qr(a);
  da = linalg.qr_adjoint(a, q, r, dq, dr);

node svd_values(a, ds) -> (da)
  u, s, vt = linalg.svd(a);
  da = linalg.svd_adjoint(u, s, vt, zeros_like(u), ds, zeros_like(vt));

node eigh_values(a, dw) -> (da)
  w, v = linalg.eigh(a);
  da = linalg.eigh_adjoint(w, v, dw, zeros_like(v));

node pinv_back(a, dp) -> (da)
  da = linalg.pinv_adjoint(a, linalg.pinv(1e-5, a), dp);
"""
QR = Entry("qr", "qr_back(a, dq, dr)", adjoint(L.qr, 2))
SVD = Entry("svd", "linalg.svd_adjoint(u, s, vt, du, ds, dvt)", svd)
EIGH = Entry("eigh", "linalg.eigh_adjoint(w, v, dw, dv)", eigh)
PINV = Entry("pinv", "pinv_back(a, dp)", adjoint(lambda a: L.pinv(a, rtol=1e-5), 1))
SVD_VALUES = Entry("values", "svd_values(a, ds)", adjoint(L.svdvals, 1))
EIGH_VALUES = Entry("eigen", "eigh_values(a, dw)", adjoint(lambda a: L.eigvalsh((a + a.mT) / 2), 1))
LESSER = Entry("lesser", "linalg.columns(a, 0, linalg.lesser(2, 3)) + linalg.columns(a, 0, linalg.lesser(2, 2))", lambda a: 2 * a[:, :2])
random = np.random.default_rng(161)


def drawn(*shape):
    return np.round(random.uniform(-2, 2, shape), 2)


def inputs(matrices, scale=1.0):
    """Adjoints of every part."""
    m, n = matrices[0].shape
    k = min(m, n)
    shapes = {"dq": (m, k), "dr": (k, n), "du": (m, k), "ds": (k,), "dvt": (k, n), "dp": (n, m)}
    if m == n:
        shapes |= {"dw": (n,), "dv": (n, n)}
    parts = dict(zip(("u", "s", "vt"), map(list, zip(*[np.linalg.svd(a, full_matrices=False) for a in matrices]))))
    if m == n:
        parts |= dict(zip(("w", "v"), map(list, zip(*[np.linalg.eigh((a + a.T) / 2) for a in matrices]))))
    return {"a": matrices} | parts | {name: [scale * drawn(*shape) for _ in matrices] for name, shape in shapes.items()}


def full(m, n):
    return [drawn(m, n) + 3 * np.eye(m, n) for _ in range(3)]


LOOSE = {"f32": "2e-3", "f64": "1e-9"}
ALL = values_only([QR, SVD, EIGH, PINV, LESSER])
RANK_ONE = [np.ones((3, 3)), np.outer([1.0, 2.0, 0.0], [1.0, 0.0, -1.0]), np.zeros((3, 3))]
EQUAL = [np.eye(3), np.diag([2.0, 2.0, -1.0]), np.diag([1e3, 1.0, 1e-3])]
GROUPS = [
    Group("adjoints_square", "ordinary", "PyTorch", inputs(full(3, 3)), ALL, LOOSE, NODES),
    Group("adjoints_tall", "ordinary", "PyTorch", inputs(full(4, 2)), values_only([QR, SVD, PINV]), LOOSE, NODES),
    Group("adjoints_wide", "ordinary", "PyTorch", inputs(full(2, 4)), values_only([QR, SVD, PINV]), LOOSE, NODES),
    Group("adjoints_one", "edge", "PyTorch", inputs([np.array([[v]]) for v in (2.0, -3.0, 1e-3, 1e3)]),
          values_only([QR, SVD, EIGH, PINV]), LOOSE, NODES),
    Group("adjoints_zero", "edge", "PyTorch", inputs(full(3, 3), 0.0), ALL, LOOSE, NODES),
    Group("adjoints_rank", "edge", "PyTorch", inputs(RANK_ONE[:2]), values_only([PINV]), LOOSE, NODES),
    Group("adjoints_equal", "edge", "PyTorch", inputs(EQUAL), values_only([PINV, SVD_VALUES, EIGH_VALUES, QR]), LOOSE, NODES),
]
