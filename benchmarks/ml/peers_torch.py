#!/usr/bin/env python3
"""PyTorch 2, eager and compiled: peers_torch.py WORKLOAD KEY=VALUE …

The first variant of a workload uses modules in the usual way. If it is faster, a second variant has the
gradient written by hand, in one compiled function. Of a sequence only the cell is compiled: compiling the
whole sequence would unroll it and take minutes.
"""
import warnings

from measure import main, pin, report, root, stream, threads

pin()

import torch
from torch import nn
from torch.nn import functional

warnings.filterwarnings("ignore")
torch.set_num_threads(threads())
RATE = 0.01


def tensor(number, shape, scale=1.0):
    return torch.from_numpy(stream(number, shape, scale))


def total(t):
    return t.detach().double().sum().item()


def cell(x, h, c, wi, wh, b):
    i, f, g, o = (functional.linear(x, wi, b) + functional.linear(h, wh)).chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def lstm_weights(units, inputs, first=1):
    shapes = (4 * units, inputs), (4 * units, units), (4 * units,)
    return [tensor(first + k, shape, root(units)) for k, shape in enumerate(shapes)]


def set_lstm(module, weights, suffix):
    with torch.no_grad():
        for name, w in zip(("weight_ih", "weight_hh", "bias_ih"), weights):
            getattr(module, name + suffix).copy_(w)
        other = getattr(module, "bias_hh" + suffix)
        other.zero_()
        other.requires_grad_(False)
    return module


