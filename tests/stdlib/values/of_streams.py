"""Expected values of signals, regulators, metrics and the prelude: streams, by SciPy, scikit-learn
and NumPy."""

import numpy as np
from groups import INF, NAN, Group, Series
from scipy import fft, signal
from sklearn import metrics

def segments(end):
    """The first cycle of the segment of each cycle."""
    first, out = 0, []
    for t, e in enumerate(end):
        out.append(first)
        first = t + 1 if e else first
    return out

def per_segment(statistic):
    def run(end, *xs):
        return np.array([statistic(*[x[first:t + 1] for x in xs]) for t, first in enumerate(segments(end))])

    return run

def accuracy(p, k):
    """The accuracy in millionths as an integer, because the peer's rates are always f64."""
    return int(1e6 * metrics.accuracy_score(k, p) + 0.5)

def confusion(p, k):
    return metrics.confusion_matrix(k, p, labels=[0, 1, 2])

def always(run):
    return lambda *xs: run(np.zeros(len(xs[0]), bool), *xs)

def delayed(x, n, init):
    return np.concatenate([np.full((n,) + x.shape[1:], init), x])[:len(x)]

def delayed_by(k, x):
    return np.array([x[t - n] if t >= n else -1.0 for t, n in enumerate(k.astype(int))])

def ema(x):
    y, _ = signal.lfilter([0.25], [1, -0.75], x, zi=[0.75 * x[0]])
    return y

def switched(x):
    on, out = False, []
    for v in x:
        on = v >= -0.5 if on else v > 0.5
        out.append(on)
    return np.array(out)

def limited(x):
    y, out = x[0], []
    for v in x:
        y = np.clip(v, y - 0.5, y + 1.0)
        out.append(y)
    return np.array(out)

def debounced(x):
    out, held = [], x[0]
    for t in range(len(x)):
        if t == 0 or (t >= 1 and x[t] == x[t - 1]):
            held = x[t]
        out.append(held)
    return np.array(out)

FLOATS = [
    Series("window", "signal.window(3, x)", lambda x: np.stack([x, delayed(x, 1, 0.0), delayed(x, 2, 0.0)], 1)),
    Series("delay", "signal.delay(2, -1.0, x)", lambda x: delayed(x, 2, -1.0)),
    Series("saturate", "control.saturate(-1.0, 1.0, x)", lambda x: np.clip(x, -1, 1)),
    Series("hysteresis", "control.hysteresis(-0.5, 0.5, x)", switched),
    Series("debounce", "control.debounce(2, x)", debounced),
]
DELAYS = [Series("y", "signal.delay_by(k, 4, -1.0, x)", delayed_by)]
LINEAR = [
    Series("ema", "signal.ema(0.25, x)", ema),
    Series("fir", "signal.fir([0.5, 0.25, -1.0], x)", lambda x: signal.lfilter([0.5, 0.25, -1], [1], x)),
    Series("biquad", "signal.biquad([1.0, 2.0, 1.0], [-0.5, 0.25], x)",
           lambda x: signal.lfilter([1, 2, 1], [1, -0.5, 0.25], x)),
    Series("rate_limit", "control.rate_limit(1.0, 0.5, x)", limited),
    Series("average", "metrics.average(x)", always(per_segment(np.mean))),
    Series("moment, variance", "metrics.moments(x)",
           lambda x: (always(per_segment(np.mean))(x), always(per_segment(np.var))(x))),
    Series("average_end", "metrics.average_end(e, x)", per_segment(np.mean)),
    Series("moment_end, variance_end", "metrics.moments_end(e, x)",
           lambda e, x: (per_segment(np.mean)(e, x), per_segment(np.var)(e, x))),
    Series("held", "fby_end(e, 7.0, x)", lambda e, x: np.array([7.0 if s == t else x[t - 1] for t, s in enumerate(segments(e))])),
    Series("coming", "post_end(e, 7.0, x)", lambda e, x: np.where(e, 7.0, np.roll(x, -1))),
    Series("filled", "backfill(x, e)", lambda e, x: np.array([x[t + np.argmax(e[t:])] for t in range(len(x))])),
    Series("fixed", "param_end(e, x)", lambda e, x: x[segments(e)]),
]
LABELS = [
    Series("accuracy", "cast(i32, 1e6 * metrics.accuracy(p, k) + 0.5)", always(per_segment(accuracy))),
    Series("accuracy_end", "cast(i32, 1e6 * metrics.accuracy_end(e, p, k) + 0.5)", per_segment(accuracy)),
    Series("confusion", "cast(i32, metrics.confusion(3, p, k))", always(per_segment(confusion))),
    Series("confusion_end", "cast(i32, metrics.confusion_end(3, e, p, k))", per_segment(confusion)),
]

def pairs(z):
    return np.stack([z.real, z.imag], -1)

def as_complex(x):
    return x[..., 0] + 1j * x[..., 1]

SPECTRA = [
    Series("fft", "signal.fft(0, x)", lambda x: pairs(fft.fft(as_complex(x), axis=1))),
    Series("ifft", "signal.ifft(0, x)", lambda x: pairs(fft.ifft(as_complex(x), axis=1))),
    Series("re, im", "signal.rfft(0, x)", lambda x: (fft.rfft(x, axis=1).real, fft.rfft(x, axis=1).imag)),

]
random = np.random.default_rng(91)
x = list(np.round(random.uniform(-2, 2, 12), 2))
e = [np.bool_(k) for k in (0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1)]
wide = [0.0, -0.0, 1e6, -1e6, 1e-6, 0.0, 0.0, 5.0, 5.0, 5.0, 5.0, 5.0]
wild = [0.0, INF, INF, -INF, 0.0, 0.5, -0.5, -0.5, 1e30, -0.5, -1e30, 0.0]
labels = [np.int32(k) for k in random.integers(0, 3, 12)]
predicted = [np.int32(k) for k in random.integers(0, 3, 12)]
complexes = [np.round(random.uniform(-2, 2, (5, 2)), 2) for _ in range(3)]
LOOSE = {"f32": "2e-5", "f64": "1e-9"}
GROUPS = [
    Group("streams_floats", "ordinary", "NumPy", {"x": x}, FLOATS),
    Group("streams_floats_edges", "edge", "NumPy", {"x": wild}, FLOATS),
    Group("streams_delays", "ordinary", "NumPy", {"k": [1, 0, 2, 4, 3, 4, 0, 1], "x": x[:8]}, DELAYS),
    Group("streams_delays_edges", "edge", "NumPy", {"k": [4, 4, 4, 4, 4, 0], "x": [NAN, INF, -0.0, 1e30, -INF, NAN]}, DELAYS),
    Group("streams_linear", "ordinary", "SciPy and NumPy", {"e": e, "x": x}, LINEAR, LOOSE),
    Group("streams_linear_edges", "edge", "SciPy and NumPy", {"e": e, "x": wide}, LINEAR, {"f32": "3e-4", "f64": "1e-9"}),
    Group("streams_labels", "ordinary edge", "scikit-learn", {"e": e, "p": predicted, "k": labels}, LABELS),
    Group("streams_spectra", "ordinary", "SciPy", {"x": complexes}, SPECTRA, LOOSE),
    Group("streams_spectra_edges", "edge", "SciPy",
          {"x": [np.zeros((5, 2)), np.ones((5, 2)), np.array([[1e15, 0]] + [[0.0, 0.0]] * 4)]}, SPECTRA,
          {"f32": "1e-3", "f64": "1e-9"}),
]
