"""Expected values of layers with given weights, compared with PyTorch, sequence by sequence and
batch by batch."""

import numpy as np
from common import ABSENT, UNDETERMINED, same, tensor, torch, uniform, write

UNITS, SIZE = 3, 2
LENGTHS = [4, 1, 6, 3]


def wave(n, phase):
    """Known weights, as the node of this name in the tests computes them."""
    return 0.4 * np.sin(phase + 0.7 * np.arange(n))


def weights(gates, phase):
    """Returns the weights of a layer: kernel, recurrent kernel, bias, recurrent bias."""
    n = gates * UNITS
    return (
        wave(n * SIZE, phase).reshape(n, SIZE),
        wave(n * UNITS, phase + 1).reshape(n, UNITS),
        wave(n, phase + 2),
        wave(n, phase + 3),
    )


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rnn(w, state, x):
    (h,) = state
    return (np.tanh(w[0] @ x + w[1] @ h + w[2]),)


def gru(w, state, x):
    (h,) = state
    gx, gh = (w[0] @ x + w[2]).reshape(3, UNITS), (w[1] @ h + w[3]).reshape(3, UNITS)
    r, z = sigmoid(gx[0] + gh[0]), sigmoid(gx[1] + gh[1])
    return ((1 - z) * np.tanh(gx[2] + r * gh[2]) + z * h,)


def lstm(w, state, x):
    h, c = state
    i, f, g, o = (w[0] @ x + w[1] @ h + w[2]).reshape(4, UNITS)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


KINDS = {"rnn": (rnn, 1, 1), "gru": (gru, 3, 1), "lstm": (lstm, 4, 2)}  # each entry is kind: (step, number of gates,
                                                                        # number of parts of the state)


def run(step, w, parts, xs):
    state, out = (np.zeros(UNITS),) * parts, []
    for x in xs:
        state = step(w, state, x)
        out.append(state[0])
    return out


def reference(kind, gates, xs):
    """PyTorch's layer in both directions: forward outputs, backward outputs."""
    layer = getattr(torch.nn, kind.upper())(SIZE, UNITS, bidirectional=True).double()
    for suffix, phase in (("", 0.3), ("_reverse", 0.8)):
        kernel, recurrent, bias, recurrent_bias = weights(gates, phase)
        values = (kernel, recurrent, bias, recurrent_bias if kind == "gru" else np.zeros_like(bias))
        for name, value in zip(("weight_ih", "weight_hh", "bias_ih", "bias_hh"), values):
            getattr(layer, f"{name}_l0{suffix}").data = tensor(value)
    out = layer(tensor(np.array(xs))[:, None, :])[0][:, 0, :].detach().numpy()
    return out[:, :UNITS], out[:, UNITS:]


def recurrent():
    random = np.random.default_rng(6)
    sequences = [uniform(random, length, SIZE) for length in LENGTHS]
    rest = uniform(random, 2, SIZE)  # the inputs of a sequence that the end of the input cuts off
    write(
        "recurrent.in.chron",
        {
            "end": [n == length - 1 for length in LENGTHS for n in range(length)] + [False] * len(rest),
            "x": [x for xs in [*sequences, rest] for x in xs],
        },
    )
    rows = {}
    for kind, (step, gates, parts) in KINDS.items():
        forward, backward = [], []
        for xs in sequences:
            ours = run(step, weights(gates, 0.3), parts, xs), run(step, weights(gates, 0.8), parts, xs[::-1])[::-1]
            if torch:
                same(ours, reference(kind, gates, xs))
            forward += ours[0]
            backward += ours[1]
        rows[kind + "_forward"] = forward + run(step, weights(gates, 0.3), parts, rest)
        rows[kind + "_backward"] = backward + [UNDETERMINED] * len(rest)
    for row in rows.values():  # writes each row as a whole
        row[-len(rest) :] = [UNDETERMINED] * len(rest)
    write("recurrent.out.chron", rows)


def normalisation():
    random = np.random.default_rng(8)
    xs = [uniform(random, 2, 4) for _ in range(5)] + [np.full((2, 4), 3.0)]
    ys = [(x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) for x in xs]
    write("layer_norm.in.chron", {"x": xs})
    write("layer_norm.out.chron", {"y": ys})
    train = [True] * 9 + [False] * 3 + [True] * 5 + [False] * 2 + [True] * 2
    # The end at cycle 10 is outside training; the training from cycle 19 on has no end.
    end = [n in (3, 4, 8, 10, 16) for n in range(len(train))]
    x = uniform(random, len(train), 3)
    x[:, 1] += 100.0
    y, batch = [UNDETERMINED] * len(train), []
    mean, variance = np.zeros(3), np.ones(3)
    layer = torch and torch.nn.BatchNorm1d(3, momentum=0.2).double()
    for n, is_training in enumerate(train):
        if not is_training:
            y[n] = (x[n] - mean) / np.sqrt(variance + 1e-5)
            if layer:
                layer.eval()
                same(y[n], layer(tensor(x[n : n + 1]))[0].detach())
            continue
        batch.append(n)
        if not end[n]:
            continue
        b = x[batch]
        for m, row in zip(batch, (b - b.mean(0)) / np.sqrt(b.var(0) + 1e-5)):
            y[m] = row
        if layer and len(batch) > 1:
            layer.train()
            same([y[m] for m in batch], layer(tensor(b)).detach())
        elif layer:  # skips the first layer, because PyTorch refuses a batch of one
            layer.running_mean = layer.running_mean * 0.8 + 0.2 * tensor(b.mean(0))
            layer.running_var = layer.running_var * 0.8
        mean = 0.8 * mean + 0.2 * b.mean(0)
        variance = 0.8 * variance + 0.2 * b.var(0) * len(batch) / max(len(batch) - 1, 1)
        batch = []
    write("batch_norm.in.chron", {"train": train, "end": end, "x": x})
    write("batch_norm.out.chron", {"y": y})


def experts():
    """A mixture, by hand, of a matrix and of a running sum; the second computes only at its
    own cycles."""
    random = np.random.default_rng(9)
    x, total, rows = uniform(random, 20, 2), np.zeros(2), []
    w = wave(4, 0.3).reshape(2, 2)
    for v in x:
        gates = np.maximum(0, [v[0], v[1] - 0.5])
        y = np.zeros(2)
        if gates[0] > 0:
            y += gates[0] * (w @ v)
        if gates[1] > 0:
            total = total + v
            y += gates[1] * total
        rows.append(y)
    write("experts.in.chron", {"x": x})
    write("experts.out.chron", {"y": rows})


recurrent()
normalisation()
experts()
