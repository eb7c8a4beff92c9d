"""Writes the inputs and the expected rows of cases 6 to 8: training of recurrent networks, sequence
by sequence. Gradients are checked by central differences."""

import numpy as np
from common import ABSENT, check_gradient, ends_of, generator, vectors, wave, write

UNITS, SIZE, RATE = 3, 2, 0.1


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def matrix(rows, columns, phase):
    return wave(rows * columns, phase).reshape(rows, columns)


def layer(phase):
    return [matrix(UNITS, SIZE, phase), matrix(UNITS, UNITS, phase + 1.0), wave(UNITS, phase + 2.0)]


# Interface of a model: parameters(), forward(p, xs) -> (ys, kept), backward(p, xs, kept, dys) ->
# (dp, dxs).


class Rnn:
    def parameters(self):
        return layer(0.3) + [wave(UNITS, 3.3)]

    def forward(self, p, xs):
        w, u, b, h = p
        states = [h]
        for x in xs:
            states.append(np.tanh(w @ x + u @ states[-1] + b))
        return states[1:], states

    def backward(self, p, xs, states, dys):
        w, u, b, _ = p
        dw, du, db, dh, dxs = np.zeros_like(w), np.zeros_like(u), np.zeros_like(b), np.zeros(UNITS), []
        for n in reversed(range(len(xs))):
            dz = (dys[n] + dh) * (1 - states[n + 1] ** 2)
            dw += np.outer(dz, xs[n])
            du += np.outer(dz, states[n])
            db += dz
            dh = u.T @ dz
            dxs.append(w.T @ dz)
        return [dw, du, db, dh], dxs[::-1]


class RnnFromZero(Rnn):
    def __init__(self, phase=0.3):
        self.phase = phase

    def parameters(self):
        return layer(self.phase)

    def forward(self, p, xs):
        return super().forward(p + [np.zeros(UNITS)], xs)

    def backward(self, p, xs, kept, dys):
        dp, dxs = super().backward(p + [None], xs, kept, dys)
        return dp[:3], dxs


class Bidirectional:
    ahead, back = RnnFromZero(0.3), RnnFromZero(0.8)

    def parameters(self):
        return self.ahead.parameters() + self.back.parameters()

    def forward(self, p, xs):
        ys, kept = self.ahead.forward(p[:3], xs)
        back, kept_back = self.back.forward(p[3:], xs[::-1])
        return [a + b for a, b in zip(ys, back[::-1])], (kept, kept_back)

    def backward(self, p, xs, kept, dys):
        dp, dxs = self.ahead.backward(p[:3], xs, kept[0], dys)
        dp_back, dxs_back = self.back.backward(p[3:], xs[::-1], kept[1], dys[::-1])
        return dp + dp_back, [a + b for a, b in zip(dxs, dxs_back[::-1])]


class Lstm:
    def parameters(self):
        rows, columns = 4 * UNITS, SIZE + UNITS
        return [matrix(rows, columns, 0.3), wave(rows, 1.3), wave(UNITS, 2.3), wave(UNITS, 3.3)]

    def forward(self, p, xs):
        w, b, h, c = p
        ys, kept = [], []
        for x in xs:
            z = (w @ np.concatenate([x, h]) + b).reshape(4, UNITS)
            f, i, o, g = sigmoid(z[0]), sigmoid(z[1]), sigmoid(z[2]), np.tanh(z[3])
            after = f * c + i * g
            kept.append((h, c, f, i, o, g, np.tanh(after)))
            h, c = o * np.tanh(after), after
            ys.append(h)
        return ys, kept

    def backward(self, p, xs, kept, dys):
        w, b = p[:2]
        dw, db, dh, dc, dxs = np.zeros_like(w), np.zeros_like(b), np.zeros(UNITS), np.zeros(UNITS), []
        for n in reversed(range(len(xs))):
            h, c, f, i, o, g, t = kept[n]
            dh = dh + dys[n]
            dc = dc + dh * o * (1 - t * t)
            dz = np.concatenate([dc * c * f * (1 - f), dc * g * i * (1 - i), dh * t * o * (1 - o), dc * i * (1 - g * g)])
            dw += np.outer(dz, np.concatenate([xs[n], h]))
            db += dz
            dxh = w.T @ dz
            dxs.append(dxh[:SIZE])
            dh, dc = dxh[SIZE:], dc * f
        return [dw, db, dh, dc], dxs[::-1]


