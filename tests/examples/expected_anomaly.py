"""The results of examples/anomaly/anomaly.rml, from its definitions, in plain Python.

expected(temperatures, parameters) takes the hourly means and the initial parameters (lists by
name), and returns (forecast, score, alarm) for each hour. Gradients and the steps of Adam are
written out."""
import math

KNOWN, AHEAD, UNITS = 24, 24, 8
RATE, SPAN, LIMIT, WARM_UP = 0.003, 6.0, 2.5, 63


class Adam:
    """Steps for a flat list of numbers."""

    def __init__(self, size):
        self.m, self.s, self.t = [0.0] * size, [0.0] * size, 0

    def step(self, gradient):
        self.t += 1
        moves = []
        for k, g in enumerate(gradient):
            self.m[k] = 0.9 * self.m[k] + 0.1 * g
            self.s[k] = 0.999 * self.s[k] + 0.001 * g * g
            mean, square = self.m[k] / (1 - 0.9**self.t), self.s[k] / (1 - 0.999**self.t)
            moves.append(-RATE * mean / (math.sqrt(square) + 1e-8))
        return moves


class Network:
    """A flat list of kernel (row by row), bias, out, out_bias."""

    def __init__(self, parameters):
        self.p = sum((list(parameters[name]) for name in ("kernel", "bias", "out", "out_bias")), [])
        self.adam = Adam(len(self.p))

    def hidden(self, x):
        bias = UNITS * KNOWN
        return [math.tanh(self.p[bias + u] + sum(self.p[u * KNOWN + k] * x[k] for k in range(KNOWN))) for u in range(UNITS)]

    def out(self):
        start = UNITS * KNOWN + UNITS
        return self.p[start : start + UNITS], self.p[start + UNITS]

    def forecast(self, x):
        weights, bias = self.out()
        return sum(w * h for w, h in zip(weights, self.hidden(x))) + bias

    def learn(self, x, wanted):
        weights, _ = self.out()
        h = self.hidden(x)
        error = max(-1.0, min(1.0, self.forecast(x) - wanted))  # derivative of the Huber loss
        inner = [error * w * (1 - a * a) for w, a in zip(weights, h)]
        gradient = [i * v for i in inner for v in x] + inner + [error * a for a in h] + [error]
        self.p = [p + move for p, move in zip(self.p, self.adam.step(gradient))]


def moments(values):
    mean = sum(values) / len(values)
    return mean, sum((v - mean) ** 2 for v in values) / len(values)


def expected(temperatures, parameters):
    network = Network(parameters)
    scaled, made, recents, alarm, recent, rows = [], [0.0] * AHEAD, [], False, 0.0, []
    for t, x in enumerate(temperatures):
        average, variance = moments(temperatures[: t + 1])
        scale = math.sqrt(variance) + 1.0
        scaled.append((x - average) / scale)
        past = ([0.0] * (KNOWN + AHEAD) + scaled)[-(KNOWN + AHEAD) :]
        forecast, filled = made[t], t >= KNOWN + AHEAD
        made.append(average + scale * network.forecast(past[AHEAD:]))
        if filled and not alarm:
            network.learn(past[:KNOWN], scaled[-1])
        error = abs(x - forecast) / scale if filled else 0.0
        recent = error if t == 0 else recent + (error - recent) / SPAN
        recents.append(recent)
        usual, spread = moments(recents)
        score = (recent - usual) / math.sqrt(spread + 0.01)
        alarm = score > LIMIT and t >= WARM_UP
        rows.append((forecast, score, alarm))
    return rows
