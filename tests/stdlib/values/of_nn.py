"""Expected values of layers that learn, by PyTorch; batches with one sample per cycle, mixtures and
gates, in PyTorch's arithmetic."""

import numpy as np
import torch
import torch.nn.functional as F
from groups import INF, NAN, Entry, Group, Layer, Series, each_cycle, values_only

F64 = torch.float64


def weights_of(layer, *names):
    return tuple(f"{layer}.{name}" for name in names)


def affine(layer, units):
    return lambda w, *given: F.linear(given[-1], w[layer + ".kernel"].reshape(units, -1), w[layer + ".bias"])


def filtered(layer, run):
    """A convolution of each cycle's batch; `run` takes the batch, the kernel and the bias."""
    return lambda w, *given: torch.stack([run(x, w[layer + ".kernel"], w[layer + ".bias"]) for x in given[-1]])


def normal(w, end, x):
    return F.layer_norm(x, x.shape[-1:], w["layer_norm_end.gamma"], w["layer_norm_end.beta"], 1e-3)


def embedded(layer):
    return lambda w, *given: given[-1][..., None] * F.embedding(given[-2].long(), w[layer + ".table"])


def batch_rows(w, train, x):
    w = {n.split(".")[1]: v.reshape(-1) for n, v in w.items()}
    running = w["running_average"].detach(), w["running_variance"].detach()
    return F.batch_norm(x[0], *running, w["gamma"], w["beta"], bool(train[0]), 0.5, 1e-3)[None]


def batch_stream(w, train, end, x):
    """A segment is a batch to train on, or one cycle of use. PyTorch refuses batches of one;
    they give zeros and move the running variance towards 0."""
    w = {n.split(".")[1]: v.reshape(-1) for n, v in w.items()}
    average, variance = w["running_average"].detach(), w["running_variance"].detach()
    if not train[0] or len(x) > 1:
        return F.batch_norm(x, average, variance, w["gamma"], w["beta"], bool(train[0]), 0.5, 1e-3)
    average += 0.5 * (x.detach()[0] - average)
    variance *= 0.5
    return w["gamma"] * (x - x.detach()) * 0 + w["beta"]


def batches(given):
    return given["end"] | ~given["train"]


def running_statistics(end, x):
    """The running statistics of PyTorch's BatchNorm1d from the end of a batch on; mean and
    variance of each batch at its cycles."""
    norm, first, rows = torch.nn.BatchNorm1d(x.shape[-1], momentum=0.5).double(), 0, []
    for t in range(len(x)):
        if end[t]:
            batch = x[first:t + 1]
            before = norm.running_mean.numpy().copy(), norm.running_var.numpy().copy()
            if len(batch) > 1:
                norm(torch.tensor(batch))
            else:
                norm.running_mean.lerp_(torch.tensor(batch[0]), 0.5)
                norm.running_var.lerp_(torch.tensor(batch.var(0)), 0.5)
            after = norm.running_mean.numpy().copy(), norm.running_var.numpy().copy()
            for s in range(first, t + 1):
                rows.append((batch.mean(0), batch.var(0), *(after if s == t else before)))
            first = t + 1
    return tuple(np.stack(row) for row in zip(*rows))


def moments(end, x):
    parts = [part for part in np.split(x, np.flatnonzero(end) + 1) if len(part)]
    spread = [np.broadcast_to(f(part, axis=0), part.shape) for f in (np.mean, np.var) for part in parts]
    counts = [np.arange(1.0, len(part) + 1) for part in parts]
    return np.concatenate(spread[:len(parts)]), np.concatenate(spread[len(parts):]), np.concatenate(counts)


def moved(end, x):
    """A value that moves halfway towards x at each end."""
    o, out = torch.zeros(2, dtype=F64), []
    for e, row in zip(end, x):
        o = torch.lerp(o, torch.tensor(row), 0.5) if e else o
        out.append(o.numpy())
    return np.stack(out)


def routed(router, kernel, bias, x):
    """Fedus et al., 2022: the expert with the largest gate (the first of equals), times the
    gate."""
    gates = torch.softmax(router @ x, -1)
    k = int(np.argmax(gates.detach().numpy()))
    return gates[k] * F.linear(x, kernel[k], bias[k]), torch.tensor(k, dtype=torch.int32), gates


