"""The expected outputs of the programs beside this file, by PyTorch's layers, autograd and
optimisers (the stored files were written with 1.13). Data and initial parameters are the
constants of the programs. Each example has 200 updates.

If a folder is given, the files are written there for comparison, otherwise here."""

import ast
import pathlib
import re
import sys
from itertools import cycle, islice

import torch

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "figures"))
from chronogram import ABSENT, write  # noqa: E402

OUT = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
UPDATES = 200
torch.set_default_dtype(torch.float64)


class Constants:
    """The constants of a program: as lists, as tensors, or as parameters."""

    def __init__(self, program):
        text = (HERE / program).read_text()
        self.lists = {
            name: ast.literal_eval(value.replace("true", "True").replace("false", "False"))
            for name, value in re.findall(r"^const (\w+) = (\[.*?\]);", text, re.DOTALL | re.MULTILINE)
        }

    def __getattr__(self, name):
        return torch.tensor(self.lists[name])

    def parameters(self, *names):
        return [torch.nn.Parameter(getattr(self, name)) for name in names]


def store(name, **rows):
    values = {k: [v.detach().numpy() if torch.is_tensor(v) else v for v in row] for k, row in rows.items()}
    write(OUT / f"{name}.out.chron", values)


def sequences(ends):
    """Slices of the cycles between the ends, repeated forever."""
    starts = [0] + [n + 1 for n, end in enumerate(ends) if end]
    return cycle([slice(a, b) for a, b in zip(starts, starts[1:])])


def mse(outputs, targets):
    """The sum of the losses of a sequence."""
    return ((outputs - targets) ** 2).sum()


class PerSequence:
    """The values that a program outputs at the end of each sequence."""

    def __init__(self):
        self.rows = {"end": [], "total": [], "last": []}

    def add(self, length, total, last):
        for n in range(length):
            here = n == length - 1
            self.rows["end"].append(here)
            self.rows["total"].append(total if here else ABSENT)
            self.rows["last"].append(last if here else ABSENT)


def step(optimiser, loss):
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()


def mlp():
    c = Constants("mlp.rml")
    optimisers = {
        "sgd": lambda p: torch.optim.SGD(p, 0.1),
        "momentum": lambda p: torch.optim.SGD(p, 0.02, momentum=0.9),
        "adam": lambda p: torch.optim.Adam(p, 0.02),
    }
    for name, optimiser in optimisers.items():
        k1, b1, k2, b2 = p = c.parameters("kernel1", "bias1", "kernel2", "bias2")
        optimiser = optimiser(p)
        rows = {"l": [], "y": []}
        for x, target in islice(cycle(zip(c.xs, c.targets)), UPDATES):
            y = (k2 @ torch.tanh(k1 @ x + b1) + b2)[0]
            loss = (y - target) ** 2
            rows["l"].append(loss)
            rows["y"].append(y)
            step(optimiser, loss)
        store(f"mlp_{name}", **rows)


def load(layer, suffix, *values):
    """Sets a layer's parameters; None is a bias that stays zero, since it is part of the other
    one."""
    for name, value in zip(("weight_ih", "weight_hh", "bias_ih", "bias_hh"), values):
        parameter = getattr(layer, name + suffix)
        parameter.data = torch.zeros_like(parameter) if value is None else value.clone()
        parameter.requires_grad = value is not None
    return layer


def learned(*modules):
    return [p for module in modules for p in module.parameters() if p.requires_grad]


def readout(c):
    layer = torch.nn.Linear(*reversed(c.out.shape))
    layer.weight.data, layer.bias.data = c.out, c.out_bias
    return layer


def recurrent(program, layer, optimiser):
    """A recurrent layer and a readout, a loss at every cycle."""
    c = Constants(f"{program}.rml")
    layer, out = layer(c), readout(c)
    optimiser = optimiser(learned(layer, out))
    rows = PerSequence()
    for at in islice(sequences(c.lists["ends"]), UPDATES):
        outputs = out(layer(c.xs[at])[0])[:, 0]
        loss = mse(outputs, c.targets[at])
        rows.add(len(outputs), loss, outputs[-1])
        step(optimiser, loss)
    store(program, **rows.rows)


def lstm(c):
    return load(torch.nn.LSTM(2, 2), "_l0", c.kernel, c.state_kernel, c.bias, None)


def gru(c, size=2):
    return load(torch.nn.GRU(size, 3), "_l0", c.kernel, c.state_kernel, c.bias, c.state_bias)


def bidirectional(c):
    layer = torch.nn.LSTM(2, 2, bidirectional=True)
    load(layer, "_l0", c.kernel, c.state_kernel, c.bias, None)
    return load(layer, "_l0_reverse", c.kernel_back, c.state_kernel_back, c.bias_back, None)


def adam(rate):
    return lambda p: torch.optim.Adam(p, rate)


