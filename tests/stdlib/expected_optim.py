"""Expected values of optimisers, step by step over 20 steps with a rate that changes and with
cycles without a step, compared with PyTorch; and on Rosenbrock's function, where each must get
below a cost."""

import numpy as np
from common import ABSENT, same, tensor, torch, uniform, write

START = np.array([0.5, -1.0, 2.0])


class Sgd:
    def delta(self, rate, g, p):
        return -rate * g


class Momentum:
    nesterov = False

    def __init__(self, inertia=0.9):
        self.inertia, self.v = inertia, 0.0

    def delta(self, rate, g, p):
        self.v = self.inertia * self.v + g
        return -rate * (g + self.inertia * self.v if self.nesterov else self.v)


class Nesterov(Momentum):
    nesterov = True


class Adagrad:
    def __init__(self, epsilon=1e-10):
        self.epsilon, self.s = epsilon, 0.0

    def delta(self, rate, g, p):
        self.s = self.s + g**2
        return -rate * g / (np.sqrt(self.s) + self.epsilon)


class RmsProp:
    def __init__(self, decay=0.99, epsilon=1e-8):
        self.decay, self.epsilon, self.s = decay, epsilon, 0.0

    def delta(self, rate, g, p):
        self.s = self.decay * self.s + (1 - self.decay) * g**2
        return -rate * g / (np.sqrt(self.s) + self.epsilon)


class Adam:
    def __init__(self, beta1=0.9, beta2=0.999, epsilon=1e-8, decay=0.0):
        self.betas, self.epsilon, self.decay = (beta1, beta2), epsilon, decay
        self.m, self.s, self.t = 0.0, 0.0, 0

    def delta(self, rate, g, p):
        beta1, beta2 = self.betas
        self.t += 1
        self.m = beta1 * self.m + (1 - beta1) * g
        self.s = beta2 * self.s + (1 - beta2) * g**2
        mean, square = self.m / (1 - beta1**self.t), self.s / (1 - beta2**self.t)
        return -rate * (mean / (np.sqrt(square) + self.epsilon) + self.decay * p)


class BarzilaiBorwein:
    def __init__(self):
        self.before = None

    def delta(self, rate, g, p):
        if self.before is None:
            self.r = rate
        else:
            dp, dg = p - self.before[0], g - self.before[1]
            if np.vdot(dg, dg) > 0:
                self.r = abs(np.vdot(dp, dg)) / np.vdot(dg, dg)
        self.before = p, g
        return -self.r * g


class Clipped(Adam):
    """Weight decay, then clipping by norm, then Adam."""

    def delta(self, rate, g, p):
        g = g + 0.1 * p
        return super().delta(rate, g * min(1.0, 1.5 / np.linalg.norm(g)), p)


STEPPED = {
    "sgd": (Sgd, lambda p: torch.optim.SGD([p], 0.1)),
    "momentum": (Momentum, lambda p: torch.optim.SGD([p], 0.1, momentum=0.9)),
    "momentum_with": (lambda: Momentum(0.5), lambda p: torch.optim.SGD([p], 0.1, momentum=0.5)),
    "nesterov": (Nesterov, lambda p: torch.optim.SGD([p], 0.1, momentum=0.9, nesterov=True)),
    "nesterov_with": (lambda: Nesterov(0.5), lambda p: torch.optim.SGD([p], 0.1, momentum=0.5, nesterov=True)),
    "adagrad": (Adagrad, lambda p: torch.optim.Adagrad([p], 0.1)),
    "adagrad_with": (lambda: Adagrad(0.5), lambda p: torch.optim.Adagrad([p], 0.1, eps=0.5)),
    "rmsprop": (RmsProp, lambda p: torch.optim.RMSprop([p], 0.1)),
    "rmsprop_with": (lambda: RmsProp(0.8, 0.5), lambda p: torch.optim.RMSprop([p], 0.1, alpha=0.8, eps=0.5)),
    "adam": (Adam, lambda p: torch.optim.Adam([p], 0.1)),
    "adam_with": (lambda: Adam(0.6, 0.8, 0.5), lambda p: torch.optim.Adam([p], 0.1, betas=(0.6, 0.8), eps=0.5)),
    "adamw": (lambda: Adam(decay=0.01), lambda p: torch.optim.AdamW([p], 0.1)),
    "adamw_with": (
        lambda: Adam(0.6, 0.8, 0.5, 0.3),
        lambda p: torch.optim.AdamW([p], 0.1, betas=(0.6, 0.8), eps=0.5, weight_decay=0.3),
    ),
    "barzilai_borwein": (BarzilaiBorwein, None),
    "clipped": (Clipped, None),
}


