"""Expected values of Kalman filters, by conditional Gaussian distributions; optimal regulators, by
SciPy's solution of Riccati's equation."""

import numpy as np
import torch
from groups import INF, NAN, Entry, Group, Series, values_only
from scipy import linalg

A = np.array([[1.0, 0.5], [-0.25, 0.75]])
DRIVE, Q, H, R = np.array([0.5, -0.25]), np.diag([0.25, 0.5]), np.array([[1.0, 0.5]]), np.array([[0.5]])
X0, P0 = np.array([1.0, -1.0]), np.array([[2.0, 0.5], [0.5, 1.0]])


def text(array):
    return str(np.asarray(array).tolist())


def given_all(z, h=H, r=R):
    """The last state, given all measurements that are finite: the joint covariance of these
    Gaussian vectors is written down."""
    n, k = len(z), len(X0)
    # State s is the sum of a^(s - i) times vector i: the first state, then drive and noise of
    # each step.
    whole = np.block([[np.linalg.matrix_power(A, s - i) if i <= s else np.zeros((k, k)) for i in range(n)] for s in range(n)])
    mean = whole @ np.concatenate([X0] + [DRIVE] * (n - 1))
    spread = whole @ linalg.block_diag(P0, *[Q] * (n - 1)) @ whole.T
    there = np.isfinite(z.ravel())
    seen, noise = np.kron(np.eye(n), h)[there], np.kron(np.eye(n), r)[there][:, there]
    gain = spread[-k:] @ seen.T @ np.linalg.inv(seen @ spread @ seen.T + noise)
    return mean[-k:] + gain @ (z.ravel()[there] - seen @ mean), spread[-k:, -k:] - gain @ seen @ spread[:, -k:]


def filtered(end, z, h=H, r=R):
    first, out = 0, []
    for t, e in enumerate(end):
        out.append(given_all(z[first:t + 1], h, r))
        first = t + 1 if e else first
    return tuple(np.array(rows) for rows in zip(*out))


def pendulum(z):
    """The extended filter as in textbooks, with the shorter update."""
    x, p, q, r, out = np.array([0.5, 0.0]), np.eye(2), 1e-2 * np.eye(2), np.array([[0.1]]), []
    for measured in z:
        h = np.array([[np.cos(x[0]), 0.0]])
        k = p @ h.T @ np.linalg.inv(h @ p @ h.T + r)
        x, p = x + k @ (measured - np.sin(x[:1])), (np.eye(2) - k @ h) @ p
        out.append((x, p))
        f = np.array([[1.0, 0.1], [-0.1 * np.cos(x[0]), 1.0]])
        x, p = np.array([x[0] + 0.1 * x[1], x[1] - 0.1 * np.sin(x[0])]), f @ p @ f.T + q
    return tuple(np.array(rows) for rows in zip(*out))


def update(x, h, s, z, expected=None):
    p, r = s @ s.T + 0.5 * torch.eye(2), 0.25 * torch.eye(1)
    k = p @ h.T @ torch.linalg.inv(h @ p @ h.T + r)
    x, p = x + k @ (z - (h @ x if expected is None else expected)), (torch.eye(2) - k @ h) @ p
    return torch.cat([x[None], p])


def predict(x, h, s):
    f = torch.cat([h, 2 * h + torch.tensor([[1.0, 0.0]])])
    return torch.cat([(f @ x)[None], f @ s @ f.T + torch.eye(2)])


def regulator(a, q):
    """The result after enough iterations: SciPy's solution and its gain."""
    b, r, out = np.array([[0.0], [1.0]]), np.array([[2.0]]), []
    for system, weights in zip(a, q):
        cost = weights @ weights.T + np.eye(2)
        p = linalg.solve_discrete_are(system, b, cost, r)
        out.append((np.linalg.solve(r + b.T @ p @ b, b.T @ p @ system), p))
    return tuple(np.array(rows) for rows in zip(*out))


