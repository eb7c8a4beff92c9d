"""Expected values for faults that were once found in stateful nodes, filters, schedules and orders,
compared with NumPy, SciPy and scikit-learn."""

import numpy as np
import torch
from groups import NAN, Entry, Group, Series, values_only
from scipy import signal


def pid(target, measured, gains=(-2.0, -1.0, 0.0), low=0.0, high=10.0, dt=0.5):
    """A regulator whose integral does not change while it would push the command further
    beyond a limit."""
    kp, ki, kd = gains
    integral, out, before = 0.0, [], measured[0]
    for t, m in zip(target, measured):
        step = ki * (t - m) * dt
        wanted = kp * (t - m) + integral + step - kd * (m - before) / dt
        if not ((wanted > high and step > 0) or (wanted < low and step < 0)):
            integral += step
        out.append(np.clip(wanted, low, high))
        before = m
    return np.array(out)


def bank(design):
    """A filter for each frequency, by SciPy's direct form with the cookbook's coefficients."""

    def run(x):
        rows = []
        for frequency in (0.05, 0.2, 0.4):
            w, quality = 2 * np.pi * frequency, 0.8
            c, alpha = np.cos(w), np.sin(w) / (2 * quality)
            b = {"lowpass": [(1 - c) / 2, 1 - c, (1 - c) / 2], "highpass": [(1 + c) / 2, -1 - c, (1 + c) / 2],
                 "notch": [1, -2 * c, 1]}[design]
            rows.append(signal.lfilter(b, [1 + alpha, -2 * c, 1 - alpha], x))
        return np.stack(rows, axis=1)

    return run


def cosine(t):
    """PyTorch's CosineAnnealingLR in closed form; without steps the rate is the lowest."""
    return np.full(len(t), 0.2)


def median(x):
    return torch.quantile(x, 0.5, dim=-1)


def local_response(x):
    return torch.nn.functional.local_response_norm(x, 3, alpha=3.0, beta=0.75, k=1.0)


def running(x):
    """The limits after four batches of one sample, whose variance is 0; PyTorch refuses such
    batches."""
    average, variance, out = np.zeros(2), np.ones(2), []
    for t, row in enumerate(x[:, 0]):
        out.append(np.zeros((1, 2)) if t < 4 else ((row - average) / np.sqrt(variance + 1e-3))[None])
        if t < 4:
            average, variance = average + 0.5 * (row - average), 0.5 * variance
    return np.stack(out)


def so_far(statistic):
    return lambda x: np.array([statistic(x[:n], axis=0) for n in range(1, len(x) + 1)])


def named(*values):
    return [np.array(v, float) for v in values]


FILTERS = "\n".join(f"""node filtered_{name}(x) -> (y)
  b, a = signal.{name}([0.05, 0.2, 0.4], 0.8);
  y = signal.biquad(b, a, x + zeros([3]));
""" for name in ("lowpass", "highpass", "notch"))
random = np.random.default_rng(51)
ROWS = named([3, 1, 2, 5], [1, NAN, 0, 2], [7, 7, 7, 7], [-1e30, 1e30, 1e30, 3])
THREE = named([3, 1, 2], [NAN, 1, 2], [0, -0.0, 0], [np.inf, 1, -np.inf])
GROUPS = [
    Group("named_pid", "ordinary edge", "NumPy",
          {"target": [4.0] * 12, "measured": [9.0, 12, 15, 9, 6, 4, 3, 2, 4, 5, 6, 4]},
          [Series("command", "control.pid(-2.0, -1.0, 0.0, 0.5, 0.0, 10.0, target, measured)", pid)]),
    Group("named_pid_of_three", "ordinary edge", "NumPy",
          {"target": [1.0, 1, 1, 9, 9, 9, 2, -9, -9, -9, -9, 0.5, 1, 1], "measured": [0.0, 0.5, 1, 1, 2, 4, 3, 2, 2, 2, 1, 0.5, 0.25, 1]},
          [Series("command", "control.pid(0.5, 1.0, 0.25, 0.5, -3.0, 3.0, target, measured)",
                  lambda t, m: pid(t, m, (0.5, 1.0, 0.25), -3.0, 3.0)),
           Series("at_bounds", "control.pid(0.0, 1.0, 0.0, 0.5, -2.0, 2.0, target, measured)",
                  lambda t, m: pid(t, m, (0.0, 1.0, 0.0), -2.0, 2.0))]),
    Group("named_order", "ordinary edge", "PyTorch", {"x": ROWS},
          values_only([Entry("median", "tensor.median(x)", median),
                       Entry("quantile", "tensor.quantile(0.3, x)", lambda x: torch.quantile(x, 0.3, dim=-1))])),
    Group("named_order_odd", "edge", "PyTorch", {"x": THREE}, values_only([Entry("median", "tensor.median(x)", median)])),
    Group("named_order_gradient", "ordinary edge", "PyTorch", {"x": named([3, 1, 2, 5], [1, 0, 8, 2]), "q": named(0.3, 0.9)},
          [Entry("quantile", "tensor.quantile(q, x)", lambda x, q: torch.quantile(x, q, dim=-1)),
           Entry("flat", "tensor.flatten(-1, x)", lambda x: x.reshape(1, 4))]),
    Group("named_local_response", "ordinary edge", "PyTorch",
          {"x": [np.round(random.uniform(-2, 2, (1, 4, 2)), 2), np.zeros((1, 4, 2)), np.full((1, 4, 2), 1e4)]},
          [Entry("y", "spatial.local_response_norm(3, 3.0, 0.75, 1.0, x)", local_response)]),
    Group("named_filters", "ordinary", "SciPy", {"x": list(np.round(random.uniform(-2, 2, 12), 2))},
          [Series(name, f"filtered_{name}(x)", bank(name)) for name in ("lowpass", "highpass", "notch")],
          {"f32": "1e-4", "f64": "1e-12"}, FILTERS),
    Group("named_averages", "ordinary edge", "NumPy", {"x": [1e7] * 12 + [1e7 + 4] * 12},
          [Series("average", "metrics.average(x)", so_far(np.mean)),
           Series("moment, variance", "metrics.moments(x)", lambda x: (so_far(np.mean)(x), so_far(np.var)(x)))],
          {"f32": "3e-6", "f64": "1e-8"}),
    Group("named_batch_of_one", "edge", "NumPy", {"x": list(np.round(random.uniform(-2, 2, (6, 1, 2)), 2))},
          [Series("y", "nn.batch_norm_rows(1e-3, 0.5, trained(x), x)", running)],
          nodes="-- The first four are trained on.\nnode trained(x) -> (train)\n  t = 0 fby t + 1;\n  train = t < 4;\n"),
    Group("named_schedules", "edge", "NumPy", {"t": [np.int32(k) for k in (0, 1, 5)]},
          [Series("cosine", "optim.cosine_rate(0.8, 0.2, 0, t)", cosine),
           Series("warm", "optim.warm_up(0.8, 0, t)", lambda t: np.full(len(t), 0.8))]),
]
