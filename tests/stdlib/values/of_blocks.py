"""Expected values of blocks of controllers: timers, counters, limits and votes, by NumPy and
pandas; PID controllers that wait, are reset and track another command, by a difference equation
of their own."""

import warnings

import numpy as np
import pandas as pd
from groups import INF, NAN, Group, Series


def rising(x):
    return np.diff(np.concatenate([[False], x]).astype(int)) == 1


def falling(x):
    return np.diff(np.concatenate([[False], x]).astype(int)) == -1


def recent(of_window):
    """A statistic of the last n + 1 cycles, where `n` may change, and whether there are that
    many."""
    return lambda n, x: np.array([of_window(x[max(0, t - k):t + 1], t >= k) for t, k in enumerate(n.astype(int))])


def last_time(x):
    return np.maximum.accumulate(np.where(x, np.arange(len(x)), -1))


def latched(on, off):
    return last_time(on) > last_time(off)


def counted(r, up, down):
    moved = up.astype(int) - down.astype(int)
    return np.array([moved[last + 1:t + 1].sum() for t, last in enumerate(last_time(r))]).astype(np.int32)


def unattended(n, alive):
    return np.arange(len(alive)) - last_time(alive) >= np.maximum(n, 1)


SWITCHES = [
    Series("rising, falling", "control.edge(a)", lambda a: (rising(a), falling(a))),
    Series("later", "control.timer_on(n, a)", recent(lambda w, full: full and w.all())),
    Series("longer", "control.timer_off(n, a)", recent(lambda w, full: w.any())),
    Series("latched", "control.latch(a, b)", latched),
    Series("count", "control.counter(c, a, b)", lambda a, b, c: counted(c, a, b)),
    Series("expired", "control.watchdog(n, a)", unattended),
    Series("vote", "control.vote(a, b, c)", lambda a, b, c: a.astype(int) + b + c >= 2),
]


def held(x, first):
    return pd.Series(x).where(np.isfinite(x)).ffill().fillna(first).to_numpy()


def held_within(x):
    limited = np.clip(x, 0.5, 2.0)
    return pd.Series(limited).ffill().fillna(0.5).to_numpy(), ~np.isnan(limited)


def limited(x):
    x, out = held(x, 0.0), []
    for v in x:
        out.append(out[-1] + np.clip(v - out[-1], -0.5, 1.0) if out else v)
    return np.array(out)


def ramp(c, x):
    """A value that starts at 0.5 after each restart and moves by at most 0.75 per cycle towards the
    target."""
    out = []
    for restart, target in zip(c, held(x, 0.5)):
        far = target - out[-1] if out else 0.0
        out.append(0.5 if restart or not out else target if abs(far) <= 0.75 else out[-1] + 0.75 * np.sign(far))
    return np.array(out), np.array(out) == held(x, 0.5)


def outside(x):
    return np.select([np.isnan(x), x > 1, x < -0.5], [NAN, x - 1, x + 0.5], 0.0)


def middle(x, y, z):
    channels = np.where(np.isfinite([x, y, z]), [x, y, z], NAN)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = np.nanmedian(channels, axis=0)
    near = np.abs(channels - np.roll(channels, 1, axis=0)) <= 0.5
    return pd.Series(value).ffill().fillna(0.0).to_numpy(), near.any(axis=0)


NUMBERS = [
    Series("held, ok", "control.last_finite(7.0, x)", lambda x: (held(x, 7.0), np.isfinite(x))),
    Series("within, there", "control.saturate_held(0.5, 2.0, x)", held_within),
    Series("slow", "control.rate_limit(1.0, 0.5, x)", limited),
    Series("ramp, done", "control.ramp(c, 0.5, x, 0.75)", ramp),
    Series("dead", "control.dead_band(-0.5, 1.0, x)", outside),
    Series("middle, agreed", "control.vote_value(0.5, x, y, z)", middle),
]