def three_steps(x, m):
    """The least cost of three steps, with all commands optimised together as a least-squares
    problem."""
    b, r, c = torch.tensor([[0.0], [1.0]]).double(), torch.tensor([[2.0]]).double(), m @ m.T + torch.eye(2)
    free = torch.cat([torch.linalg.matrix_power(x, t) for t in range(4)])
    zero = torch.zeros(2, 1, dtype=x.dtype)
    forced = torch.cat([torch.cat([torch.linalg.matrix_power(x, t - 1 - i) @ b if i < t else zero for i in range(3)], 1) for t in range(4)])
    weights = torch.kron(torch.eye(4), torch.eye(2)).double() @ torch.block_diag(c, c, c, c)
    inner = forced.T @ weights @ forced + torch.kron(torch.eye(3).double(), r)
    gain = torch.linalg.solve(inner, forced.T @ weights @ free)
    return torch.cat([gain[:1], free.T @ weights @ free - free.T @ weights @ forced @ gain])


def settled(a, q, most=60, tolerance=1e-4):
    """The steps from the cost q + 1 on, each by the Schur complement of the joint cost of a state and a command; where
    they settle, they are near SciPy's solution."""
    b, r, out = np.array([[0.0], [1.0]]), np.array([[2.0]]), []
    for system, weights in zip(a, q):
        cost = weights @ weights.T
        p, taken, done = cost + np.eye(2), 0, False
        while not done and taken < most:
            inner = np.block([[system, b], [np.zeros((1, 2)), np.eye(1)]])
            joint = inner.T @ linalg.block_diag(p, r) @ inner
            k, taken = joint[2:, :2] / joint[2, 2], taken + 1
            p, before = cost + joint[:2, :2] - joint[:2, 2:] @ k, p
            done = bool(np.abs(p - before).max() <= tolerance * np.abs(p).max())
        stable = bool(np.abs(np.linalg.eigvals(system - b @ k)).max() < 1)
        if done and stable:
            wanted = linalg.solve_discrete_are(system, b, cost, r)
            np.testing.assert_allclose(p, wanted, atol=1e-3 * np.abs(wanted).max())
        out.append((k if done else 0 * k, p if done else 0 * p, np.int32(taken), done, stable))
    return tuple(np.array(rows) for rows in zip(*out))


def step(x, m):
    """One step for the cost matrix m mᵀ + 1, with the least value over the command found from a
    formula of its own."""
    b, r, p = torch.tensor([[0.0], [1.0]]).double(), 2.0, m @ m.T + torch.eye(2)
    k = (b.T @ p @ x) / (r + (b.T @ p @ b))
    return torch.cat([torch.eye(2) + x.T @ p @ x - k.T @ (r + b.T @ p @ b) @ k, k])