def mixed(layer, experts, units, part):
    def run(w, *given):
        shapes = {"router": (experts, -1), "kernel": (experts, units, -1), "bias": (experts, units)}
        router, kernel, bias = (w[f"{layer}.{n}"].reshape(s) for n, s in shapes.items())
        return torch.stack([routed(router, kernel, bias, x)[part] for x in given[-1]])

    return run


KB, TABLE = ("kernel", "bias"), ("table",)
ROWS = [
    Layer("dense", "nn.dense(3, x[0])", lambda w, x: affine("dense", 3)(w, x[:, 0]), weights_of("dense", *KB), each_cycle),
    Layer("dense_end", "nn.dense_end(3, end, x[0])", lambda w, end, x: affine("dense_end", 3)(w, x[:, 0]), weights_of("dense_end", *KB)),
    Layer("dense_rows", "nn.dense_rows(3, x)", affine("dense_rows", 3), weights_of("dense_rows", *KB), each_cycle),
    Layer("layer_norm_end", "nn.layer_norm_end(1e-3, end, x)", normal, weights_of("layer_norm_end", "gamma", "beta")),
]
IMAGES = [
    Layer("convolution", "nn.convolution(2, 2, 1, 1, x)",
          filtered("convolution", lambda x, k, b: F.conv2d(x, k, b, padding=1)), weights_of("convolution", *KB), each_cycle),
    Layer("convolution_end", "nn.convolution_end(3, [2, 3], [2, 1], [0, 1, 0, 1], end, x)",
          filtered("convolution_end", lambda x, k, b: F.conv2d(x, k, b, stride=(2, 1), padding=(0, 1))), weights_of("convolution_end", *KB)),
    Layer("convolution_pool", "nn.convolution_pool(2, 2, 0, 2, x)",
          filtered("convolution_pool", lambda x, k, b: F.relu(F.max_pool2d(F.conv2d(x, k, b), 2))), weights_of("convolution_pool", *KB), each_cycle),
    Layer("transposed", "nn.transposed_convolution(3, 3, 2, 1, x)",
          filtered("transposed_convolution", lambda x, k, b: F.conv_transpose2d(x, k, b, stride=2, padding=1)),
          weights_of("transposed_convolution", *KB), each_cycle),
]
LINES = [
    Layer("convolution", "nn.convolution(2, 1, 1, 0, x)", filtered("convolution", lambda x, k, b: F.conv1d(x, k.reshape(2, 1, 1), b)),
          weights_of("convolution", *KB), each_cycle),
    Layer("convolution_end", "nn.convolution_end(2, 1, 1, 0, end, x)",
          filtered("convolution_end", lambda x, k, b: F.conv1d(x, k.reshape(2, 1, 1), b)), weights_of("convolution_end", *KB)),
    Layer("convolution_pool", "nn.convolution_pool(2, 1, 0, 1, x)",
          filtered("convolution_pool", lambda x, k, b: F.relu(F.conv1d(x, k.reshape(2, 1, 1), b))), weights_of("convolution_pool", *KB), each_cycle),
    Layer("transposed", "nn.transposed_convolution(2, 2, 2, 0, x)",
          filtered("transposed_convolution", lambda x, k, b: F.conv_transpose1d(x, k.reshape(1, 2, 2), b, stride=2)),
          weights_of("transposed_convolution", *KB), each_cycle),
]
TABLES = [
    Layer("embedding", "x[0] * nn.embedding(4, 2, i[0])", lambda w, i, x: embedded("embedding")(w, i[:, 0], x[:, 0]),
          weights_of("embedding", *TABLE), each_cycle),
    Layer("embedding_rows", "expand_dims(x, 1) * nn.embedding_rows(4, 2, i)", embedded("embedding_rows"),
          weights_of("embedding_rows", *TABLE), each_cycle),
    Layer("embedding_end", "x[0] * nn.embedding_end(4, 2, end, i[0])",
          lambda w, end, i, x: embedded("embedding_end")(w, i[:, 0], x[:, 0]), weights_of("embedding_end", *TABLE)),
]
LEARNT = ("gamma", "beta", "running_average", "running_variance")
BATCHES = [Layer("y", "nn.batch_norm_rows(1e-3, 0.5, train, x)", batch_rows, weights_of("batch_norm_rows", *LEARNT), each_cycle)]
SAMPLES = [Layer("y", "nn.batch_norm(1e-3, 0.5, train, end, x)", batch_stream, weights_of("batch_norm", *LEARNT), batches)]
MOMENTS = [
    Series("average, variance, n", "nn.batch_moments(end, x)", moments),
    Series("average_of, variance_of, running_average, running_variance", "nn.batch_statistics(0.5, end, x)", running_statistics),
    Series("running", "nn.running(0.5, end, zeros_like(x), x)", moved),
    Layer("spread", "spread(end, x)", lambda w, end, x: x.var(0, correction=0).expand(x.shape)),
    Layer("centre", "centre(end, x)", lambda w, end, x: x.mean(0).expand(x.shape)),
]
PARTS = """node spread(end, x) -> (v)
  _, v, _ = nn.batch_moments(end, x);

node centre(end, x) -> (a)
  a, _, _, _ = nn.batch_statistics(0.5, end, x);
"""
PROJECTED = """node routed(router, kernel, bias, x) -> (y)
  y, _, _ = nn.route(router, kernel, bias, x);

node chosen(router, kernel, bias, x) -> (k)
  _, k, _ = nn.route(router, kernel, bias, x);

node gates(router, kernel, bias, x) -> (g)
  _, _, g = nn.route(router, kernel, bias, x);

node mixed(x) -> (y)
  y, _, _ = nn.mixture(3, 2, x);

node mixed_end(end, x) -> (y)
  y, _, _ = nn.mixture_end(3, 2, end, x);
"""
ROUTES = [
    Entry("y", "routed(router, kernel, bias, x)", lambda *given: routed(*given)[0]),
    Entry("chosen_one", "chosen(router, kernel, bias, x)", lambda *given: routed(*given)[1], gradient=False),
    Entry("all_gates", "[1.0, 2.0, -3.0] * gates(router, kernel, bias, x)",
          lambda *given: torch.tensor([1.0, 2.0, -3.0]) * routed(*given)[2]),
]
EXPERTS = ("router", "kernel", "bias")
MIXTURES = [
    Layer("mixture", "mixed(x)", mixed("mixed.mixture", 3, 2, 0), weights_of("mixed.mixture", *EXPERTS), each_cycle),
    Layer("mixture_end", "mixed_end(end, x)", mixed("mixed_end.mixture_end", 3, 2, 0), weights_of("mixed_end.mixture_end", *EXPERTS)),
]
GATED = [Entry("gated", "nn.gated(c, g, 2.0 * (x when c))", lambda c, g, x: g * 2 * x if c else torch.zeros_like(x) + 0 * g.nan_to_num())]
random = np.random.default_rng(141)