def steps():
    random = np.random.default_rng(7)
    act = np.array([n % 4 != 2 for n in range(26)])
    assert act.sum() == 20
    rates = np.round(0.1 / (1 + 0.1 * np.arange(26)), 4)
    gradients = uniform(random, 26, 3)
    inputs = {"act": list(act), "rate": list(rates), "g": [g if a else ABSENT for g, a in zip(gradients, act)]}
    write("optim_steps.in.chron", inputs)
    for name, (make, reference) in STEPPED.items():
        optimiser, p, rows = make(), START.copy(), []
        for a, rate, g in zip(act, rates, gradients):
            rows.append(p)
            if a:
                p = p + optimiser.delta(rate, g, p)
        write(f"optim_{name}.out.chron", {"p": rows})
        if torch and reference:
            theirs = tensor(START, gradient=True)
            optimiser = reference(theirs)
            for n in range(26):
                same(rows[n], theirs.detach(), 1e-13)
                if act[n]:
                    optimiser.param_groups[0]["lr"] = rates[n]
                    theirs.grad = tensor(gradients[n])
                    optimiser.step()


def rosenbrock(p):
    x, y = p
    cost = (1 - x) ** 2 + 100 * (y - x * x) ** 2
    return cost, np.array([-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)])


def square(p):
    return p[0] * p[0] + p[1] * p[1], 2 * p


# Each entry is (function, rate, number of steps, cost that must be reached).
DESCENTS = {
    "sgd": (Sgd, rosenbrock, 0.001, 1000, 0.185),
    "momentum": (Momentum, rosenbrock, 0.001, 1000, 0.39),
    "nesterov": (Nesterov, rosenbrock, 0.001, 1000, 0.39),
    "rmsprop": (lambda: RmsProp(0.999), rosenbrock, 0.001, 1000, 0.68),
    "adam": (Adam, rosenbrock, 0.1, 1000, 0.113),
    "adamw": (lambda: Adam(decay=0.01), rosenbrock, 0.1, 1000, 0.113),
    "barzilai_borwein": (BarzilaiBorwein, rosenbrock, 0.0001, 250, 2e-5),
    "adagrad": (Adagrad, square, 0.001, 1000, 0.39),
}


def descents():
    for name, (make, function, rate, count, wanted) in DESCENTS.items():
        optimiser, p, best, rows = make(), np.array([-0.5, 0.5]), np.inf, {"shown": [], "p": []}
        for n in range(count + 1):
            cost, g = function(p)
            best = min(best, cost)
            shown = n % 50 == 0 and n <= 400
            rows["shown"].append(shown)
            rows["p"].append(p if shown else ABSENT)
            p = p + optimiser.delta(rate, g, p)
        assert best < wanted, (name, best, wanted)
        write(f"descent_{name}.out.chron", rows)


def schedules():
    t = np.arange(14)
    rows = {
        "stepped": 0.3 * 0.5 ** (t // 3),
        "exponential": 0.3 * 0.9**t,
        "cosine": 0.01 + 0.5 * (0.3 - 0.01) * (1 + np.cos(np.pi * np.minimum(t, 10) / 10)),
        "warmed": 0.3 * 0.9**t * np.minimum(t + 1, 4) / 4,
    }
    if torch:
        p = tensor([0.0], gradient=True)
        for name, make in {
            "stepped": lambda o: torch.optim.lr_scheduler.StepLR(o, 3, 0.5),
            "exponential": lambda o: torch.optim.lr_scheduler.ExponentialLR(o, 0.9),
            "cosine": lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 10, 0.01),
        }.items():
            optimiser = torch.optim.SGD([p], 0.3)
            schedule, theirs = make(optimiser), []
            for _ in t[:11]:
                theirs.append(schedule.get_last_lr()[0])
                optimiser.step()
                schedule.step()
            same(rows[name][:11], theirs)
    act = [n % 3 != 1 for n in range(20)]
    counted = np.concatenate([[0], np.cumsum(act)[:-1]])
    write("schedules.in.chron", {"act": act})
    write("schedules.out.chron", {"t": counted, **{name: row[counted] for name, row in rows.items()}})


steps()
descents()
schedules()
