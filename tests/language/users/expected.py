"""Writes inputs and expected rows of the programs beside this file, each computed again step
by step."""

import math
import pathlib
import random
import statistics

HERE = pathlib.Path(__file__).parent


def text(value):
    """A value as chronograms write it."""
    if value is None:
        return "."
    if isinstance(value, bool):
        return "FT"[value]
    if isinstance(value, list):
        return "[" + ",".join(map(text, value)) + "]"
    return repr(value)


def write(name, **streams):
    (HERE / name).write_text("".join(f"{k} | {' '.join(map(text, v))}\n" for k, v in streams.items()))


def read(name):
    """The streams of a chronogram of scalars."""
    values = {"T": True, "F": False, ".": None}
    lines = (line.split() for line in (HERE / name).read_text().splitlines())
    return {line[0]: [values[v] if v in values else float(v) for v in line[2:]] for line in lines}


def plc_timers(pt, output):
    """Rung by rung, as a PLC scans them."""
    inputs = read("plc_timers.in.chron")["input"]
    rows = [[] for _ in range(6)]
    on_time, off_time, pulse_time, pulsing, last = 0, pt, 0, False, False
    for on in inputs:
        on_time = min(on_time + 1, pt) if on else 0
        off_time = 0 if on else min(off_time + 1, pt)
        if pulsing and pulse_time >= pt:
            pulsing = False
        elif pulsing:
            pulse_time += 1
        if not pulsing and on and not last:
            pulsing, pulse_time = True, 1
        elif not pulsing and not on:
            pulse_time = 0
        last = on
        values = on and on_time >= pt, on_time, on or off_time < pt, off_time, pulsing, pulse_time
        for row, value in zip(rows, values):
            row.append(value)
    names = "on_delay", "on_time", "off_delay", "off_time", "pulse", "pulse_time"
    write(output, **dict(zip(names, rows)))


def kalman():
    """The filter of two states as scalar equations."""
    draw = random.Random(1)
    z = [round(0.4 * k + draw.gauss(0, 0.5), 2) for k in range(20)]
    dt, q, r = 0.5, 0.01, 0.25
    x, v, a, b, c = 0.0, 0.0, 1.0, 0.0, 1.0
    position, speed, doubt = [], [], []
    for m in z:
        x += dt * v
        a, b, c = a + 2 * dt * b + dt * dt * c + q, b + dt * c, c + q
        gain_x, gain_v = a / (a + r), b / (a + r)
        x, v = x + gain_x * (m - x), v + gain_v * (m - x)
        a, b, c = a - gain_x * a, b - gain_x * b, c - gain_v * b
        position.append(x)
        speed.append(v)
        doubt.append(math.sqrt(a))
    write("kalman.in.chron", z=z)
    write("kalman.out.chron", position=position, speed=speed, doubt=doubt, differ=[False] * len(z))


def moving_median():
    draw = random.Random(2)
    x = [draw.randint(-9, 9) + 0.5 * draw.randint(0, 1) for _ in range(25)]
    short = [float(statistics.median(x[max(0, t - 4) : t + 1])) for t in range(len(x))]
    whole = [float(statistics.median(([0.0] * 4 + x)[t : t + 5])) for t in range(len(x))]
    write("moving_median.in.chron", x=x)
    write("moving_median.out.chron", median5=short, library=whole)


def traffic_light():
    """A machine that stays in a state for some cycles and then moves to the next."""
    draw = random.Random(3)
    button = [draw.random() < 0.08 for _ in range(60)]
    states, state, stayed, asked = [], 0, 0, False
    for pressed in button:
        asked = asked or pressed
        if stayed >= {0: 3, 1: 1, 2: 2 if asked else 5, 3: 1}[state]:
            state, stayed = (state + 1) % 4, 0
        if state == 3:
            asked = False
        stayed += 1
        states.append(state)
    write("traffic_light.in.chron", button=button)
    lights = {"stop": (0, 1), "prepare": (1, 3), "go": (2,)}
    write("traffic_light.out.chron", state=states, **{k: [s in v for s in states] for k, v in lights.items()})


