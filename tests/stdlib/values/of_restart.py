"""Expected values of memories and filters that restart, by SciPy and NumPy: each run between two
restarts on its own."""

import numpy as np
from groups import INF, Group, Series
from scipy import signal


def each_run(of_one):
    """Applies `of_one` separately to the cycles between two restarts."""

    def run(r, x):
        starts = sorted({0, *np.flatnonzero(r)})
        return np.concatenate([of_one(part) for part in np.split(x, starts[1:])])

    return run


def delayed(x, n, init):
    return np.concatenate([np.full(n, init), x])[:len(x)]


def ema(x):
    return signal.lfilter([0.25], [1, -0.75], x, zi=[0.75 * x[0]])[0]


SECTIONS = signal.butter(3, 0.2, fs=1, output="sos")
TEXT = "[" + ", ".join(str(list(map(float, row))) for row in SECTIONS) + "]"
FORMS = [
    Series("held", "restart.memory(r, 7.0, x)", each_run(lambda x: delayed(x, 1, 7.0))),
    Series("window", "restart.window(r, 3, x)", each_run(lambda x: np.stack([delayed(x, k, 0.0) for k in range(3)], 1))),
    Series("delay", "restart.delay(r, 2, -1.0, x)", each_run(lambda x: delayed(x, 2, -1.0))),
    Series("ema", "restart.ema(r, 0.25, x)", each_run(ema)),
    Series("fir", "restart.fir(r, [0.5, 0.25, -1.0], x)", each_run(lambda x: signal.lfilter([0.5, 0.25, -1], [1], x))),
    Series("biquad", "restart.biquad(r, [1.0, 2.0, 1.0], [-0.5, 0.25], x)",
           each_run(lambda x: signal.lfilter([1, 2, 1], [1, -0.5, 0.25], x))),
    Series("sections", f"restart.sosfilt(r, {TEXT}, x)", each_run(lambda x: signal.sosfilt(SECTIONS, x))),
]
random = np.random.default_rng(191)
AT = [np.bool_(r) for r in (0, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0)]
FIRST = [np.bool_(r) for r in (1, 1, 0, 0, 0, 0, 1, 0)]
LOOSE = {"f32": "1e-4", "f64": "1e-10"}
GROUPS = [
    Group("restart_forms", "ordinary", "SciPy", {"r": AT, "x": list(np.round(random.uniform(-2, 2, 12), 2))}, FORMS, LOOSE),
    Group("restart_forms_edges", "edge", "SciPy", {"r": FIRST, "x": [1e30, 0.0, 1.0, 1e-30, -0.0, INF, 2.0, 0.0]}, FORMS, LOOSE),
]