NODES = f"""node whole(z) -> (x, p)
  x, p = control.kalman({text(A)}, {text(DRIVE)}, {text(Q)}, {text(H)}, {text(R)}, {text(X0)}, {text(P0)}, z);

node parts(e, z) -> (x, p)
  x, p = control.kalman_end(e, {text(A)}, {text(DRIVE)}, {text(Q)}, {text(H)}, {text(R)}, {text(X0)}, {text(P0)}, z);

node angle(z) -> (x, p)
  before = [0.5, 0.0] fby moved;
  x, p = control.extended_kalman_update([sin(before[0])], [[cos(before[0]), 0.0]], [[0.1]], before, eye(2) fby spread, z);
  f = [x[0] + 0.1 * x[1], x[1] - 0.1 * sin(x[0])];
  moved, spread = control.extended_kalman_predict(f, [[1.0, 0.1], [-0.1 * cos(x[0]), 1.0]], 0.01 * eye(2), p);
"""
H2, R2 = np.array([[1.0, 0.5], [0.0, 2.0]]), np.array([[0.5, 0.25], [0.25, 1.0]])
MISSING = f"""node two(z) -> (x, p)
  x, p = control.kalman({text(A)}, {text(DRIVE)}, {text(Q)}, {text(H2)}, {text(R2)}, {text(X0)}, {text(P0)}, z);
"""
UPDATES = """node updated(x, h, s, z) -> (y)
  a, b = control.kalman_update(h, [[0.25]], x, matmul(s, transpose(s)) + 0.5 * eye(2), z);
  y = concat([a], b);

node corrected(x, h, s, z) -> (y)
  a, b = control.extended_kalman_update(z * z, h, [[0.25]], x, matmul(s, transpose(s)) + 0.5 * eye(2), z);
  y = concat([a], b);

node predicted(x, h, s) -> (y)
  a, b = control.kalman_predict(concat(h, 2.0 * h + [[1.0, 0.0]]), eye(2), x, s);
  y = concat([a], b);

node extended(x, h, s) -> (y)
  f = concat(h, 2.0 * h + [[1.0, 0.0]]);
  a, b = control.extended_kalman_predict(matmul(f, x), f, eye(2), s);
  y = concat([a], b);
"""
ONCE = [
    Entry("updates", "updated(x, h, s, z)", update),
    Entry("corrects", "corrected(x, h, s, z)", lambda x, h, s, z: update(x, h, s, z, z * z)),
    Entry("predicts", "predicted(x, h, s)", predict),
    Entry("extends", "extended(x, h, s)", predict),
]
REGULATORS = """node best(x, m) -> (k, p)
  k, p = control.lqr(400, x, [[0.0], [1.0]], matmul(m, transpose(m)) + eye(2), [[2.0]]);

node three(x, m) -> (y)
  k, p = control.lqr(3, x, [[0.0], [1.0]], matmul(m, transpose(m)) + eye(2), [[2.0]]);
  y = concat(k, p);

node by_hand(x, m) -> (y)
  q = matmul(m, transpose(m)) + eye(2);
  first, _ = control.riccati(q, [[0.0, 0.0]], 0, x, [[0.0], [1.0]], q, [[2.0]]);
  second, _ = control.riccati(first, [[0.0, 0.0]], 1, x, [[0.0], [1.0]], q, [[2.0]]);
  p, k = control.riccati(second, [[0.0, 0.0]], 2, x, [[0.0], [1.0]], q, [[2.0]]);
  y = concat(k, p);
"""
CHECKED = """node steady(x, m) -> (k, p, taken)
  k, p, taken = control.lqr_steady(60, 1e-4, x, [[0.0], [1.0]], matmul(m, transpose(m)), [[2.0]]);

-- Gains and costs that are not those of a regulator are not compared.
node report(x, m) -> (k, p, taken, settled, stable)
  gain, cost, taken, settled, stable = control.lqr_report(60, 1e-4, x, [[0.0], [1.0]], matmul(m, transpose(m)), [[2.0]]);
  k = if settled then gain else zeros_like(gain);
  p = if settled then cost else zeros_like(cost);

node once(x, m) -> (y)
  p, k, _, _ = control.lqr_step(matmul(m, transpose(m)) + eye(2), zeros([1, 2]), 3, false, 0, 0.0, x, [[0.0], [1.0]], eye(2), [[2.0]]);
  y = concat(p, k);

node ended(x, m) -> (y)
  p, k, _, _ = control.lqr_step(x, m[:1], 3, true, 0, 0.0, x, [[0.0], [1.0]], eye(2), [[2.0]]);
  y = concat(p, k);
"""
SETTLED = [Series("k, p, taken", "steady(x, m)", lambda a, q: settled(a, q)[:3])]
REPORTED = [Series("k, p, taken, settled, stable", "report(x, m)", settled)]
STEPPED = [Entry("once", "once(x, m)", step), Entry("ended", "ended(x, m)", lambda x, m: torch.cat([x, m[:1]]))]
STEADY = [Series("k, p", "best(x, m)", regulator)]
SHORT = [Entry("three_steps", "three(x, m)", three_steps), Entry("hand", "by_hand(x, m)", three_steps)]
random = np.random.default_rng(171)


def drawn(*shape):
    return np.round(random.uniform(-2, 2, shape), 2)


LOOSE = {"f32": "2e-4", "f64": "1e-9"}
MEASURED = [drawn(1) for _ in range(10)]
ENDS = [np.bool_(e) for e in (0, 0, 1, 0, 1, 1, 0, 0, 0, 1)]
FILTERS = [Series("x, p", "whole(z)", lambda z: filtered(np.zeros(len(z), bool), z)), Series("y, c", "parts(e, z)", filtered),
           Series("angles, spread", "angle(z)", pendulum)]
