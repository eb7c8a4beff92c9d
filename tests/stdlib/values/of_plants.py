"""Expected values of linear systems: matrix exponentials and conversions to discrete time by SciPy,
responses by python-control."""

import warnings

import control
import numpy as np
import torch
from groups import INF, NAN, Entry, Group, Series, values_only
from scipy import linalg, signal

A, B = np.array([[0.5, 0.25], [-0.5, 0.75]]), np.array([[1.0, 0.0], [0.5, -1.0]])
C, D, X0 = np.array([[1.0, -0.5]]), np.array([[0.25, 0.5]]), np.array([1.0, -2.0])


def text(array):
    return str(np.asarray(array).tolist())


def held(u):
    """Replaces each value that is not finite by the last finite value of its column."""
    u, last = u.copy(), np.zeros_like(u[0])
    for row in u:
        row[~np.isfinite(row)] = last[~np.isfinite(row)]
        last = row
    return u


def response(u):
    system = control.ss(A, B, C, D, dt=True)
    if len(u) == 1:  # python-control computes no response to a single sample
        return C @ X0 + D @ u[0], X0
    found = control.forced_response(system, inputs=u.T, initial_state=X0, squeeze=False)
    return found.outputs.reshape(1, -1).T, found.states.reshape(2, -1).T


def responses(e, u):
    parts, out = np.split(np.arange(len(u)), np.flatnonzero(e[:-1]) + 1), []
    for part in parts:
        y, x = response(held(u[part]))
        out += zip(np.atleast_2d(y), np.atleast_2d(x))
    return tuple(np.array(rows) for rows in zip(*out))


def held_order(dt, a):
    """Exact for an input that is held: a and b of SciPy, which wants all four matrices."""
    found = [signal.cont2discrete((s, 2 * s[:, :1], np.eye(2), np.zeros((2, 1))), t, "zoh") for t, s in zip(dt, a)]
    return np.array([f[0] for f in found]), np.array([f[1] for f in found])


def bilinear(dt, a):
    found = [control.c2d(control.ss(s, 2 * s[:, :1], s[:1], [[0.5]]), t, "tustin") for t, s in zip(dt, a)]
    return tuple(np.array([getattr(f, name) for f in found]) for name in "ABCD")


