"""Expected values of signals, control and metrics. Filters are SciPy's: a Butterworth design for
low pass and high pass, freqz for the notch, lfilter for all."""

import numpy as np
from common import ABSENT, same, uniform, write
from scipy import signal


def padded(x, n):
    return np.concatenate([np.zeros((n,) + x.shape[1:]), x])


def signals():
    random = np.random.default_rng(3)
    n = 40
    x, v, c = uniform(random, n), uniform(random, n, 2), random.random(n) < 0.4
    taps = [0.5, -0.25, 1.0, 0.125]
    low_b, low_a = signal.butter(2, 2 * 0.1)
    high_b, high_a = signal.butter(2, 2 * 0.1, "high")
    # A notch filter has its zeros on the unit circle, and gain 1 far from them.
    angle, quality = 2 * np.pi * 0.1, 2.0
    width = np.sin(angle) / (2 * quality)
    notch_b = np.array([1, -2 * np.cos(angle), 1]) / (1 + width)
    notch_a = np.array([1 + width, -2 * np.cos(angle), 1 - width]) / (1 + width)
    same(np.abs(signal.freqz(notch_b, notch_a, [0, angle, np.pi - 1e-9])[1]), [1, 0, 1], 1e-6)
    ema = [v[0]]
    for t in range(1, n):
        ema.append(0.7 * ema[-1] + 0.3 * v[t])
    held, last = [], -1.0
    for t in range(n):
        last = x[t] if c[t] else last
        held.append(last)
    write("signals.in.chron", {"x": x, "v": v, "c": c, "s": [a if p else ABSENT for a, p in zip(x, c)]})
    write(
        "signals.out.chron",
        {
            "recent": [padded(v, 2)[t : t + 3][::-1] for t in range(n)],
            "delayed": np.concatenate([np.full((3, 2), 7.0), v])[:n],
            "ema": ema,
            "fir": signal.lfilter(taps, [1.0], x),
            "low": signal.lfilter(low_b, low_a, x),
            "high": signal.lfilter(high_b, high_a, x),
            "notch": signal.lfilter(notch_b, notch_a, x),
            "keep": [t % 4 == 0 for t in range(n)],
            "kept": [v[t] if t % 4 == 0 else ABSENT for t in range(n)],
            "held": held,
        },
    )


def control():
    random = np.random.default_rng(4)
    n, dt, low, high = 60, 0.1, 0.0, 2.5
    target = np.repeat([1.0, 8.0, -3.0], 20)
    measured = np.round(uniform(random, n) * 0.3 + target * np.tile(np.linspace(0, 1, 20), 3) ** 0.3, 3)
    kp = np.round(np.linspace(0.4, 0.8, n), 3)
    command, integral = [], 0.0
    for t in range(n):
        error, rate = target[t] - measured[t], (measured[t] - measured[max(t - 1, 0)]) / dt
        tried = integral + 0.9 * error * dt
        wanted = kp[t] * error + tried - 0.02 * rate
        # At a limit, an error that pushes further beyond it does not change the integral.
        if not (wanted > high and error > 0 or wanted < low and error < 0):
            integral = tried
        command.append(np.clip(wanted, low, high))
    assert low in command and high in command and sum(low < c < high for c in command) > 20
    on, state = [], False
    for m in measured:
        state = m >= 0.0 if state else m > 1.0
        on.append(state)
    pressed = random.random(n) < np.repeat([0.2, 0.9, 0.1], 20)
    steady, shown = [], pressed[0]
    for t in range(n):
        if t >= 2 and pressed[t] == pressed[t - 1] == pressed[t - 2]:
            shown = pressed[t]
        steady.append(shown)
    assert 2 <= sum(a != b for a, b in zip(steady, steady[1:])) < sum(a != b for a, b in zip(pressed, pressed[1:]))
    limited = [measured[0]]
    for m in measured[1:]:
        limited.append(limited[-1] + np.clip(m - limited[-1], -0.4, 0.25))
    write("regulators.in.chron", {"target": target, "measured": measured, "kp": kp, "pressed": pressed})
    write(
        "regulators.out.chron",
        {"command": command, "on": on, "steady": steady, "limited": limited, "saturated": np.clip(measured, -1, 1)},
    )


def metrics():
    random = np.random.default_rng(5)
    n = 24
    end = random.random(n) < 0.25
    x = np.round(1e6 + random.normal(size=(n, 2)), 4)  # the mean is large: sums of squares would lose digits
    predicted, label = random.integers(0, 3, n), random.integers(0, 3, n)

    def count(lo, hi):
        counts = np.zeros((3, 3), dtype=int)
        np.add.at(counts, (label[lo:hi], predicted[lo:hi]), 1)
        return counts

    starts = [max([s + 1 for s in range(t) if end[s]], default=0) for t in range(n)]
    rows = {name: [] for name in ("average", "variance", "rate", "counts")}
    rows |= {name + "_end": [] for name in rows}
    for t in range(n):
        for suffix, begin in (("", 0), ("_end", starts[t])):
            part = slice(begin, t + 1)
            rows["average" + suffix].append(x[part].mean(axis=0))
            rows["variance" + suffix].append(x[part].var(axis=0))
            rows["rate" + suffix].append(np.mean(predicted[part] == label[part]))
            rows["counts" + suffix].append(count(begin, t + 1))
    write("statistics.in.chron", {"end": end, "x": x, "predicted": predicted, "label": label})
    write("statistics.out.chron", rows)


signals()
control()
metrics()
