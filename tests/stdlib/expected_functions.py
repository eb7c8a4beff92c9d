"""Expected values of activations and losses, compared with PyTorch; the inputs include extreme
values."""

import numpy as np
from common import same, tensor, torch, uniform, write


def log_sum_exp(x):
    return np.logaddexp.reduce(x, axis=-1, keepdims=True)


def softplus(x):
    return np.logaddexp(0.0, x)


ACTIVATIONS = {
    "softplus": softplus,
    "log_sigmoid": lambda x: -softplus(-x),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.1 * x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "selu": lambda x: 1.0507009873554804934193349852946
    * np.where(x > 0, x, 1.6732632423543772848170429916717 * np.expm1(np.minimum(x, 0))),
    "silu": lambda x: x * np.exp(-softplus(-x)),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "mish": lambda x: x * np.tanh(softplus(x)),
    "softsign": lambda x: x / (1 + np.abs(x)),
}
def log_softmax(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - log_sum_exp(shifted)


def activations():
    random = np.random.default_rng(1)
    xs = [uniform(random, 4) for _ in range(6)]
    xs += [np.array(v) for v in ([0.0, -0.0, 1e-20, -1e-20], [40.0, -40.0, 1000.0, -1000.0], [1e-9, -1e-9, 17.0, -17.0])]
    write("activations.in.chron", {"x": xs})
    write("activations.out.chron", {name: [f(x) for x in xs] for name, f in ACTIVATIONS.items()})
    if torch:
        F = torch.nn.functional
        for x in xs[:6]:
            for name in ("softplus", "elu", "selu", "silu", "mish", "softsign"):
                same(ACTIVATIONS[name](x), getattr(F, name)(tensor(x)), 1e-9)
            same(ACTIVATIONS["gelu"](x), F.gelu(tensor(x), approximate="tanh"))
            same(ACTIVATIONS["leaky_relu"](x), F.leaky_relu(tensor(x), 0.1))
            same(ACTIVATIONS["log_sigmoid"](x), F.logsigmoid(tensor(x)))


def huber(e, delta):
    return np.where(np.abs(e) <= delta, e * e / 2, delta * (np.abs(e) - delta / 2))


def losses():
    random = np.random.default_rng(2)
    n, classes = 8, 3
    scale = np.array([1, 1, 1, 1, 10, 100, 300, 1000.0])
    p = [s * uniform(random, classes) for s in scale]
    t = [uniform(random, classes) for _ in scale]
    t[1] = p[1].copy()  # in this row, every error is 0
    t[2] = p[2] - 0.75  # in this row, every error is where the two pieces of huber meet
    bits = [random.integers(0, 2, classes).astype(float) for _ in range(n - 1)] + [np.array([0.25, 0.5, 1.0])]
    labels = random.integers(0, classes, n)
    soft = [np.round(d, 3) for d in random.dirichlet(np.ones(classes), n - 1)] + [np.array([0.0, 1.0, 0.0])]
    rows = {
        "mse": [np.mean((a - b) ** 2) for a, b in zip(p, t)],
        "mae": [np.mean(np.abs(a - b)) for a, b in zip(p, t)],
        "huber": [np.mean(huber(a - b, 0.75)) for a, b in zip(p, t)],
        "bce": [np.mean(np.maximum(a, 0) - a * b + np.log1p(np.exp(-np.abs(a)))) for a, b in zip(p, bits)],
        "ce": [float(log_sum_exp(a)[0] - a[k]) for a, k in zip(p, labels)],
        "soft_ce": [-np.sum(b * log_softmax(a)) for a, b in zip(p, soft)],
        "hinge": [np.mean(np.maximum(0, 1 - (2 * b - 1) * a)) for a, b in zip(p, bits)],
    }
    write("losses.in.chron", {"p": p, "t": t, "bits": bits, "label": labels, "soft": soft})
    write("losses.out.chron", rows)
    # A matrix contains one sample in each row.
    m = [s * uniform(random, 2, classes) for s in (1, 20, 500)]
    k = [random.integers(0, classes, 2) for _ in m]
    write("losses_of_rows.in.chron", {"logits": m, "label": k})
    ce = [np.mean([log_sum_exp(a)[0] - a[j] for a, j in zip(x, js)]) for x, js in zip(m, k)]
    write("losses_of_rows.out.chron", {"ce": ce, "from_one_hot": ce})
    if torch:
        F = torch.nn.functional
        for c in range(n):
            x, y = tensor(p[c]), tensor(t[c])
            same(rows["mse"][c], F.mse_loss(x, y))
            same(rows["mae"][c], F.l1_loss(x, y))
            same(rows["huber"][c], F.huber_loss(x, y, delta=0.75))
            same(rows["bce"][c], F.binary_cross_entropy_with_logits(x, tensor(bits[c])))
            same(rows["ce"][c], F.cross_entropy(x[None], torch.tensor([int(labels[c])])))
            same(rows["soft_ce"][c], F.cross_entropy(x[None], tensor(soft[c])[None]))
        for c in range(3):
            same(ce[c], F.cross_entropy(tensor(m[c]), torch.tensor(k[c])))


activations()
losses()