def compensated(lead, lag):
    """The expected compensator by SciPy's backward differences. Before the first input it is at
    rest at that input."""
    def run(x):
        x = held(x[:, None])[:, 0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            b, a, _ = signal.cont2discrete(([lead, 1.0], [lag, 1.0]), 0.5, "backward_diff")
            start = signal.lfilter_zi(b.ravel(), a)
        return signal.lfilter(b.ravel(), a, x, zi=start * x[0])[0]

    return run


def power(a):
    """The first terms of the series of an exponential, which `expm_pade` has."""
    return torch.linalg.matrix_exp(a)


def back(a, g):
    """The gradient of the sum of g times the exponential, by PyTorch."""
    x = a.detach().clone().requires_grad_()
    (torch.linalg.matrix_exp(x) * g).sum().backward()
    return x.grad


NODES = f"""node system(u) -> (y, x)
  y, x = control.state_space({text(A)}, {text(B)}, {text(C)}, {text(D)}, {text(X0)}, u);

node parts(e, u) -> (y, x)
  y, x = control.state_space_end(e, {text(A)}, {text(B)}, {text(C)}, {text(D)}, {text(X0)}, u);
"""
RESPONSES = [Series("y, x", "system(u)", lambda u: responses(np.zeros(len(u), bool), u)), Series("of_part, at_part", "parts(e, u)", responses)]
CONVERTED = """node exact(t, s) -> (a, b)
  a, b = control.c2d(t, s, 2.0 * s[:, :1]);

node rule(t, s) -> (a, b, c, d)
  a, b, c, d = control.c2d_tustin(t, s, 2.0 * s[:, :1], s[:1], [[0.5]]);
"""
SYSTEMS = [Series("a, b", "exact(t, s)", held_order), Series("at, bt, ct, dt", "rule(t, s)", bilinear)]
FILTERS = [Series("both", "control.lead_lag(1.5, 4.0, 0.5, x)", compensated(1.5, 4.0)),
           Series("low", "control.lead_lag(0.0, 2.0, 0.5, x)", compensated(0.0, 2.0)),
           Series("lead", "control.lead_lag(0.25, 0.0, 0.5, x)", lambda x: difference(held(x[:, None])[:, 0]))]
EXPONENTIALS = [Entry("e", "linalg.expm(s)", power)]
PARTS = [Entry("near", "linalg.expm_pade(s)", power), Entry("back", "linalg.expm_adjoint(s, g)", back, gradient=False),
         Entry("squared", "linalg.expm_square(s, 1, [[2]])", lambda s: s @ s), Entry("kept", "linalg.expm_square(s, 2, [[2]])", lambda s: 1.0 * s)]
random = np.random.default_rng(233)


def difference(x):
    """The expected result for a lag of 0: x plus a multiple of its slope, which is 0 at first."""
    return x + 0.25 / 0.5 * np.diff(x, prepend=x[0])


def drawn(*shape):
    return np.round(random.uniform(-2, 2, shape), 2)


def spoilt(array):
    return np.where(random.uniform(size=array.shape) < 0.25, random.choice([NAN, INF, -INF], array.shape), array)


ENDS = [np.bool_(e) for e in (0, 0, 0, 1, 0, 1, 1, 0, 0, 0)]
LOOSE = {"f32": "2e-4", "f64": "1e-10"}
SPECIAL = [np.zeros((2, 2)), np.eye(2), np.array([[0.0, 1.0], [0.0, 0.0]]), np.diag([-30.0, 2.0]), np.array([[0.0, 6.0], [-6.0, 0.0]]),
           np.array([[1.0, 1.0], [0.0, 1.0]])]
SPOILT = [np.array([[NAN, 0.0], [0.0, 1.0]]), np.array([[1.0, INF], [0.0, 0.0]]), np.array([[0.0, 0.0], [0.0, -INF]])]
GROUPS = [
    Group("plants_responses", "ordinary", "python-control", {"e": ENDS, "u": list(drawn(10, 2))}, RESPONSES, LOOSE, NODES),
    Group("plants_responses_edges", "edge", "python-control", {"e": ENDS, "u": list(spoilt(drawn(10, 2)))}, RESPONSES, LOOSE, NODES),
    Group("plants_converted", "ordinary", "SciPy and python-control", {"t": [0.1, 0.5, 1.0, 0.25], "s": list(drawn(4, 2, 2) - np.eye(2))}, SYSTEMS, LOOSE, CONVERTED),
    Group("plants_converted_edges", "edge", "SciPy and python-control", {"t": [0.0, 1e-3, 0.25, 0.125, 0.5, 3.0], "s": SPECIAL},
          SYSTEMS, {"f32": "2e-3", "f64": "1e-10"}, CONVERTED),
    Group("plants_filters", "ordinary", "SciPy", {"x": list(drawn(12))}, FILTERS, LOOSE),
    Group("plants_filters_edges", "edge", "SciPy", {"x": list(spoilt(drawn(16)))}, FILTERS, LOOSE),
    Group("plants_constant", "edge", "SciPy", {"x": [-7.0] * 6}, FILTERS, LOOSE),
    Group("plants_exponentials", "ordinary", "PyTorch", {"s": list(drawn(4, 3, 3))}, EXPONENTIALS, LOOSE),
    Group("plants_exponentials_edges", "edge", "SciPy", {"s": SPECIAL + [20.0 * SPECIAL[4], -1e6 * np.eye(2)]},
          values_only([Entry("e", "linalg.expm(s)", lambda s: torch.tensor(linalg.expm(s.numpy())))]), {"f32": "3e-3", "f64": "1e-10"}),
    Group("plants_exponentials_spoilt", "edge", "NumPy", {"s": SPOILT},
          [Series("e", "linalg.expm(s)", lambda s: np.full(s.shape, NAN))], LOOSE),
    Group("plants_exponential_parts", "ordinary", "PyTorch", {"s": list(drawn(3, 2, 2)), "g": list(drawn(3, 2, 2))}, PARTS, LOOSE),
    Group("plants_exponential_parts_edges", "edge", "PyTorch", {"s": [SPECIAL[k] for k in (0, 1, 2, 5)], "g": list(drawn(4, 2, 2))}, PARTS, LOOSE),
]