GROUPS = [
    Group("control_filters", "ordinary", "NumPy", {"e": ENDS, "z": MEASURED}, FILTERS, LOOSE, NODES),
    Group("control_filters_edges", "edge", "NumPy", {"e": ENDS, "z": [np.array([v]) for v in (0.0, 1e6, -1e6, 0, 0, 0, 1e-6, 0, 0, 3)]},
          FILTERS[:2], LOOSE, NODES),
    Group("control_missing", "ordinary edge", "NumPy",
          {"z": [np.array(pair) for pair in ((NAN, 1.0), (0.5, -0.25), (NAN, NAN), (1.5, INF), (0.25, 0.5), (-INF, NAN), (-1.0, NAN), (0.0, 2.0))]},
          [Series("x, p", "two(z)", lambda z: filtered(np.zeros(len(z), bool), z, H2, R2))], LOOSE, MISSING),
    Group("control_once", "ordinary", "PyTorch", {"x": [drawn(2) for _ in range(3)], "h": [drawn(1, 2) for _ in range(3)],
          "s": [drawn(2, 2) for _ in range(3)], "z": [drawn(1) for _ in range(3)]}, ONCE, LOOSE, UPDATES),
    Group("control_once_edges", "edge", "PyTorch", {"x": [np.zeros(2), np.array([1e4, -1e4]), np.array([1.0, 2.0])],
          "h": [np.zeros((1, 2)), np.array([[1.0, 0.0]]), np.array([[1.0, 1.0]])],
          "s": [np.zeros((2, 2)), np.zeros((2, 2)), np.array([[100.0, 0.0], [0.0, 0.0]])], "z": [np.array([v]) for v in (0.0, 1e3, 1.0)]},
          values_only(ONCE), {"f32": "3e-3", "f64": "1e-9"}, UPDATES),
    Group("control_regulators", "ordinary", "SciPy", {"x": [np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.2, 0.5], [0.3, 0.8]])],
          "m": [drawn(2, 2) for _ in range(2)]}, STEADY, LOOSE, REGULATORS),
    Group("control_regulators_edges", "edge", "SciPy", {"x": [np.array([[1.0, 1.0], [0.0, 1.0]]), np.zeros((2, 2)), np.array([[5.0, 1.0], [0.0, -3.0]])],
          "m": [np.zeros((2, 2)), drawn(2, 2), np.diag([30.0, 0.0])]}, STEADY, LOOSE, REGULATORS),
    Group("control_steady", "ordinary", "NumPy and SciPy", {"x": [np.array([[1.0, 0.5], [0.0, 1.0]]), np.array([[1.2, 0.5], [0.3, 0.8]]), drawn(2, 2)],
          "m": [drawn(2, 2) for _ in range(3)]}, SETTLED, LOOSE, CHECKED),
    Group("control_steady_edges", "edge", "NumPy and SciPy", {"x": [np.zeros((2, 2)), np.array([[2.0, 1.0], [0.0, -3.0]]), np.diag([0.5, 2.0])],
          "m": [np.eye(2), np.zeros((2, 2)), np.zeros((2, 2))]}, SETTLED, LOOSE, CHECKED),
    Group("control_reported", "ordinary", "NumPy and SciPy", {"x": [np.array([[1.0, 0.5], [0.0, 1.0]]), np.array([[2.0, 0.0], [0.0, 0.5]])],
          "m": [drawn(2, 2) for _ in range(2)]}, REPORTED, LOOSE, CHECKED),
    # States that no command reaches, which grow, stay, or shrink slowly; and a state that costs
    # nothing.
    Group("control_reported_edges", "edge", "NumPy and SciPy", {"x": [np.diag([2.0, 0.5]), np.diag([1.0, 0.5]), np.diag([0.5, 3.0]), np.diag([0.99, 0.5])],
          "m": [np.eye(2), np.zeros((2, 2)), np.zeros((2, 2)), np.eye(2)]}, REPORTED, LOOSE, CHECKED),
    Group("control_stepped", "ordinary", "PyTorch", {"x": [drawn(2, 2) for _ in range(3)], "m": [drawn(2, 2) for _ in range(3)]}, STEPPED, LOOSE, CHECKED),
    Group("control_stepped_edges", "edge", "PyTorch", {"x": [np.zeros((2, 2)), np.eye(2)], "m": [np.eye(2), np.zeros((2, 2))]},
          STEPPED, LOOSE, CHECKED),
    Group("control_steps", "ordinary", "PyTorch", {"x": [drawn(2, 2) for _ in range(2)], "m": [drawn(2, 2) for _ in range(2)]}, SHORT,
          LOOSE, REGULATORS),
    Group("control_steps_edges", "edge", "PyTorch", {"x": [np.zeros((2, 2)), np.eye(2)], "m": [np.eye(2), np.zeros((2, 2))]},
          values_only(SHORT), LOOSE, REGULATORS),
]
