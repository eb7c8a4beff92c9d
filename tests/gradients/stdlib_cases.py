"""Calls of every node of the standard library whose gradient is checked, and of those that have none.

A case is (inputs, outputs, call): `node f(inputs) -> (outputs)  outputs = call;`. Inputs are drawn from
[-1.25, 1.25]; integers are 0 or 1. Arguments keep within the domain, and away from jumps."""

RECURRENT_KERNELS = {"rnn": "k: f64[2, 3], r: f64[2, 2], b: f64[2]",
                     "gru": "k: f64[6, 3], r: f64[6, 2], b: f64[6], a: f64[6]",
                     "lstm": "k: f64[8, 3], r: f64[8, 2], b: f64[8]"}
OPTIMISERS = ["momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw"]

# The gradient is right.
DIFFERENTIABLE = {
    "fby_end": [("end: bool, init: f64, x: f64[2]", "y", "fby_end(end, init, x)")],
    "post_end": [("end: bool, init: f64, x: f64[2]", "y", "post_end(end, init, x)")],
    "backfill": [("end: bool, x: f64[2]", "y", "backfill(x, end)")],
    "param_end": [("end: bool, x: f64[2]", "y", "param_end(end, sin(x))")],
    "activation.log1p": [("x: f64[3]", "y", "activation.log1p(0.75 * x)")],
    "activation.expm1": [("x: f64[3]", "y", "activation.expm1(x)")],
    "activation.softplus": [("x: f64[3]", "y", "activation.softplus(x)")],
    "activation.log_sigmoid": [("x: f64[3]", "y", "activation.log_sigmoid(x)")],
    "activation.log_sum_exp": [("x: f64[2, 3]", "y", "activation.log_sum_exp(x)")],
    "activation.softmax": [("x: f64[2, 3]", "y", "activation.softmax(x)")],
    "activation.log_softmax": [("x: f64[2, 3]", "y", "activation.log_softmax(x)")],
    "activation.leaky_relu": [("slope: f64, x: f64[3]", "y", "activation.leaky_relu(slope, x)")],
    "activation.elu": [("x: f64[3]", "y", "activation.elu(x)")],
    "activation.selu": [("x: f64[3]", "y", "activation.selu(x)")],
    "activation.silu": [("x: f64[3]", "y", "activation.silu(x)")],
    "activation.gelu": [("x: f64[3]", "y", "activation.gelu(x)")],
    "activation.mish": [("x: f64[3]", "y", "activation.mish(x)")],
    "activation.softsign": [("x: f64[3]", "y", "activation.softsign(x)")],
    "loss.fitting": [("x: f64[3], t: f64[3]", "y", "loss.fitting(x, t) * x")],
    "loss.mse": [("x: f64[2, 3], t: f64[2, 3]", "l", "loss.mse(x, t)")],
    "loss.mae": [("x: f64[2, 3], t: f64[2, 3]", "l", "loss.mae(x, t)")],
    "loss.huber": [("x: f64[3], t: f64[3]", "l", "loss.huber(0.5, x, t)"),
                   ("delta: f64, x: f64, t: f64", "l", "loss.huber(1.5 + delta, x, t)")],
    "loss.binary_cross_entropy": [("x: f64[3], t: f64[3]", "l", "loss.binary_cross_entropy(4.0 * x, t)")],
    "loss.cross_entropy": [("x: f64[3], label: i32", "l", "loss.cross_entropy(x, label)"),
                           ("x: f64[2, 3], label: i32[2]", "l", "loss.cross_entropy(x, label)")],
    "loss.soft_cross_entropy": [("x: f64[2, 3], t: f64[2, 3]", "l", "loss.soft_cross_entropy(x, t)")],
    "loss.hinge": [("x: f64[3], t: f64[3]", "l", "loss.hinge(x, t)")],
    "nn.affine": [("k: f64[2, 3], b: f64[2], x: f64[3]", "y", "nn.affine(k, b, x)")],
    "nn.dense": [("x: f64[3]", "y", "nn.dense(2, x)")],
    "nn.dense_end": [("end: bool, x: f64[3]", "y", "nn.dense_end(2, end, x)")],
    "nn.look_up": [("table: f64[2, 3], i: i32", "y", "nn.look_up(table, i)")],
    "nn.embedding": [("i: i32", "y: f64[3]", "nn.embedding(4, 3, i)")],
    "nn.embedding_end": [("end: bool, i: i32", "y: f64[3]", "nn.embedding_end(4, 3, end, i)")],
    "nn.standardise": [("epsilon: f64, x: f64[2, 3]", "y", "nn.standardise(epsilon * epsilon, x)")],
    "nn.layer_norm": [("x: f64[2, 3]", "y", "nn.layer_norm(0.1, x)")],
    "nn.layer_norm_end": [("end: bool, x: f64[3]", "y", "nn.layer_norm_end(0.1, end, x)")],
    "nn.batch_moments": [("end: bool, x: f64[2]", "a, v, n", "nn.batch_moments(end, x)")],
    "nn.dropout": [("train: bool, x: f64[4]", "y", "nn.dropout(0.5, train, x)")],
    "nn.gated": [("c: bool, g: f64, x: f64[2]", "y", "nn.gated(c, g, sin(x when c))")],
    "nn.route": [("r: f64[2, 3], k: f64[2, 2, 3], b: f64[2, 2], x: f64[3]", "y, chosen, gates",
                  "nn.route(r, k, b, x)")],
    "nn.mixture": [("x: f64[3]", "y, chosen, gates", "nn.mixture(2, 2, x)")],
    "nn.mixture_end": [("end: bool, x: f64[3]", "y, chosen, gates", "nn.mixture_end(2, 2, end, x)")],
    "nn.batch_norm": [("train: bool, end: bool, x: f64[2]", "y", "nn.batch_norm(0.1, 0.5, train, end, x)")],
    "nn.batch_statistics": [("end: bool, x: f64[2]", "a, v, ra, rv", "nn.batch_statistics(0.5, end, x)")],
    "signal.lowpass": [("w: f64, q: f64", "b, a", "signal.lowpass(0.25 + 0.1 * w, 2.0 + q)")],
    "signal.highpass": [("w: f64, q: f64", "b, a", "signal.highpass(0.25 + 0.1 * w, 2.0 + q)")],
    "signal.notch": [("w: f64, q: f64", "b, a", "signal.notch(0.25 + 0.1 * w, 2.0 + q)")],
    "signal.pole": [("w: f64, q: f64", "b, a", "signal.pole(w, 2.0 + q)")],
    "signal.decimate": [("x: f64", "keep, y", "signal.decimate(3, x)")],
    "tensor.flatten": [("x: f64[2, 1, 3]", "y", "tensor.flatten(2, x)")],
    "tensor.swapaxes": [("x: f64[2, 1, 3]", "y", "tensor.swapaxes(0, -1, x)")],
    "tensor.moveaxis": [("x: f64[2, 1, 3]", "y", "tensor.moveaxis(0, 1, x)")],
    "tensor.tril": [("x: f64[2, 3]", "y", "tensor.tril(0, x)")],
    "tensor.triu": [("x: f64[2, 3, 2]", "y", "tensor.triu(-1, x)")],
    "tensor.trace": [("x: f64[2, 3]", "y", "tensor.trace(x)")],
    "tensor.linspace": [("a: f64, b: f64", "y", "tensor.linspace(a, b, 4)")],
    "tensor.meshgrid": [("x: f64[3], z: f64[2]", "u, v", "tensor.meshgrid(x, z)")],
    "tensor.one_hot_values": [("a: f64, b: f64, i: i32[2]", "y", "tensor.one_hot_values(3, 0, a, b, i)")],
    "tensor.topk": [("x: f64[2, 4]", "y, at", "tensor.topk(2, -1, x)")],
    "tensor.median": [("x: f64[2, 4]", "y", "tensor.median(x)"), ("x: f64[3]", "y", "tensor.median(x)")],
    "tensor.inner": [("x: f64[2, 3], z: f64[2, 3]", "y", "tensor.inner(x, z)")],
    "tensor.vdot": [("x: f64[2, 3], z: f64[2, 3]", "y", "tensor.vdot(x, z)")],
    "tensor.kron": [("x: f64[2, 2], z: f64[1, 3]", "y", "tensor.kron(x, z)")],
    "control.saturate": [("low: f64, high: f64, x: f64[3]", "y", "control.saturate(low - 1.0, high + 1.0, x)")],
    "control.debounce": [("c: bool, x: f64", "y", "control.debounce(2, if c then x else 0.5)")],
    "metrics.average_end": [("end: bool, x: f64[2]", "y", "metrics.average_end(end, x)")],
    "metrics.moments_end": [("end: bool, x: f64[2]", "a, v", "metrics.moments_end(end, x)")],
    "optim.clip_value": [("limit: f64, g: f64[3]", "y", "optim.clip_value(1.5 + limit, 3.0 * g)")],
    "optim.clip_norm": [("limit: f64, g: f64[3]", "y", "optim.clip_norm(1.5 + limit, g)")],
    "optim.weight_decay": [("d: f64, g: f64[3], p: f64[3]", "y", "optim.weight_decay(d, g, p)")],
    "optim.step_rate": [("rate: f64, factor: f64, t: i32", "y", "optim.step_rate(rate, 1.5 + factor, 2, t)")],
    "optim.exponential_rate": [("rate: f64, factor: f64, t: i32", "y",
                                "optim.exponential_rate(rate, 1.5 + factor, t)")],
    "optim.cosine_rate": [("rate: f64, lowest: f64, t: i32", "y", "optim.cosine_rate(rate, lowest, 4, t)")],
    "optim.warm_up": [("rate: f64, t: i32", "y", "optim.warm_up(rate, 4, t)")],
    "optim.barzilai_borwein": [("g: f64, p: f64", "d", "optim.barzilai_borwein(0.1, true, g, p)")],
    "signal.hold": [("c: bool, x: f64 when c", "y", "signal.hold(0.5, c, x)")],
    "nn.running": [("end: bool, x: f64", "y", "nn.running(0.5, end, 0.0, x)")],
    "optim.sgd": [("rate: f64, c: bool, g: f64[2] when c, p: f64[2] when c", "y", "optim.sgd(rate, c, g, p)")],
}
for kind, weights in RECURRENT_KERNELS.items():
    given = ", ".join(w.split(":")[0] for w in weights.split("], "))
    state, shapes = ("h, c", "h: f64[2], c: f64[2]") if kind == "lstm" else ("h", "h: f64[2]")
    made = "h_next, c_next" if kind == "lstm" else "h_next"
    DIFFERENTIABLE |= {
        f"recurrent.{kind}_cell": [(f"{weights}, {shapes}, x: f64[3]", made,
                                    f"recurrent.{kind}_cell({given}, {state}, x)")],
        f"recurrent.{kind}_forward": [
            (f"end: bool, {weights}, x: f64[3]", "y",
             f"recurrent.{kind}_forward({', '.join(f'param_end(end, {w})' for w in given.split(', '))}, end, x)")],
        f"recurrent.{kind}_backward": [
            (f"end: bool, {weights}, x: f64[3]", "y",
             f"recurrent.{kind}_backward({', '.join(f'param_end(end, {w})' for w in given.split(', '))}, end, x)")],
        f"recurrent.{kind}_end": [("end: bool, x: f64[3]", "y", f"recurrent.{kind}_end(2, end, x)")],
        f"recurrent.{kind}_back": [("end: bool, x: f64[3]", "y", f"recurrent.{kind}_back(2, end, x)")],
        f"recurrent.{kind}_bi": [("end: bool, x: f64[3]", "y", f"recurrent.{kind}_bi(2, end, x)")],
    }