class Gru:
    def parameters(self):
        return layer(0.3) + layer(0.8) + layer(1.8) + [wave(UNITS, 3.3)]

    def forward(self, p, xs):
        h, ys, kept = p[9], [], []
        for x in xs:
            z = sigmoid(p[0] @ x + p[1] @ h + p[2])
            r = sigmoid(p[3] @ x + p[4] @ h + p[5])
            n = np.tanh(p[6] @ x + p[7] @ (r * h) + p[8])
            kept.append((h, z, r, n))
            h = (1 - z) * n + z * h
            ys.append(h)
        return ys, kept

    def backward(self, p, xs, kept, dys):
        dp = [np.zeros_like(v) for v in p]
        dh, dxs = np.zeros(UNITS), []
        for at in reversed(range(len(xs))):
            h, z, r, n = kept[at]
            dy = dys[at] + dh
            dn = dy * (1 - z) * (1 - n * n)
            dz = dy * (h - n) * z * (1 - z)
            drh = p[7].T @ dn
            dr = drh * h * r * (1 - r)
            for first, d, state in (0, dz, h), (3, dr, h), (6, dn, r * h):
                dp[first] += np.outer(d, xs[at])
                dp[first + 1] += np.outer(d, state)
                dp[first + 2] += d
            dh = dy * z + p[1].T @ dz + p[4].T @ dr + drh * r
            dxs.append(p[0].T @ dz + p[3].T @ dr + p[6].T @ dn)
        dp[9] = dh
        return dp, dxs[::-1]


def errors(ys, targets, weight):
    return [(y - t) * w for y, t, w in zip(ys, targets, weight)]


def check(model):
    random = generator(60)
    p, xs, targets = model.parameters(), vectors(random, 5, SIZE), vectors(random, 5, UNITS)
    for weight in [1] * 5, [0, 0, 0, 0, 1]:
        ys, kept = model.forward(p, xs)
        dp, dxs = model.backward(p, xs, kept, errors(ys, targets, weight))

        def loss():
            return 0.5 * sum(w * np.sum((y - t) ** 2) for y, t, w in zip(model.forward(p, xs)[0], targets, weight))

        check_gradient(loss, p + xs, dp + dxs)


def train(model, sequences, at_end=False, trained=None, updates=None):
    """trained: the sequences whose gradients are used; updates: the sequences after which
    parameters change."""
    p, rows = model.parameters(), {"y": [], "dx": []}
    sums = [np.zeros_like(v) for v in p]
    for s, (xs, targets) in enumerate(sequences):
        weight = [0] * (len(xs) - 1) + [1] if at_end else [1] * len(xs)
        if trained is not None and not trained[s]:
            weight = [0] * len(xs)
        ys, kept = model.forward(p, xs)
        dp, dxs = model.backward(p, xs, kept, errors(ys, targets, weight))
        rows["y"] += ys
        rows["dx"] += [-RATE * d for d in dxs]
        sums = [a + d for a, d in zip(sums, dp)]
        if updates is None or updates[s]:
            p = [v - RATE * d for v, d in zip(p, sums)]
            sums = [np.zeros_like(v) for v in p]
    return rows


for model in Rnn(), RnnFromZero(), Bidirectional(), Lstm(), Gru():
    check(model)

random = generator(6)
lengths = [int(n) for n in random.integers(1, 9, 25)]
sequences = [(vectors(random, n, SIZE), vectors(random, n, UNITS)) for n in lengths]
ends = ends_of(lengths)
xs = [x for s in sequences for x in s[0]]
targets = [t for s in sequences for t in s[1]]

write("case06_every_cycle.in.chron", {"end": ends, "x": xs, "gt": targets})
write("case06_end_only.in.chron", {"end": ends, "x": xs, "gt": [t if e else ABSENT for e, t in zip(ends, targets)]})
models = {"case06_rnn": Rnn(), "case06_lstm": Lstm(), "case06_gru": Gru(), "case07": Bidirectional()}
for name, model in models.items():
    write(f"{name}_every_cycle.out.chron", train(model, sequences))
    write(f"{name}_end_only.out.chron", train(model, sequences, at_end=True))

trained = [bool(v) for v in random.integers(0, 2, 25)]
bp = [t for n, t in zip(lengths, trained) for _ in range(n)]
write(
    "case06_mixed.in.chron",
    {"end": ends, "bp": bp, "x": xs, "gt": [t if here else ABSENT for here, t in zip(bp, targets)]},
)
write("case06_rnn_mixed.out.chron", {"y": train(Rnn(), sequences, trained=trained)["y"]})

back = Lstm()
p = back.parameters()
q = [matrix(4 * UNITS, SIZE + UNITS, 0.8), wave(4 * UNITS, 1.8), wave(UNITS, 2.8), wave(UNITS, 3.8)]
write("case07_lstm_bi.in.chron", {"end": ends, "x": xs})
write(
    "case07_lstm_bi.out.chron",
    {
        "forward": [y for s in sequences for y in back.forward(p, s[0])[0]],
        "backward": [y for s in sequences for y in back.forward(q, s[0][::-1])[0][::-1]],
    },
)

updates = [bool(v) for v in random.integers(0, 2, 25)]
updates[-1] = True
full = [u for n, u in zip(lengths, updates) for _ in range(n)]
write("case08_inputs.in.chron", {"end": ends, "batch_end": [e and f for e, f in zip(ends, full)], "x": xs, "gt": targets})
write("case08_conjunction.in.chron", {"end": ends, "full": full, "x": xs, "gt": targets})
write("case08_two_cuts.out.chron", train(RnnFromZero(), sequences, updates=updates))
