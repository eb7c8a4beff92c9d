"""Writes the inputs and the expected rows of the paper's figures 8, 19, 20 and 21: an LSTM forward,
its training by backpropagation through time over whole sequences (gradients are checked by
central differences), and a bidirectional LSTM."""

import numpy as np
from chronogram import ABSENT, check_gradient, write

UNITS, SIZE, RATE = 3, 2, 0.05


def wave(n, phase):
    return 0.4 * np.sin(phase + 0.7 * np.arange(n))


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def weights(phase):
    """kernel, bias and the first h and c."""
    rows, columns = 4 * UNITS, SIZE + UNITS
    kernel = wave(rows * columns, phase).reshape(rows, columns)
    return [kernel, wave(rows, phase + 1.0), wave(UNITS, phase + 2.0), wave(UNITS, phase + 3.0)]


def gates(p, h, x):
    z = (p[0] @ np.concatenate([x, h]) + p[1]).reshape(4, UNITS)
    return sigmoid(z[0]), sigmoid(z[1]), sigmoid(z[2]), np.tanh(z[3])


def forward(p, xs):
    h, c = p[2], p[3]
    hs = []
    for x in xs:
        f, i, o, g = gates(p, h, x)
        c = f * c + i * g
        h = o * np.tanh(c)
        hs.append(h)
    return hs


def loss(p, xs, targets):
    return 0.5 * sum(np.sum((h - t) ** 2) for h, t in zip(forward(p, xs), targets))


def gradients(p, xs, targets):
    """Gradients of the loss by the parameters and by every input."""
    h, c, kept = p[2], p[3], []
    for x in xs:
        f, i, o, g = gates(p, h, x)
        after = f * c + i * g
        kept.append((h, c, f, i, o, g, np.tanh(after)))
        c, h = after, o * np.tanh(after)
    outputs = [k[4] * k[6] for k in kept]
    dp = [np.zeros_like(v) for v in p]
    dxs, dh, dc = [], np.zeros(UNITS), np.zeros(UNITS)
    for n in reversed(range(len(xs))):
        h, c, f, i, o, g, t = kept[n]
        dh = dh + outputs[n] - targets[n]
        dc = dc + dh * o * (1 - t * t)
        dz = np.concatenate([dc * c * f * (1 - f), dc * g * i * (1 - i), dh * t * o * (1 - o), dc * i * (1 - g * g)])
        dp[0] += np.outer(dz, np.concatenate([xs[n], h]))
        dp[1] += dz
        dxh = p[0].T @ dz
        dxs.append(dxh[:SIZE])
        dh, dc = dxh[SIZE:], dc * f
    dp[2] += dh
    dp[3] += dc
    return outputs, dp, dxs[::-1]


def training(p, sequences, trained):
    """One update per trained sequence, which takes effect in the next one."""
    rows = {"h_next": [], "dx": []}
    for (xs, targets), here in zip(sequences, trained):
        outputs, dp, dxs = gradients(p, xs, targets)
        rows["h_next"] += outputs
        rows["dx"] += [-RATE * d if here else ABSENT for d in dxs]
        if here:
            p = [v - RATE * d for v, d in zip(p, dp)]
    return rows


def bidirectional_training(p, q, sequences):
    """Like training, for the sum of two directions: the error of the sum trains each of them."""
    rows = {"o": [], "dx": []}
    for xs, targets in sequences:
        ahead, back = forward(p, xs), forward(q, xs[::-1])[::-1]
        errors = [a + b - t for a, b, t in zip(ahead, back, targets)]
        _, dp, dxs = gradients(p, xs, [a - e for a, e in zip(ahead, errors)])
        _, dq, dxs_back = gradients(q, xs[::-1], [b - e for b, e in zip(back[::-1], errors[::-1])])
        rows["o"] += [a + b for a, b in zip(ahead, back)]
        rows["dx"] += [-RATE * (a + b) for a, b in zip(dxs, dxs_back[::-1])]
        p = [v - RATE * d for v, d in zip(p, dp)]
        q = [v - RATE * d for v, d in zip(q, dq)]
    return rows


def sequences_of(generator, lengths):
    draw = lambda n, size: [np.round(v, 2) for v in generator.uniform(-1, 1, (n, size))]
    return [(draw(n, SIZE), draw(n, UNITS)) for n in lengths]


def ends_of(lengths):
    return [n == length - 1 for length in lengths for n in range(length)]


def main():
    generator = np.random.default_rng(8)

    xs = [np.round(v, 2) for v in generator.uniform(-1, 1, (15, SIZE))]
    write("fig08_lstm.in.chron", {"x": xs})
    write("fig08_lstm_numeric.in.chron", {"x": xs})
    write("fig08_lstm_numeric.out.chron", {"h_next": forward(weights(0.3), xs)})

    lengths = [5, 1, 3, 7, 2, 1, 1, 6]
    sequences = sequences_of(generator, lengths)
    rows = {"end": ends_of(lengths), "x": [x for xs, _ in sequences for x in xs]}
    for name in "fig19_lstm_end", "fig21_lstm_bi":
        write(f"{name}.in.chron", rows)
        write(f"{name}_numeric.in.chron", rows)
    p = weights(0.3)
    write("fig19_lstm_end_numeric.out.chron", {"h_next": [h for xs, _ in sequences for h in forward(p, xs)]})
    back = weights(0.8)[:2] + [wave(UNITS, 2.8), wave(UNITS, 3.8)]
    sums = [h + b for xs, _ in sequences for h, b in zip(forward(p, xs), forward(back, xs[::-1])[::-1])]
    write("fig21_lstm_bi_numeric.out.chron", {"o": sums})

    xs, targets = sequences_of(generator, [6])[0]
    q = weights(0.3)
    _, dp, dxs = gradients(q, xs, targets)
    check_gradient(lambda: loss(q, xs, targets), q + xs, dp + dxs)

    lengths = [int(n) for n in generator.integers(1, 12, 50)]
    sequences = sequences_of(generator, lengths)
    rows = {
        "end": ends_of(lengths),
        "x": [x for xs, _ in sequences for x in xs],
        "gt": [t for _, targets in sequences for t in targets],
    }
    write("fig20_diff_lstm_numeric.in.chron", rows)
    write("fig20_diff_lstm_numeric.out.chron", training(p, sequences, [True] * 50))
    short = sum(lengths[:6])
    write("fig20_diff_lstm.in.chron", {name: values[:short] for name, values in rows.items()})

    lengths = [int(n) for n in generator.integers(1, 7, 20)]
    sequences = sequences_of(generator, lengths)
    trained = [bool(v) for v in generator.integers(0, 2, 20)]
    trained[-3:] = [True, False, False]
    bp = [here for n, here in zip(lengths, trained) for _ in range(n)]
    rows = {
        "end": ends_of(lengths),
        "bp": bp,
        "x": [x for xs, _ in sequences for x in xs],
        "gt": [t if here else ABSENT for here, t in zip(bp, (t for _, ts in sequences for t in ts))],
    }
    write("fig20_mixed.in.chron", rows)
    write("fig20_mixed.out.chron", training(p, sequences, trained))

    lengths = [int(n) for n in generator.integers(1, 8, 30)]
    sequences = sequences_of(generator, lengths)
    rows = {
        "end": ends_of(lengths),
        "x": [x for xs, _ in sequences for x in xs],
        "gt": [t for _, targets in sequences for t in targets],
    }
    write("fig21_lstm_bi_diff.in.chron", rows)
    write("fig21_lstm_bi_diff.out.chron", bidirectional_training(p, back, sequences))


main()