def lstm_infer(H):
    weights = lstm_weights(H, H // 2)
    xs = tensor(4, (256, 1, H // 2))
    module = set_lstm(nn.LSTMCell(H // 2, H), weights, "")
    compiled = torch.compile(cell)
    with torch.inference_mode():
        steps = {
            "torch2_eager_cell": lambda x, h, c: module(x, (h, c)),
            "torch2_compiled_cell": lambda x, h, c: compiled(x, h, c, *weights),
        }
        for name, step in steps.items():
            state = [torch.zeros(1, H), torch.zeros(1, H), 0]

            def run(n):
                h, c, t = state
                for k in range(t, t + n):
                    h, c = step(xs[k & 255], h, c)
                state[:] = h, c, t + n

            run(1000)
            report("lstm_infer", name, {"H": H, "I": H // 2}, "us/step", run, total(state[0]))


def lstm_train(H, B, T=64):
    inputs, ring = H // 2, 8
    xs, ys = tensor(4, (ring, T, B, inputs)), tensor(5, (ring, B))

    def last_of_module(module, x):
        return module(x)[1][0][0]

    def last_of_cells(step):
        def last(weights, x):
            h = c = torch.zeros(B, H)
            for t in range(T):
                h, c = step(x[t], h, c, *weights)
            return h

        return last

    for name in ("torch2_eager_lstm", "torch2_eager_cells", "torch2_compiled_cells"):
        weights = [w.requires_grad_(True) for w in lstm_weights(H, inputs)]
        if name == "torch2_eager_lstm":
            module = set_lstm(nn.LSTM(inputs, H), [w.detach() for w in weights], "_l0")
            last, model = last_of_module, module
            trained, recurrent = [p for p in module.parameters() if p.requires_grad], module.weight_hh_l0
        else:
            last, model = last_of_cells(torch.compile(cell) if "compiled" in name else cell), weights
            trained, recurrent = list(weights), weights[1]
        out, bias = tensor(6, (H,), root(H)).requires_grad_(True), torch.zeros((), requires_grad=True)
        optimizer = torch.optim.SGD(trained + [out, bias], lr=RATE)
        at = [0]

        def run(n):
            for _ in range(n):
                k, at[0] = at[0] % ring, at[0] + 1
                optimizer.zero_grad()
                loss = ((last(model, xs[k]) @ out + bias - ys[k]) ** 2).mean()
                loss.backward()
                optimizer.step()
            return loss

        checksum = run(20).item() + total(recurrent)
        report("lstm_train", name, {"H": H, "B": B, "T": T}, "us/sequence", run, checksum)


def mlp_by_hand(x, label, w1, b1, w2, b2):
    """Computes one step, with the gradient written by hand."""
    a = torch.relu(torch.addmm(b1, x, w1.t()))
    logs = torch.log_softmax(torch.addmm(b2, a, w2.t()), 1)
    loss = -logs.gather(1, label.unsqueeze(1)).mean()
    d2 = (torch.exp(logs) - functional.one_hot(label, 10)) / x.shape[0]
    d1 = torch.mm(d2, w2) * (a > 0)
    w2.sub_(RATE * torch.mm(d2.t(), a))
    b2.sub_(RATE * d2.sum(0))
    w1.sub_(RATE * torch.mm(d1.t(), x))
    b1.sub_(RATE * d1.sum(0))
    return loss


def mlp_train(B):
    count, sizes = 1024, (784, 128, 10)
    xs = (tensor(1, (count, sizes[0])) + 1) * 0.5
    labels = ((tensor(2, (count,)) + 1) * 5).long()

    def weights():
        return [tensor(3, (sizes[1], sizes[0]), root(sizes[0])), torch.zeros(sizes[1]),
                tensor(5, (sizes[2], sizes[1]), root(sizes[1])), torch.zeros(sizes[2])]

    def loss_of(x, label, w1, b1, w2, b2):
        return functional.cross_entropy(functional.linear(torch.relu(functional.linear(x, w1, b1)), w2, b2), label)

    for name in ("torch2_eager", "torch2_compiled", "torch2_compiled_by_hand"):
        parameters, at = weights(), [0]
        if name == "torch2_compiled_by_hand":
            by_hand = torch.compile(mlp_by_hand)

            def step(x, label):
                with torch.no_grad():
                    return by_hand(x, label, *parameters)
        else:
            for p in parameters:
                p.requires_grad_(True)
            optimizer = torch.optim.SGD(parameters, lr=RATE)
            loss_function = torch.compile(loss_of) if name == "torch2_compiled" else loss_of

            def step(x, label):
                optimizer.zero_grad()
                loss = loss_function(x, label, *parameters)
                loss.backward()
                optimizer.step()
                return loss

        def run(n):
            for _ in range(n):
                k, at[0] = at[0] * B % count, at[0] + 1
                loss = step(xs[k:k + B], labels[k:k + B])
            return loss

        checksum = run(64).item() + total(parameters[0])
        report("mlp_train", name, {"B": B}, "us/step", run, checksum)


def bilstm(H, T):
    module = nn.LSTM(H // 2, H, bidirectional=True)
    set_lstm(module, lstm_weights(H, H // 2), "_l0")
    set_lstm(module, lstm_weights(H, H // 2, 11), "_l0_reverse")
    x = tensor(4, (T, 1, H // 2))
    with torch.inference_mode():
        def run(n):
            for _ in range(n):
                y, _ = module(x)
            return y

        report("bilstm", "torch2_eager_lstm", {"H": H, "T": T}, "us/sequence", run, total(run(1)))


def bn(F, B=64):
    ring = 4
    xs, dys = tensor(1, (ring, B, F)), tensor(2, (ring, B, F))
    for name in ("torch2_eager", "torch2_compiled"):
        gamma = (1 + tensor(3, (F,), 0.1)).requires_grad_(True)
        beta = tensor(4, (F,), 0.1).requires_grad_(True)
        mean, variance, at = torch.zeros(F), torch.ones(F), [0]

        def norm(x, gamma, beta, mean, variance):
            return functional.batch_norm(x, mean, variance, gamma, beta, True, 0.1, 1e-5)

        forward = torch.compile(norm) if name == "torch2_compiled" else norm
        inputs = [x.clone().requires_grad_(True) for x in xs]

        def run(n):
            for _ in range(n):
                k, at[0] = at[0] % ring, at[0] + 1
                x = inputs[k]
                x.grad = gamma.grad = beta.grad = None
                y = forward(x, gamma, beta, mean, variance)
                y.backward(dys[k])
            return y, x.grad

        y, dx = run(5)
        checksum = sum(total(t) for t in (y * y, dx * dx, mean, variance, gamma.grad, beta.grad))
        report("bn", name, {"F": F, "B": B}, "us/step", run, checksum)


def moe(experts=3, size=128, hidden=256, ring=256):
    xs, gate = tensor(1, (ring, 1, size)), tensor(2, (experts, size), root(size))
    w1, b1 = tensor(3, (experts, hidden, size), root(size)), tensor(4, (experts, hidden), root(size))
    w2, b2 = tensor(5, (experts, size, hidden), root(hidden)), tensor(6, (experts, size), root(hidden))

    def expert(x, w1, b1, w2, b2):
        return functional.linear(torch.relu(functional.linear(x, w1, b1)), w2, b2)

    with torch.inference_mode():
        for name in ("torch2_eager", "torch2_compiled"):
            apply = torch.compile(expert) if name == "torch2_compiled" else expert
            at = [0]

            def step(x):
                k = int(torch.argmax(functional.linear(x, gate)))
                return apply(x, w1[k], b1[k], w2[k], b2[k])

            def run(n):
                for _ in range(n):
                    step(xs[at[0] % ring])
                    at[0] += 1

            report("moe", name, {"experts": experts}, "us/step", run, sum(total(step(x)) for x in xs))


def online(features=8):
    ring = 4096
    xs = tensor(1, (ring, features))
    ys = tensor(2, (ring,), 0.01)
    for k in range(features):
        ys = ys + (k - 3.5) * xs[:, k]

    def learn(w, x, y):
        return w - RATE * (torch.dot(w, x) - y) * x

    with torch.no_grad():
        for name in ("torch2_eager", "torch2_compiled"):
            step, state = torch.compile(learn) if name == "torch2_compiled" else learn, [torch.zeros(features), 0]

            def run(n):
                w, t = state
                for k in range(t, t + n):
                    w = step(w, xs[k % ring], ys[k % ring])
                state[:] = w, t + n

            run(10000)
            checksum = float((state[0].double() * torch.arange(1, features + 1)).sum())
            report("online", name, {"features": features}, "ns/sample", run, checksum, 1e3)


def lenet(variant):
    shapes = ((6, 1, 5, 5), (6,), (16, 6, 5, 5), (16,), (120, 400), (120,), (84, 120), (84,), (10, 84), (10,))
    fans = (25, 25, 150, 150, 400, 400, 120, 120, 84, 84)
    p = [tensor(k + 1, shape, root(fan)) for k, (shape, fan) in enumerate(zip(shapes, fans))]

    def scores(x, *p):
        x = torch.max_pool2d(torch.relu(functional.conv2d(x, p[0], p[1], padding=2)), 2)
        x = torch.max_pool2d(torch.relu(functional.conv2d(x, p[2], p[3])), 2).flatten(1)
        x = torch.relu(functional.linear(torch.relu(functional.linear(x, p[4], p[5])), p[6], p[7]))
        return functional.linear(x, p[8], p[9])

    return p, torch.compile(scores) if variant == "torch2_compiled" else scores


def lenet_infer(B):
    x = tensor(100, (B, 1, 28, 28))
    with torch.inference_mode():
        for name in ("torch2_eager", "torch2_compiled"):
            p, scores = lenet(name)

            def run(n):
                for _ in range(n):
                    y = scores(x, *p)
                return y

            report("lenet_infer", name, {"B": B}, "us/batch", run, total(run(3)))


def lenet_train(B, count=512):
    xs, labels = tensor(100, (count, 1, 28, 28)), ((tensor(101, (count,)) + 1) * 5).long()
    for name in ("torch2_eager", "torch2_compiled"):
        p, scores = lenet(name)
        optimizer, at = torch.optim.SGD([t.requires_grad_(True) for t in p], lr=RATE), [0]

        def run(n):
            for _ in range(n):
                k, at[0] = at[0] * B % count, at[0] + 1
                optimizer.zero_grad()
                loss = functional.cross_entropy(scores(xs[k:k + B], *p), labels[k:k + B])
                loss.backward()
                optimizer.step()
            return loss

        checksum = run(10).item() + total(p[0]) + total(p[4])
        report("lenet_train", name, {"B": B}, "us/batch", run, checksum)


main({f.__name__: f for f in (lstm_infer, lstm_train, mlp_train, bilstm, bn, lenet_infer, lenet_train, moe, online)})