def upsampler():
    """Interpolates between two samples; values after the last sample are never determined."""
    x = read("upsampler.in.chron")["x"]
    known = [t for t, v in enumerate(x) if v is not None]
    y = []
    for left, right in zip(known, known[1:]):
        y += [x[left] + (x[right] - x[left]) * (t - left) / (right - left) for t in range(left, right)]
    (HERE / "upsampler.out.chron").write_text(f"y | {' '.join(map(text, y))} ?\n")


def spectrogram():
    draw = random.Random(4)
    x = [round(math.cos(2.4 * t) + 0.2 * draw.gauss(0, 1), 3) for t in range(22)]
    rows = {"due": [], "power": [], "loudest": [], "differ": []}
    for t in range(len(x)):
        due = t % 4 == 3
        rows["due"].append(due)
        power = None
        if due:
            frame = ([0.0] * 8 + x)[t + 1 : t + 9]
            frame = [v * math.sin(math.pi * k / 8) ** 2 for k, v in enumerate(frame)]
            sums = [sum(v * complex(math.cos(a * k), math.sin(a * k)) for k, v in enumerate(frame))
                    for a in (2 * math.pi * f / 8 for f in range(5))]
            power = [abs(s) ** 2 for s in sums]
        rows["power"].append(power)
        rows["loudest"].append(power and power.index(max(power)))
        rows["differ"].append(False if due else None)
    write("spectrogram.in.chron", x=x)
    write("spectrogram.out.chron", **rows)


def bandit():
    draw = random.Random(5)
    explore = [draw.random() < 0.4 for _ in range(30)]
    other = [draw.randrange(3) for _ in explore]
    luck = [round(draw.random(), 3) for _ in explore]
    earned, arms, rewards, values = {0: [], 1: [], 2: []}, [], [], []
    means = [0.0, 0.0, 0.0]
    for e, o, u in zip(explore, other, luck):
        arm = o if e else means.index(max(means))
        reward = float(u < (0.2, 0.5, 0.8)[arm])
        earned[arm].append(reward)
        means[arm] = statistics.fmean(earned[arm])
        arms.append(arm)
        rewards.append(reward)
        values.append(list(means))
    write("bandit.in.chron", explore=explore, other=other, luck=luck)
    write("bandit.out.chron", arm=arms, reward=rewards, values=values)


def attitude():
    draw = random.Random(6)
    rows = {k: [] for k in "abc"}
    slope, out = [], {k: [] for k in ("pitch", "rate", "faults", "lost")}
    run, broken, pitch = [0, 0, 0], [False] * 3, None
    for t in range(24):
        gyros = [round(math.sin(0.3 * t) + draw.gauss(0, 0.05), 3) for _ in range(3)]
        if 6 <= t < 8 or t >= 11:  # a glitch, then a failure
            gyros[1] = 5.0
        if t >= 19:
            gyros[2] = -4.0
        accelerometer = round(0.5 * math.cos(0.2 * t) + draw.gauss(0, 0.02), 3)
        rate = statistics.median(gyros)
        for k, g in enumerate(gyros):
            run[k] = run[k] + 1 if abs(g - rate) > 0.5 else 0
            broken[k] = broken[k] or run[k] >= 3
        pitch = 0.9 * ((accelerometer if pitch is None else pitch) + 0.1 * rate) + 0.1 * accelerometer
        for k, g in zip("abc", gyros):
            rows[k].append(g)
        slope.append(accelerometer)
        for k, v in zip(out, (pitch, rate, sum(broken), sum(broken) > 1)):
            out[k].append(v)
    write("attitude.in.chron", **rows, accelerometer=slope)
    write("attitude.out.chron", **out)


def crc():
    """The checksum as the remainder of a long division, with the register as a list of bits."""
    data = b"123456789\x00\xff"
    sums = []
    for n in range(1, len(data) + 1):
        message = int.from_bytes(data[:n], "big") << 16
        message ^= 0xFFFF << 8 * n
        for bit in range(8 * n + 15, 15, -1):
            if message >> bit & 1:
                message ^= 0x11021 << bit - 16
        sums.append(message)
    assert sums[8] == 0x29B1  # the check value of the catalogues
    bits, register = [int(c) for c in f"{44257:016b}"], []
    for _ in data:
        register.append(int("".join(map(str, bits)), 2))
        bits = [bits[15] ^ bits[13] ^ bits[12] ^ bits[10], *bits[:15]]
    write("crc.in.chron", byte=list(data))
    write("crc.out.chron", crc=sums, lfsr=register)


