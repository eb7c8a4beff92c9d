"""Expected values of optimisers, by torch.optim: each given gradient makes a step from the given
parameter. Schedules by NumPy."""

import numpy as np
import torch
from groups import Entry, Group, Series


def steps(make, fresh=True):
    def run(g, p):
        parameter = torch.nn.Parameter(torch.zeros(g.shape[1:], dtype=torch.float64))
        optimiser, out = make([parameter]), []
        for gradient, at in zip(g, p):
            with torch.no_grad():
                parameter.copy_(torch.tensor(at))
            parameter.grad = torch.tensor(gradient)
            optimiser.step()
            out.append(parameter.detach().numpy() - at)
        return np.stack(out)

    return run


def barzilai(g, p):
    r, out = 0.1, []
    for t in range(len(g)):
        dg, dp = (g[t] - g[t - 1], p[t] - p[t - 1]) if t else (0 * g[0], 0 * p[0])
        r = abs((dp * dg).sum()) / (dg * dg).sum() if (dg * dg).sum() > 0 else r
        out.append(-r * g[t])
    return np.stack(out)


O = torch.optim
MAKERS = {
    "sgd": ("0.1", lambda p: O.SGD(p, lr=0.1)),
    "momentum": ("0.1", lambda p: O.SGD(p, lr=0.1, momentum=0.9)),
    "momentum_with": ("0.1, 0.5", lambda p: O.SGD(p, lr=0.1, momentum=0.5)),
    "nesterov": ("0.1", lambda p: O.SGD(p, lr=0.1, momentum=0.9, nesterov=True)),
    "nesterov_with": ("0.1, 0.5", lambda p: O.SGD(p, lr=0.1, momentum=0.5, nesterov=True)),
    "adagrad": ("0.1", lambda p: O.Adagrad(p, lr=0.1)),
    "adagrad_with": ("0.1, 0.01", lambda p: O.Adagrad(p, lr=0.1, eps=0.01)),
    "rmsprop": ("0.1", lambda p: O.RMSprop(p, lr=0.1)),
    "rmsprop_with": ("0.1, 0.75, 0.5", lambda p: O.RMSprop(p, lr=0.1, alpha=0.75, eps=0.5)),
    "adam": ("0.1", lambda p: O.Adam(p, lr=0.1)),
    "adam_with": ("0.1, 0.5, 0.75, 0.001", lambda p: O.Adam(p, lr=0.1, betas=(0.5, 0.75), eps=0.001)),
    "adamw": ("0.1", lambda p: O.AdamW(p, lr=0.1)),
    "adamw_with": ("0.1, 0.5, 0.75, 0.001, 0.25",
                   lambda p: O.AdamW(p, lr=0.1, betas=(0.5, 0.75), eps=0.001, weight_decay=0.25)),
}
STEPS = [Series(n, f"optim.{n}({arguments}, true, g, p)", steps(make)) for n, (arguments, make) in MAKERS.items()]
STEPS.append(Series("bb", "optim.barzilai_borwein(0.1, true, g, p)", barzilai))


def clipped(g):
    norm = torch.linalg.vector_norm(g)
    return g * torch.clamp(1.5 / norm, max=1.0) if norm > 0 else g


CLIPS = [
    Entry("value", "optim.clip_value(1.5, g)", lambda g, p: g.clamp(-1.5, 1.5), gradient=False),
    Entry("norm", "optim.clip_norm(1.5, g)", lambda g: clipped(g), gradient=False),
    Entry("whole", "optim.clip_global_norm(1.5, g)", lambda g: clipped(g), gradient=False),
    Entry("decay", "optim.weight_decay(0.1, g, p)", lambda g, p: g + 0.1 * p, gradient=False),
]
CLIPS[0].peer = lambda g: g.clamp(-1.5, 1.5)
random = np.random.default_rng(61)


def drawn(n):
    return list(np.round(random.uniform(-2, 2, (n, 3)), 2))


def schedule(peer):
    return lambda t: np.array([peer(int(k)) for k in t])


RATES = [
    Series("halved", "optim.step_rate(0.8, 0.5, 2, t)", schedule(lambda t: 0.8 * 0.5 ** (t // 2))),
    Series("falling", "optim.exponential_rate(0.8, 0.9, t)", schedule(lambda t: 0.8 * 0.9**t)),
    Series("cosine", "optim.cosine_rate(0.8, 0.2, 7, t)",
           schedule(lambda t: 0.2 + 0.3 * (1 + np.cos(np.pi * min(t, 7) / 7)))),
    Series("warm", "optim.warm_up(0.8, 5, t)", schedule(lambda t: 0.8 * min(t + 1, 5) / 5)),
]
far = [np.array(v, float) for v in ([0, -0.0, 0], [1e10, -1e10, 1e-10], [1, 0, 1e10], [0, 0, 0], [1e-10, 1e-10, -1e-10])]
GROUPS = [
    Group("optim_steps", "ordinary", "PyTorch", {"g": drawn(6), "p": drawn(6)}, STEPS, {"f32": "2e-5", "f64": "1e-10"}),
    Group("optim_steps_edges", "edge", "PyTorch", {"g": far, "p": [np.zeros(3)] * 5}, STEPS, {"f32": "2e-5", "f64": "1e-10"}),
    Group("optim_clips", "ordinary edge", "PyTorch", {"g": drawn(3) + far, "p": drawn(3) + far}, CLIPS),
    Group("optim_rates", "ordinary edge", "NumPy", {"t": [np.int32(k) for k in (0, 1, 2, 5, 7, 8, 1000)]}, RATES,
          {"f32": "1e-5", "f64": "1e-12"}),
    Group("optim_number", "ordinary edge", "NumPy", {"b": [np.bool_(k) for k in (0, 1, 1, 0, 1)]},
          [Series("n", "cast(i32, optim.steps(b))", lambda b: np.cumsum(np.r_[0, b[:-1]]))]),
]
