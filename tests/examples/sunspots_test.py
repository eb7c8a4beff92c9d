"""examples/sunspots, a few passes over its record: sunspots_test.py RMLC REPOSITORY, run by
ctest.

The forecasts that learn nothing, and the linear predictor with its Adam, are computed again.
The forecasts of the recurrent network for held-out months must be those of the saved
parameters, and must beat the current number. Both engines must print the same for some months."""

import csv
import math
import pathlib
import sys
import tempfile

from programs import output_of, rows
from safetensors import matrix, parameters

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
EXAMPLE = ROOT / "examples/sunspots"
PROGRAM = EXAMPLE / "sunspots.rml"
PASSES, LEARNED, AHEAD, PAST, RATE, UNITS = 6, 2172, 12, 36, 0.005, 16


def known_at(stream, t):
    """The values that the forecast of month t may use, newest first, with zeros before the
    first pass."""
    return [stream[t - AHEAD - k] if t - AHEAD - k >= 0 else 0.0 for k in range(PAST)]


def linear(record, kernel, bias):
    """The linear forecasts of all passes, from the same initial weights, by Adam."""
    stream, forecasts = record * PASSES, []
    weights, m, s, steps = [*kernel, bias], [0.0] * (PAST + 1), [0.0] * (PAST + 1), 0
    for t, target in enumerate(stream):
        month, number = t % len(record), t // len(record)
        x = [*known_at(stream, t), 1.0]
        y = sum(w * v for w, v in zip(weights, x))
        forecasts.append(y)
        if PAST + AHEAD <= month < LEARNED:
            rate = 0.1 * RATE * 0.5 * (1 + math.cos(math.pi * number / PASSES))
            steps += 1
            for k, v in enumerate(x):
                g = 2 * (y - target) * v
                m[k] += 0.1 * (g - m[k])
                s[k] += 0.001 * (g * g - s[k])
                weights[k] -= rate * m[k] / (1 - 0.9**steps) / (math.sqrt(s[k] / (1 - 0.999**steps)) + 1e-8)
    return forecasts


def memory(record, saved):
    """The forecasts of the held-out months, from the saved parameters."""
    kernel, recurrent = matrix(saved["memory.lstm_end.kernel"]), matrix(saved["memory.lstm_end.recurrent"])
    bias, out = saved["memory.lstm_end.bias"][0], saved["memory.dense_end.kernel"][0]
    out_bias = saved["memory.dense_end.bias"][0][0]
    sigmoid = lambda v: 1 / (1 + math.exp(-v))
    h, c = [0.0] * UNITS, [0.0] * UNITS
    for t in range(LEARNED, len(record)):
        known = known_at(record, t)
        x = [known[0], sum(known[:12]) / 12]
        z = [b + sum(w * v for w, v in zip(row, x)) + sum(w * v for w, v in zip(loop, h))
             for b, row, loop in zip(bias, kernel, recurrent)]
        for u in range(UNITS):
            i, f, g, o = z[u], z[UNITS + u], z[2 * UNITS + u], z[3 * UNITS + u]
            c[u] = sigmoid(f) * c[u] + sigmoid(i) * math.tanh(g)
            h[u] = sigmoid(o) * math.tanh(c[u])
        yield known[0] + out_bias + sum(w * v for w, v in zip(out, h))


def rms(forecasts, targets):
    return 100 * math.sqrt(sum((f - t) ** 2 for f, t in zip(forecasts, targets)) / len(targets))


def main():
    text = (EXAMPLE / "sunspots.csv").read_text()
    record = [float(row["sunspots"]) / 100 for row in csv.DictReader(text.splitlines())]
    months = output_of([sys.executable, EXAMPLE / "months.py", PASSES], text)
    run = [RMLC, "run", PROGRAM, "-D", f"passes={PASSES}"]
    with tempfile.TemporaryDirectory() as folder:
        state, start = folder + "/state", folder + "/start"
        table = rows(output_of([*run, "--save", state], months))
        # No step is made, so the state contains the initial weights.
        output_of([*run, "--cycles", "1", "--save", start], months)
        saved, first = parameters(state), parameters(start)
        short = [*run, "-D", "span=20", "-D", "warm_up=5", "-D", "units=3", "--cycles", "400"]
        if output_of([*short, "--strict-math"], months) != output_of([*short, "--engine", "reference"], months):
            sys.exit("the compiled and the reference engine print different rows")
    problems, final = [], table[-1]
    if len(table) != PASSES * len(record):
        sys.exit(f"{len(table)} rows")
    tested = record[LEARNED:]
    by_line = linear(record, first["linear.dense.kernel"][0], first["linear.dense.bias"][0][0])
    by_memory = list(memory(record, saved))
    average = sum(record[PAST + AHEAD : LEARNED]) / (LEARNED - PAST - AHEAD)
    for row, want in zip(table, by_line):
        if not math.isclose(row["linear_forecast"], 100 * want, rel_tol=1e-6, abs_tol=1e-6):
            problems.append(f"linear: {row['linear_forecast']} instead of {100 * want}")
    for row, want in zip(table[-len(tested) :], by_memory):
        if not math.isclose(row["forecast"], 100 * want, rel_tol=1e-9, abs_tol=1e-9):
            problems.append(f"memory: {row['forecast']} instead of {100 * want}")
    wanted = {
        "lstm_tested": rms(by_memory, tested),
        "linear_tested": rms(by_line[-len(tested) :], tested),
        "naive_tested": rms(record[LEARNED - AHEAD : -AHEAD], tested),
        "mean_tested": rms([average] * len(tested), tested),
    }
    for name, want in wanted.items():
        if not math.isclose(final[name], want, rel_tol=1e-6):
            problems.append(f"{name}: {final[name]} instead of {want}")
    if not final["lstm_tested"] < 0.9 * final["naive_tested"] < 0.9 * final["mean_tested"]:
        problems.append(f"the memory does not beat the number of now: {final}")
    sys.exit("\n".join(problems[:20]) or 0)


main()