def forward_backward():
    inputs = read("forward_backward.in.chron")
    forward, both, begin = [], [], 0
    for t, end in enumerate(inputs["end"]):
        if not end:
            continue
        part = inputs["x"][begin : t + 1]
        for passes in range(2):
            y = part[0]
            filtered = []
            for v in part:
                y = 0.5 * v + 0.5 * y
                filtered.append(y)
            if passes == 0:
                forward += filtered
            part = filtered[::-1]
        both += part
        begin = t + 1
    write("forward_backward.out.chron", forward=forward, both=both)


def quadrature():
    draw = random.Random(7)
    turns = [draw.choice((1, 1, 0, -1)) for _ in range(39)]
    turns[20] = turns[30] = 2
    cycle = [(False, False), (True, False), (True, True), (False, True)]
    at, position, forward, missed = 0, 0, True, 0
    rows = {k: [] for k in ("a", "b")}
    out = {k: [] for k in ("position", "forward", "missed")}
    for turn in [0, *turns]:
        at += turn
        position += turn if abs(turn) == 1 else 0
        forward = turn == 1 if abs(turn) == 1 else forward
        missed += turn == 2
        for k, v in zip("ab", cycle[at % 4]):
            rows[k].append(v)
        for k, v in zip(out, (position, forward, missed)):
            out[k].append(v)
    write("quadrature.in.chron", **rows)
    write("quadrature.out.chron", **out)


def filter_bank():
    """The filter bank, computed from the impulse responses r^n sin((n + 1) w) / sin(w) with r =
    0.9."""
    draw = random.Random(8)
    x = [round(draw.gauss(0, 1), 2) for _ in range(20)]
    turns = 0.3, 0.8, 1.6, 2.5
    response = [[0.9**n * math.sin((n + 1) * w) / math.sin(w) for n in range(len(x))] for w in turns]
    y = [[sum(h[n] * x[t - n] for n in range(t + 1)) for h in response] for t in range(len(x))]
    energy = [[sum(0.9**n * y[t - n][k] ** 2 for n in range(t + 1)) for k in range(4)] for t in range(len(x))]
    write("filter_bank.in.chron", x=x)
    write("filter_bank.out.chron", y=y, energy=energy, loudest=[e.index(max(e)) for e in energy])


def missing_values():
    inputs = read("missing_values.in.chron")
    held, age, seen, filled, gaps = 0.0, 0, [], 0.0, 0
    out = {k: [] for k in ("held", "age", "mean", "filled", "gaps")}
    for x, y in zip(inputs["x"], inputs["y"]):
        age += 1
        mean = None
        if x is not None:
            held, age = x, 0
            seen.append(x)
            mean = statistics.fmean(seen)
        if math.isnan(y):
            gaps += 1
        else:
            filled = y
        for k, v in zip(out, (held, age, mean, filled, gaps)):
            out[k].append(v)
    write("missing_values.out.chron", **out)


def library(a, output):
    kelvin, x = [273.15, 283.15, 303.15, 273.15], [[4, 0], [0, 8], [-2, 1], [5, 5]]

    def smooth(values):
        y, out = values[0], []
        for v in values:
            y += a * (v - y)
            out.append(y)
        return out

    slow = [smooth(smooth([float(row[k]) for row in x])) for k in range(2)]
    write(output, c=smooth([k - 273.15 for k in kelvin]), slow=[list(p) for p in zip(*slow)], a=[a] * 4)


plc_timers(3, "plc_timers.out.chron")
plc_timers(1, "plc_timers_of_one.out.chron")
kalman()
moving_median()
traffic_light()
upsampler()
spectrogram()
bandit()
attitude()
crc()
forward_backward()
quadrature()
filter_bank()
missing_values()
library(0.25, "library.out.chron")
library(0.5, "library_of_half.out.chron")