def drawn(*shape):
    return np.round(random.uniform(-2, 2, shape), 2)


def put(value):
    """Puts one element that is not finite among the others."""
    x = drawn(1, 2, 5, 4)
    x[0, 1, 2, 1] = value
    return x


def truths(*bits):
    return [np.bool_(b) for b in bits]


def indices(*cells):
    return [np.array(c, np.int32) for c in cells]


def routes(*scales):
    shapes = {"router": (3, 2), "kernel": (3, 2, 2), "bias": (3, 2), "x": (2,)}
    return {n: [s * drawn(*shape) for s in scales] for n, shape in shapes.items()}


ENDS = truths(0, 0, 1, 0, 1, 1)
TRAIN, TRAIN_ENDS = truths(1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0), truths(0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0)
ALONE, ALONE_ENDS = truths(1, 1, 0, 1, 1, 0, 1, 0), truths(1, 1, 0, 0, 1, 1, 1, 0)
LOOSE = {"f32": "1e-4", "f64": "1e-9"}
GROUPS = [
    Group("nn_rows", "ordinary", "PyTorch", {"end": ENDS, "x": [drawn(2, 4) for _ in ENDS]}, ROWS, LOOSE),
    Group("nn_rows_edges", "edge", "PyTorch", {"end": ENDS, "x": [np.zeros((2, 3)), np.full((2, 3), 1e4), 1e8 * np.eye(2, 3), np.full((2, 3), -0.0),
          np.ones((2, 3)), -np.ones((2, 3))]}, values_only(ROWS), LOOSE),
    Group("nn_rows_not_finite", "edge", "PyTorch", {"end": ENDS, "x": [np.array([[INF]]), np.array([[NAN]]), np.array([[-INF]])] * 2},
          values_only(ROWS), LOOSE),
    Group("nn_images", "ordinary", "PyTorch", {"end": ENDS, "x": [drawn(1, 2, 5, 4) for _ in ENDS]}, IMAGES, LOOSE),
    Group("nn_images_edges", "edge", "PyTorch",
          {"end": ENDS, "x": [f * np.ones((1, 2, 5, 4)) for f in (0, 1e4, -1, 1e15, -0.0, 1)]}, values_only(IMAGES), LOOSE),
    Group("nn_images_not_finite", "edge", "PyTorch", {"end": ENDS[:3], "x": [put(v) for v in (INF, -INF, NAN)]}, values_only(IMAGES), LOOSE),
    Group("nn_images_one", "edge", "PyTorch",
          {"end": ENDS, "x": [np.full((1, 1, 1), v) for v in (0, 1.0, -1e4, INF, -INF, NAN)]}, values_only(LINES), LOOSE),
    Group("nn_tables", "ordinary", "PyTorch", {"end": ENDS, "i": indices([0, 1], [1, 2], [3, 3], [1, 0], [2, 2], [0, 0]),
                                               "x": [drawn(2) for _ in ENDS]}, TABLES, LOOSE),
    Group("nn_tables_edges", "edge", "PyTorch", {"end": ENDS, "i": indices([0, 0], [3, 3], [3, 0], [0, 3], [3, 3], [0, 0]),
          "x": [np.zeros(2), np.full(2, 1e6), np.full(2, NAN), np.full(2, INF), np.ones(2), -np.ones(2)]}, values_only(TABLES), LOOSE),
    Group("nn_batches", "ordinary", "PyTorch", {"train": truths(1, 1, 0, 1, 0, 0), "x": [drawn(3, 2, 2) for _ in range(6)]}, BATCHES, LOOSE),
    Group("nn_batches_edges", "edge", "PyTorch", {"train": truths(1, 0, 1, 1, 0, 1), "x": [np.zeros((2, 2)), np.ones((2, 2)), np.full((2, 2), 4096.0),
          np.array([[1e3, 2.0], [-1e3, 2]]), np.full((2, 2), -0.0), np.full((2, 2), NAN)]}, values_only(BATCHES), LOOSE),
    Group("nn_samples", "ordinary", "PyTorch", {"train": TRAIN, "end": TRAIN_ENDS, "x": [drawn(2) for _ in TRAIN]}, SAMPLES, LOOSE),
    Group("nn_samples_edges", "edge", "PyTorch", {"train": ALONE, "end": ALONE_ENDS,
          "x": [np.array([v, 2.0]) for v in (3, -1e3, 1, 0, 0, 5, 1e6, NAN)]}, values_only(SAMPLES), LOOSE),
    Group("nn_moments", "ordinary", "PyTorch and NumPy", {"end": ENDS, "x": [drawn(2) for _ in ENDS]}, MOMENTS, LOOSE, PARTS),
    Group("nn_moments_edges", "edge", "PyTorch and NumPy",
          {"end": ENDS, "x": [np.array([v, 0.0]) for v in (1e6, 1e6, 1e6, -0.0, 1e-3, NAN)]}, values_only(MOMENTS), LOOSE, PARTS),
    Group("nn_routes", "ordinary", "PyTorch", routes(1, 2, 1, 0.5), ROUTES, {"f32": "1e-3", "f64": "1e-9"}, PROJECTED),
    Group("nn_routes_edges", "edge", "PyTorch", routes(0, 100, 1e4, -0.0), values_only(ROUTES), LOOSE, PROJECTED),
    Group("nn_mixtures", "ordinary", "PyTorch", {"end": ENDS, "x": [drawn(2) for _ in ENDS]}, MIXTURES, LOOSE, PROJECTED),
    Group("nn_mixtures_edges", "edge", "PyTorch", {"end": ENDS, "x": [np.array([v]) for v in (0, 1e4, -1e4, -0.0, 1, NAN)]},
          values_only(MIXTURES), LOOSE, PROJECTED),
    Group("nn_gated", "ordinary edge", "PyTorch", {"c": truths(1, 0, 1, 0, 1), "g": [0.5, 2.0, 0.0, NAN, 1.0],
          "x": [drawn(2), drawn(2), np.zeros(2), np.full(2, NAN), np.array([1e30, -1e30])]}, GATED),
]
