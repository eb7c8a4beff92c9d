"""Writes the inputs and the expected rows of cases 1 to 3: control, multi-rate programs, values
broadcast towards the past."""

import numpy as np
from common import ABSENT, UNDETERMINED, emitted, generator, write

random = generator(1)


def draw(cycles, low=-1.5, high=1.5):
    return [round(float(v), 2) for v in random.uniform(low, high, cycles)]


def flags(cycles, often=0.5):
    return [bool(v < often) for v in random.uniform(0, 1, cycles)]


def integers(cycles):
    return [int(v) for v in random.integers(-20, 20, cycles)]


def counters():
    reset = flags(20, 0.2)
    o, last = [], -1
    for r in reset:
        last = 0 if r else last + 1
        o.append(last)
    cycles = range(20)
    write("case01_counter.in.chron", {"reset": reset})
    write(
        "case01_counter.out.chron",
        {
            "o": o,
            "m": [n % 5 for n in cycles],
            "a": [n % 3 for n in cycles],
            "b": [n // 3 for n in cycles],
            "wraps": [(250 + 3 * n) % 256 for n in cycles],
        },
    )


def fir():
    x = draw(40)
    taps = [0.1, 0.2, 0.4, 0.2, 0.1]
    y = np.convolve(x, taps)[:40]
    write("case01_fir.in.chron", {"x": x})
    write("case01_fir.out.chron", {"y": y, "z": np.convolve(y, taps)[:40]})


def pid():
    setpoint = [1.0] * 25 + [-3.0] * 25 + [0.5] * 25
    dt, y, total, last = 0.1, 0.0, 0.0, None
    us, ys = [], []
    for s in setpoint:
        error = s - y
        change = 0.0 if last is None else error - last
        wanted = 1.2 * error + 0.8 * total + 0.05 * change / dt
        u = min(2.0, max(-2.0, wanted))
        if u == wanted:
            total += error * dt
        last = error
        us.append(u), ys.append(y)
        y += dt * (u - 0.5 * y)
    assert min(us) == -2.0
    write("case01_pid.in.chron", {"setpoint": setpoint})
    write("case01_pid.out.chron", {"u": us, "y": ys})


def kalman():
    seen = flags(30, 0.7)
    z = [round(0.5 * n + v, 2) for n, v in enumerate(draw(30, -0.5, 0.5))]
    dt = 0.5
    f, q = np.array([[1, dt], [0, 1]]), np.diag([0.01, 0.02])
    h = np.array([[1.0, 0.0]])
    x, p = np.array([0.0, 1.0]), np.eye(2)
    xs, ps = [], []
    for here, measured in zip(seen, z):
        x, p = f @ x, f @ p @ f.T + q
        if here:
            gain = p @ h.T @ np.linalg.inv(h @ p @ h.T + 0.25)
            x = x + gain @ (np.array([measured]) - h @ x)
            p = (np.eye(2) - gain @ h) @ p
        xs.append(x), ps.append(p)
    write("case01_kalman.in.chron", {"seen": seen, "z": [v if s else ABSENT for s, v in zip(seen, z)]})
    write("case01_kalman.out.chron", {"x": xs, "p": ps})


def multirate():
    cycles = 40
    x, a0, b0, c0 = integers(cycles), flags(cycles, 0.7), flags(cycles, 0.6), flags(cycles, 0.5)
    a = a0
    b = [v if p else ABSENT for v, p in zip(b0, a)]
    c = [v if p is True else ABSENT for v, p in zip(c0, b)]
    write("case02_deep.in.chron", {"a": a, "b": b, "c": c, "x": x})

    depth = [0 if not p else 1 if not q else 2 if not r else 3 for p, q, r in zip(a, b0, c0)]
    # At each depth, the sums are over the cycles at which the depth is at least that large.
    counts, sums = [0] * 4, [0] * 4
    rows = {"n": [], "na": [], "nb": [], "nc": [], "s": []}
    for d, value in zip(depth, x):
        for k in range(d + 1):
            counts[k] += 1
            sums[k] += value
        for k, name in enumerate(["n", "na", "nb", "nc"]):
            rows[name].append(counts[k] if d >= k else ABSENT)
        rows["s"].append(sums[d])
    write("case02_deep.out.chron", rows)

    rows = {}
    for k, name in enumerate(["d", "da", "db", "d3"]):
        there = [n for n in range(cycles) if depth[n] >= k]
        row = [ABSENT] * cycles
        for n, following in zip(there, there[1:] + [None]):
            row[n] = UNDETERMINED if following is None else x[following] - x[n]
        rows[name] = row
    write("case02_lookahead.out.chron", emitted(rows))


def cascade():
    cycles = 48
    target = [1.0] * 20 + [-0.5] * 28
    rows = {name: [] for name in ["slow", "slower", "u1", "u2", "u3", "y"]}
    y, outer, middle, held2, held3 = 0.0, 0.0, 0.0, 0.0, 0.0
    for n in range(cycles):
        slow, slower = n % 3 == 0, n % 6 == 0
        if slower:
            outer += 0.5 * (target[n] - y)
            held3 = outer
        if slow:
            middle += 0.1 * (target[n] - y)
            held2 = 0.8 * (held3 - y) + middle
        u1 = 2.0 * held2 - y
        for name, value in {
            "slow": slow,
            "slower": slower if slow else ABSENT,
            "u1": u1,
            "u2": held2 if slow else ABSENT,
            "u3": held3 if slower else ABSENT,
            "y": y,
        }.items():
            rows[name].append(value)
        y = 0.9 * y + 0.1 * u1
    write("case02_cascade.in.chron", {"target": target})
    write("case02_cascade.out.chron", rows)


def next_where(values, there):
    """At each cycle, the first present value from this cycle on."""
    result, coming = [], UNDETERMINED
    for value, here in zip(values[::-1], there[::-1]):
        coming = value if here else coming
        result.append(coming)
    return result[::-1]


def both(f, *rows):
    """Applies f at the cycles at which all operands are known."""
    return [UNDETERMINED if UNDETERMINED in cells else f(*cells) for cells in zip(*rows)]


def backfills():
    a, b, i = flags(30, 0.4), flags(30, 0.25), integers(30)
    a[-2:], b[-4:] = [True, False], [True, False, False, False]
    write("case03_backfill.in.chron", {"a": a, "b": b, "i": i})
    write("case03_alone.out.chron", emitted({"o": next_where(i, a), "p": next_where(i, b)}))
    inner = next_where(i, a)
    o = next_where(inner, b)
    p = next_where(both(lambda u, v: 10 * u + v, i, next_where(i, b)), a)
    middle = next_where(both(lambda u, v: u + v, inner, i), b)
    q = next_where(both(lambda u, v: u - v, middle, i), a)
    write("case03_nested.out.chron", emitted({"o": o, "p": p, "q": q}))

    c, a, i = flags(30, 0.6), flags(30, 0.4), integers(30)
    c[-3:], a[-3:] = [True, True, False], [True, False, False]
    there = [n for n in range(30) if c[n]]
    filled = next_where([i[n] for n in there], [a[n] for n in there])
    o = [ABSENT] * 30
    for n, value in zip(there, filled):
        o[n] = value
    write("case03_sampled.in.chron", {"c": c, "a": [v if p else ABSENT for v, p in zip(a, c)], "i": i})
    write("case03_sampled.out.chron", emitted({"o": o, "m": [v if p else w for p, v, w in zip(c, o, i)]}))

    end, i = flags(30, 0.25), integers(30)
    end[3:6] = [True, True, True]
    end[-1] = True
    rows = {"ahead": [], "behind": [], "whole": []}
    begin = 0
    for n in range(30):
        if end[n]:
            segment = np.array(i[begin : n + 1])
            rows["behind"] += list(np.cumsum(segment))
            rows["ahead"] += list(np.cumsum(segment[::-1])[::-1])
            rows["whole"] += [int(segment.sum())] * len(segment)
            begin = n + 1
    write("case03_accumulated.in.chron", {"end": end, "i": i})
    write("case03_accumulated.out.chron", rows)


counters()
fir()
pid()
kalman()
multirate()
cascade()
backfills()
