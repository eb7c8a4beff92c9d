"""Expected values of statistics over a rolling window, scores and change detectors, by NumPy, SciPy
and River."""

import numpy as np
import torch
from groups import INF, NAN, Entry, Group, Series, values_only
from river import drift, stats
from scipy import stats as statistics


def windowed(statistic, n, x):
    with np.errstate(invalid="ignore"):
        return np.array([statistic(x[max(0, t - n + 1):t + 1]) for t in range(len(x))])


def held(x, n):
    """Returns the window with the newest value first, flags for the values that have been read, and
    their number."""
    t, k = np.arange(len(x))[:, None], np.arange(n)
    there = k <= t
    shape = there.shape + (1,) * (x.ndim - 1)
    w = np.where(there.reshape(shape), x[np.maximum(t - k, 0)], 0.0)
    return w, there.reshape(shape), np.minimum(np.arange(1, len(x) + 1), n).astype(np.int32)


def quantile_of(q):
    def run(x):
        columns = []
        for column in x.reshape(len(x), -1).T:
            peer, out = stats.RollingQuantile(q, 4), []
            for v in column:
                peer.update(float(v))
                out.append(peer.get())
            columns.append(out)
        return np.array(columns).T.reshape(x.shape)

    return run


def numpy_quantile(q):
    """The quantile of the sorted elements. NumPy's `quantile` gives NaN beside an infinite element
    with weight 0; this does not."""
    def one(w):
        if np.isnan(w).any():
            return NAN
        ordered, at = np.sort(w), q * (len(w) - 1)
        low, high = ordered[int(at)], ordered[min(int(at) + 1, len(w) - 1)]
        return low if at == int(at) else high if low == high else (1 - at % 1) * low + (at % 1) * high

    return lambda x: windowed(one, 4, x)


def scored(x):
    """SciPy's z-score of each value against the three finite values before it."""
    out, seen = [], []
    for v in x:
        if not np.isfinite(v):
            out.append(v)
            continue
        # SciPy gives NaN if the values before are equal.
        equal = not seen or min(seen[-3:]) == max(seen[-3:])
        apart = np.inf * np.sign(v - seen[-1]) if seen and v != seen[-1] else 0.0
        out.append(apart if equal else statistics.zmap([v], seen[-3:])[0])
        seen.append(v)
    return np.array(out)


def charted(x):
    """A cumulative sum that is reset at 0 equals the plain sum minus its minimum so far."""
    out, first = np.zeros((3, len(x))), 0
    for t, v in enumerate(x):
        run = x[first:t + 1]
        run = run[np.isfinite(run)]
        for k, steps in enumerate((run - 0.25 - 0.5, 0.25 - run - 0.5)):
            sums = np.concatenate([[0.0], np.cumsum(steps)])
            out[k, t] = sums[-1] - np.min(sums)
        out[2, t] = np.isfinite(v) and max(out[0, t], out[1, t]) > 3.0
        first = t + 1 if out[2, t] else first
    return out[2].astype(bool), out[0], out[1]


def page_hinkley(*constants, shown=True):
    """River's alarms, and the differences of its sums that decide them."""
    def run(x):
        peer, out, last = drift.PageHinkley(*constants), [], (0.0, 0.0)
        for v in x:
            if np.isfinite(v):
                peer.update(float(v))
                if peer._x_mean.n >= constants[0]:
                    last = (peer._sum_increase - peer._min_increase, peer._max_decrease - peer._sum_decrease)
                else:
                    last = (0.0, 0.0)
            out.append((bool(np.isfinite(v) and peer.drift_detected), *last))
        rows = tuple(np.array(row) for row in zip(*out))
        return rows if shown else rows[0]

    return run


WINDOWS = [
    Series("w, there, count", "streams.recent(4, x)", lambda x: held(x, 4)),
    Series("mean", "streams.rolling_mean(4, x)", lambda x: windowed(lambda w: w.mean(0), 4, x)),
    Series("var", "streams.rolling_var(4, x)", lambda x: windowed(lambda w: w.var(0), 4, x)),
    Series("low", "streams.rolling_min(4, x)", lambda x: windowed(lambda w: w.min(0), 4, x)),
    Series("high", "streams.rolling_max(4, x)", lambda x: windowed(lambda w: w.max(0), 4, x)),
    Series("begun", "streams.begun_with_first(2, x)", lambda x: np.stack([x, np.concatenate([x[:1], x[:-1]])], 1)),
    Series("mean_of_one", "streams.rolling_mean(1, x)", lambda x: x),
    Series("var_of_one", "streams.rolling_var(1, x)", lambda x: windowed(lambda w: w.var(0), 1, x)),
    Series("low_of_one", "streams.rolling_min(1, x)", lambda x: x),
]
ORDERED = [Series(name, f"streams.rolling_quantile(4, {q}, x)", quantile_of(q))
           for name, q in (("median", 0.5), ("upper", 0.75), ("least", 0.0), ("most", 1.0), ("odd", 0.3))]