class Regulator:
    """A controller that stores what its integral needs to add to the other terms."""

    def __init__(self, gains, dt, limits):
        (self.kp, self.ki, self.kd), self.dt, self.limits = gains, dt, limits
        self.command, self.sum, self.before = np.clip(0.0, *limits), 0.0, None

    def step(self, reset, track, tracked, target, measured):
        if reset:
            self.__init__((self.kp, self.ki, self.kd), self.dt, self.limits)
        good = np.isfinite(target) and np.isfinite(measured)
        slope = 0.0 if self.before is None or not good else (measured - self.before) / self.dt
        self.before = measured if np.isfinite(measured) else None
        if track:
            good = good and np.isfinite(tracked)
            if np.isfinite(tracked):
                self.command = np.clip(tracked, *self.limits)
            if good:
                self.sum = self.command + self.kd * slope - self.kp * (target - measured)
        elif good:
            grown = self.sum + self.ki * (target - measured) * self.dt
            wanted = self.kp * (target - measured) + grown - self.kd * slope
            self.command = np.clip(wanted, *self.limits)
            # The integral does not move further beyond a limit.
            if self.command == wanted or np.sign(grown - self.sum) != np.sign(wanted - self.command):
                self.sum = grown
        return self.command, good


def regulated(r, m, u, t, x):
    block = Regulator((2.0, 0.75, 0.25), 0.5, (-4.0, 4.0))
    return tuple(np.array(rows) for rows in zip(*[block.step(*row) for row in zip(r, m, u, t, x)]))


def plain(t, x):
    none = np.zeros(len(t), bool)
    return regulated(none, none, t, t, x)[0]


REGULATORS = [
    Series("command, ok", "control.pid_tracking(2.0, 0.75, 0.25, 0.5, -4.0, 4.0, r, m, u, t, x)", regulated),
    Series("plain", "control.pid(2.0, 0.75, 0.25, 0.5, -4.0, 4.0, t, x)", plain),
]
random = np.random.default_rng(211)


def bits(chance, n):
    return [np.bool_(b) for b in random.uniform(size=n) < chance]


def drawn(n):
    return list(np.round(random.uniform(-2, 2, n) * 8) / 8)


def spoilt(*places):
    """Sixteen numbers; those at `places` are not finite."""
    return [(NAN, INF, -INF)[k % 3] if k in places else v for k, v in enumerate(drawn(16))]


INTEGERS = [np.int32(k) for k in random.integers(0, 4, 24)]
GROUPS = [
    Group("blocks_switches", "ordinary", "NumPy",
          {"n": INTEGERS, "a": bits(0.6, 24), "b": bits(0.4, 24), "c": bits(0.2, 24)}, SWITCHES),
    Group("blocks_switches_edges", "edge", "NumPy",
          {"n": [np.int32(k) for k in (0, 0, 1, 0, 1, 2, 2147483647, 2)], "a": [np.bool_(k) for k in (1, 1, 1, 0, 0, 0, 0, 1)],
           "b": [np.bool_(k) for k in (0, 0, 0, 1, 1, 1, 1, 1)], "c": [np.bool_(k) for k in (1, 0, 0, 0, 0, 0, 0, 1)]},
          SWITCHES),
    Group("blocks_numbers", "ordinary", "NumPy and pandas",
          {"c": bits(0.1, 16), "x": drawn(16), "y": drawn(16), "z": drawn(16)}, NUMBERS),
    Group("blocks_numbers_edges", "edge", "NumPy and pandas",
          {"c": bits(0.1, 16), "x": spoilt(0, 1, 4, 5, 6, 9, 10, 15), "y": spoilt(1, 5, 6, 11), "z": spoilt(0, 1, 6, 9, 15)}, NUMBERS),
    Group("blocks_constant", "edge", "NumPy and pandas",
          {"c": [np.bool_(0)] * 6, "x": [1.0] * 6, "y": [1.0] * 6, "z": [-0.0] * 6}, NUMBERS),
    Group("blocks_pid", "ordinary", "NumPy",
          {"r": bits(0.1, 16), "m": bits(0.4, 16), "u": drawn(16), "t": drawn(16), "x": drawn(16)}, REGULATORS),
    Group("blocks_pid_edges", "edge", "NumPy",
          {"r": [np.bool_(k in (6, 13)) for k in range(16)], "m": [np.bool_(k in (3, 4, 8, 9, 10, 13)) for k in range(16)],
           "u": spoilt(4, 8, 9), "t": spoilt(7, 10), "x": spoilt(0, 4, 6, 11, 12)}, REGULATORS),
]