def mixed():
    """Losses only where `learns` is true; a sequence without a loss updates nothing."""
    c = Constants("mixed.rml")
    layer, out = load(torch.nn.RNN(2, 3), "_l0", c.kernel, c.state_kernel, c.bias, None), readout(c)
    optimiser = torch.optim.Adam(learned(layer, out), 0.02)
    rows, updates = PerSequence(), 0
    for at in sequences(c.lists["ends"]):
        outputs = out(layer(c.xs[at])[0])[:, 0]
        errors = (outputs - c.targets[at]) ** 2
        rows.add(len(outputs), errors.sum(), outputs[-1])
        if c.learns[at].any():
            step(optimiser, errors[c.learns[at]].sum())
            updates += 1
        if updates == UPDATES:
            break
    store("mixed", **rows.rows)


def end_only():
    c = Constants("end_only.rml")
    table = torch.nn.Embedding.from_pretrained(c.table, freeze=False)
    layer, out = gru(c), readout(c)
    optimiser = torch.optim.Adam(learned(table, layer, out), 0.03)
    rows = PerSequence()
    for at in islice(sequences(c.lists["ends"]), UPDATES):
        logits = out(layer(table(c.tokens[at]))[0])[-1]
        loss = torch.nn.functional.cross_entropy(logits, c.labels[at][-1])
        rows.add(len(c.tokens[at]), loss, None)
        step(optimiser, loss)
    store("end_only", end=rows.rows["end"], l=rows.rows["total"])


def batch_norm(program):
    c = Constants(f"{program}.rml")
    first, norm, second = torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 1)
    first.weight.data, first.bias.data = c.kernel1, c.bias1
    second.weight.data, second.bias.data = c.kernel2, c.bias2
    model = torch.nn.Sequential(first, norm, torch.nn.Tanh(), second)
    optimiser = torch.optim.SGD(model.parameters(), 0.02)
    learns = c.lists.get("learns", [True] * len(c.xs))
    rows, updates = PerSequence(), 0
    for at in sequences(c.lists["ends"]):
        model.train(learns[at.start])
        outputs = model(c.xs[at])[:, 0]
        loss = mse(outputs, c.targets[at])
        rows.add(len(outputs), loss, outputs[-1])
        if model.training:
            step(optimiser, loss)
            updates += 1
        elif updates == UPDATES:
            break
        if updates == UPDATES and "learns" not in c.lists:
            break
    store(program, **rows.rows)


def experts():
    """An optimiser for each expert, which steps only where the expert is active."""
    c = Constants("experts.rml")
    router = c.parameters("router")
    members = [c.parameters(f"kernel{n}", f"bias{n}") for n in (1, 2, 3)]
    optimisers = [torch.optim.Adam(p, 0.02) for p in members + [router]]
    rows = {"l": [], "gates": []}
    for x, target in islice(cycle(zip(c.xs, c.targets)), UPDATES):
        gates = torch.softmax(router[0] @ x, 0)
        assert min(abs(gates - 0.3)) > 1e-4, "too near the threshold for single precision"
        open_gates = [bool(g > 0.3) for g in gates]
        parts = [k @ x + b for k, b in members]
        parts[2] = torch.tanh(parts[2])
        y = sum(gate * part for gate, part, is_open in zip(gates, parts, open_gates) if is_open)[0]
        loss = (y - target) ** 2
        rows["l"].append(loss)
        rows["gates"].append(gates)
        for optimiser in optimisers:
            optimiser.zero_grad()
        loss.backward()
        for optimiser, is_open in zip(optimisers, open_gates + [True]):
            if is_open:
                optimiser.step()
    store("experts", **rows)


def pipeline():
    """Sample m is at stage j in cycle m + j and is learned in cycle m + 2. Samples of negative
    number are the zeros with which the delays begin; they enter at a later stage."""
    c = Constants("pipeline.rml")
    stages = [c.parameters(f"kernel{n}", f"bias{n}") for n in (1, 2, 3)]
    optimisers = [torch.optim.SGD(p, 0.01, momentum=0.9) for p in stages]
    rows = {"l": [], "y": []}
    for m in range(-2, UPDATES - 2):
        first = max(0, -m)
        x = c.xs[m % len(c.xs)] if m >= 0 else torch.zeros(stages[first][0].shape[1])
        for k, b in stages[first:]:
            x = k @ x + b
            if k is not stages[2][0]:
                x = torch.tanh(x)
        target = c.targets[m % len(c.targets)] if m >= 0 else 0.0
        loss = (x[0] - target) ** 2
        rows["l"].append(loss)
        rows["y"].append(x[0])
        for optimiser in optimisers:
            optimiser.zero_grad()
        loss.backward()
        for optimiser in optimisers[first:]:
            optimiser.step()
    store("pipeline", **rows)


mlp()
recurrent("lstm", lstm, adam(0.02))
recurrent("gru", gru, lambda p: torch.optim.SGD(p, 0.02, momentum=0.9))
recurrent("bidirectional", bidirectional, adam(0.02))
mixed()
end_only()
batch_norm("batch_norm")
batch_norm("batch_norm_mixed")
experts()
pipeline()