WILD = [Series(name, f"streams.rolling_quantile(4, {q}, x)", numpy_quantile(q)) for name, q in (("median", 0.5), ("lower", 0.25), ("most", 1.0))]
WILD += [Series("middle_of_one", "streams.rolling_quantile(1, 0.5, x)", lambda x: x)]
DETECTORS = [
    Series("z", "streams.z_score(3, x)", scored),
    Series("alarm, high, low", "streams.cusum(0.25, 0.5, 3.0, x)", charted),
    Series("found, rise, fall", "streams.page_hinkley_with(4, 0.25, 3.0, 0.875, x)", page_hinkley(4, 0.25, 3.0, 0.875)),
    Series("usual", "alone(x)", page_hinkley(30, 0.125, 4.0, 0.9999, shown=False)),
]
FINITE = [
    Series("z", "streams.z_score_of(3, x)", scored),
    Series("found, rise, fall", "streams.page_hinkley_of(4, 0.25, 3.0, 0.875, x)", page_hinkley(4, 0.25, 3.0, 0.875)),
]
ALONE = """node alone(x) -> (alarm)
  alarm, _, _ = streams.page_hinkley(0.125, 4.0, x);
"""


def between(x, y, p):
    return torch.lerp(x, y, p)


random = np.random.default_rng(223)


def eighths(*shape):
    return np.round(random.uniform(-2, 2, shape) * 8) / 8


x = list(np.concatenate([eighths(24), eighths(12) + 1.5, eighths(12) - 3]))
spoilt = list(np.where(random.uniform(size=48) < 0.2, random.choice([NAN, INF, -INF], 48), x))
LOOSE = {"f32": "2e-5", "f64": "1e-10"}
WIDE = [0.0, 1e6, -1e6, 1e-6, INF, 2.0, 3.0, 4.0, NAN, 1.0, -0.0, 5.0, -INF, INF, 1.0, 2.0, 3.0, 4.0]
GROUPS = [
    Group("rolling_windows", "ordinary", "NumPy", {"x": list(eighths(9, 2))}, WINDOWS, LOOSE),
    Group("rolling_scalars", "ordinary edge", "NumPy", {"x": [5.0, 5.0, 5.0, 5.0, 5.0, 1e3, 1e3, 1e-3, -0.0, 0.0]}, WINDOWS, {"f32": "1e-4", "f64": "1e-10"}),
    Group("rolling_wide", "edge", "NumPy", {"x": [0.0, 1.0, INF, 2.0, 3.0, 4.0, 5.0, NAN, 1.0, 2.0, 3.0, -INF, 5.0]}, WINDOWS, LOOSE),
    Group("rolling_ordered", "ordinary", "River", {"x": list(eighths(12, 2))}, ORDERED, LOOSE),
    Group("rolling_ordered_edges", "edge", "NumPy", {"x": WIDE}, WILD, LOOSE),
    Group("rolling_detectors", "ordinary", "NumPy, SciPy and River", {"x": x}, DETECTORS, LOOSE, ALONE),
    Group("rolling_detectors_edges", "edge", "NumPy, SciPy and River", {"x": spoilt}, DETECTORS, LOOSE, ALONE),
    Group("rolling_detectors_constant", "edge", "NumPy, SciPy and River", {"x": [NAN] + [3.0] * 6 + [4.0] + [3.0] * 34}, DETECTORS, LOOSE, ALONE),
    Group("rolling_finite", "ordinary", "SciPy and River", {"x": x}, FINITE, LOOSE),
    Group("rolling_finite_edges", "edge", "SciPy and River", {"x": [1e6, 1e6, -1e6, 0.0, 0.0, -0.0, 1e-6, 1e6]}, FINITE, LOOSE),
    Group("rolling_between", "ordinary", "PyTorch", {"x": list(eighths(4, 3)), "w": list(eighths(4, 3)), "p": list(np.abs(eighths(4, 3)) / 2)},
          [Entry("z", "tensor.between(x, w, p)", between)], LOOSE),
    Group("rolling_between_edges", "edge", "PyTorch", {"x": [1.0, 1.0, -INF, INF, 2.0, NAN], "w": [1.0, INF, 2.0, INF, 1.0, 1.0], "p": [0.0, 0.5, 0.5, 0.5, 1.0, 0.0]},
          values_only([Entry("z", "tensor.between(x, w, p)", lambda x, y, p: (1 - p) * x + p * y)]), LOOSE),
]