# What is refused, and with which words: states that never start anew, whose gradients would wait for
# the whole future, and what has no derivative.
ENDLESS = "depends on the infinite future"
REFUSED = {
    "signal.window": [("x: f64", "w", "signal.window(3, x)", ENDLESS)],
    "signal.delay": [("x: f64", "w", "signal.delay(2, 0.5, x)", ENDLESS)],
    "signal.ema": [("w: f64, x: f64", "y", "signal.ema(w, x)", ENDLESS)],
    "signal.fir": [("taps: f64[3], x: f64", "y", "signal.fir(taps, x)", ENDLESS)],
    "signal.biquad": [("b: f64[3], a: f64[2], x: f64", "y", "signal.biquad(b, a, x)", ENDLESS)],
    "control.rate_limit": [("x: f64", "y", "control.rate_limit(0.5, 0.5, x)", ENDLESS)],
    "metrics.average": [("x: f64[2]", "y", "metrics.average(x)", ENDLESS)],
    "metrics.moments": [("x: f64[2]", "a, v", "metrics.moments(x)", ENDLESS)],
    "metrics.accuracy": [("p: f64, l: f64", "y", "metrics.accuracy(p, l)", "it makes a float of what is not one")],
    "metrics.accuracy_end": [("end: bool, p: f64, l: f64", "y", "metrics.accuracy_end(end, p, l)",
                              "it makes a float of what is not one")],
    "control.hysteresis": [("x: f64", "y", "control.hysteresis(-0.5, 0.5, x)", "has no float output")],
    "control.pid": [("t: f64, m: f64", "y", "control.pid(2.0, 1.0, 0.5, 0.5, -1.0, 1.0, t, m)",
                     "nothing was compared: no gradient is known before the input ends")],
}
for kind in RECURRENT_KERNELS:
    REFUSED[f"recurrent.{kind}"] = [("x: f64[3]", "y", f"recurrent.{kind}(2, x)", ENDLESS)]
for optimiser in OPTIMISERS:
    REFUSED[f"optim.{optimiser}"] = [("g: f64[2], p: f64[2]", "d", f"optim.{optimiser}(0.1, true, g, p)", ENDLESS)]
for optimiser, constants in {"momentum": "0.9", "nesterov": "0.9", "adagrad": "1e-7", "rmsprop": "0.9, 1e-7",
                             "adam": "0.9, 0.999, 1e-8", "adamw": "0.9, 0.999, 1e-8, 0.01"}.items():
    REFUSED[f"optim.{optimiser}_with"] = [("g: f64[2], p: f64[2]", "d",
                                           f"optim.{optimiser}_with(0.1, {constants}, true, g, p)", ENDLESS)]

# What has nothing to differentiate.
WITHOUT = {
    "nn.kernels": "draws numbers: it has no input",
    "optim.steps": "counts",
    "tensor.arange": "makes integers of integers",
    "metrics.confusion": "counts",
    "metrics.confusion_end": "counts",
    "diff_fby_end": "is the gradient that `fby_end` is checked with",
    "diff_post_end": "is the gradient that `post_end` is checked with",
}
