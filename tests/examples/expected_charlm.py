"""The results of examples/charlm/charlm.rml, from its definitions, in plain Python.

Network(parameters) begins with the parameters of a saved state. learn(classes, segment,
lessons, learning) returns the bits of each character, with truncated backpropagation written
out: the state continues from segment to segment, gradients do not. Each segment with a loss
makes one step of Adam. `learning` is a list of Booleans. `lessons` is the number of characters
over which the rate falls. write(count) returns classes, always the most likely one."""
import math

RATE = 0.003


def rate_at(start, lessons):
    """The rate of the segment that begins at character `start`: half a period of the cosine."""
    lowest = RATE / 30
    return lowest + (RATE - lowest) * (1 + math.cos(math.pi * min(start, lessons) / lessons)) / 2


def matrix_times(rows, x):
    return [sum(a * b for a, b in zip(row, x)) for row in rows]


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


class Network:
    NAMES = ("table", "kernel", "recurrent", "bias", "out", "out_bias")

    def __init__(self, parameters):
        self.p = {name: [list(row) for row in parameters[name]] for name in self.NAMES}
        self.units = len(self.p["recurrent"][0])
        self.h, self.c, self.before, self.steps = [0.0] * self.units, [0.0] * self.units, 0, 0
        self.m, self.s = self.zeros(), self.zeros()

    def zeros(self):
        return {name: [[0.0] * len(row) for row in rows] for name, rows in self.p.items()}

    def step(self, character):
        """One character forward; returns the values that the backward pass needs."""
        n, x = self.units, self.p["table"][self.before]
        sums = zip(matrix_times(self.p["kernel"], x), matrix_times(self.p["recurrent"], self.h), self.p["bias"][0])
        z = [a + b + d for a, b, d in sums]
        i, f, o = ([sigmoid(v) for v in z[k * n : (k + 1) * n]] for k in (0, 1, 3))
        g = [math.tanh(v) for v in z[2 * n : 3 * n]]
        c = [fk * ck + ik * gk for fk, ck, ik, gk in zip(f, self.c, i, g)]
        h = [ok * math.tanh(ck) for ok, ck in zip(o, c)]
        scores = [a + b for a, b in zip(matrix_times(self.p["out"], h), self.p["out_bias"][0])]
        top = max(scores)
        total = sum(math.exp(s - top) for s in scores)
        shares = [math.exp(s - top) / total for s in scores]
        kept = (self.before, character, x, self.h, self.c, i, f, g, o, c, h, shares)
        self.h, self.c, self.before = h, c, character
        return kept

    def gradients(self, kept, learning):
        d, n = self.zeros(), self.units
        dh, dc = [0.0] * n, [0.0] * n
        for (before, character, x, h0, c0, i, f, g, o, c, h, shares), learns in zip(reversed(kept), reversed(learning)):
            ds = [(share - (k == character)) * learns for k, share in enumerate(shares)]
            for k, e in enumerate(ds):
                d["out_bias"][0][k] += e
                for j in range(n):
                    d["out"][k][j] += e * h[j]
                    dh[j] += e * self.p["out"][k][j]
            dz = [0.0] * (4 * n)
            for j in range(n):
                t = math.tanh(c[j])
                dcj = dc[j] + dh[j] * o[j] * (1 - t * t)
                dz[j] = dcj * g[j] * i[j] * (1 - i[j])
                dz[n + j] = dcj * c0[j] * f[j] * (1 - f[j])
                dz[2 * n + j] = dcj * i[j] * (1 - g[j] ** 2)
                dz[3 * n + j] = dh[j] * t * o[j] * (1 - o[j])
                dc[j] = dcj * f[j]
            dh = [0.0] * n
            for k, e in enumerate(dz):
                d["bias"][0][k] += e
                for j, v in enumerate(x):
                    d["kernel"][k][j] += e * v
                    d["table"][before][j] += e * self.p["kernel"][k][j]
                for j, v in enumerate(h0):
                    d["recurrent"][k][j] += e * v
                    dh[j] += e * self.p["recurrent"][k][j]
        return d

    def adam(self, d, rate):
        self.steps += 1
        for name, rows in d.items():
            for k, row in enumerate(rows):
                m, s, p = self.m[name][k], self.s[name][k], self.p[name][k]
                for j, e in enumerate(row):
                    m[j] = 0.9 * m[j] + 0.1 * e
                    s[j] = 0.999 * s[j] + 0.001 * e * e
                    root = math.sqrt(s[j] / (1 - 0.999**self.steps))
                    p[j] -= rate * m[j] / (1 - 0.9**self.steps) / (root + 1e-8)

    def learn(self, classes, segment, lessons, learning):
        bits = []
        for start in range(0, len(classes), segment):
            kept = [self.step(character) for character in classes[start : start + segment]]
            bits += [-math.log2(k[-1][k[1]]) for k in kept]
            if any(learning[start : start + segment]):
                self.adam(self.gradients(kept, learning[start : start + segment]), rate_at(start, lessons))
        return bits

    def write(self, count):
        written = []
        for _ in range(count):
            kept = self.step(0)
            self.before = max(range(len(kept[-1])), key=lambda k: kept[-1][k])
            written.append(self.before)
        return written
