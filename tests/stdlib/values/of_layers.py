"""Expected values of layers whose weights are given or constant, cells, attention, pools and boxes,
by PyTorch."""

import numpy as np
import torch
import torch.nn.functional as F
from groups import Entry, Group, values_only

P = torch.tensor
C, S = P([0.6, 0.0], dtype=torch.float64), P([0.8, 1.0], dtype=torch.float64)
ROWS = [
    Entry("affine", "nn.affine(x[0:2], x[:2, 0], x[0])", lambda x: F.linear(x[0], x[0:2], x[:2, 0])),
    Entry("layer_norm", "nn.layer_norm(1e-3, x)", lambda x: F.layer_norm(x, (4,), eps=1e-3)),
    Entry("standardise", "nn.standardise(1e-3, x)", lambda x: F.layer_norm(x, (4,), eps=1e-3)),
    Entry("rms_norm", "nn.rms_norm(1e-3, x)", lambda x: F.rms_norm(x, (4,), eps=1e-3)),
    Entry("group_norm", "nn.group_norm(2, 1e-3, x)", lambda x: F.group_norm(x, 2, eps=1e-3)),
    Entry("prelu", "nn.prelu(x)", lambda x: F.leaky_relu(x, 0.25)),
    Entry("look_up", "nn.look_up(x, 1)", lambda x: F.embedding(P(1), x)),
    Entry("moved", "nn.moved(0.25, x, 2.0 * x)", lambda x: 1.25 * x.detach() + 0 * x),
    Entry("attend", "attention.attend(true, x, 2.0 * x, x)", lambda x: F.scaled_dot_product_attention(x, 2 * x, x)),
    Entry("causal", "attention.causal(x, x, x)", lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True)),
    Entry("weights", "attention.weights(true, x)", lambda x: torch.softmax(x, -1)),
    Entry("heads", "attention.split_heads(2, x)", lambda x: x.reshape(3, 2, 2).transpose(0, 1)),
    Entry("joined", "attention.join_heads(attention.split_heads(2, x))", lambda x: x),
    Entry("corners", "detection.corners(x)",
          lambda x: torch.cat([x[:, :2] - x[:, 2:] / 2, x[:, :2] + x[:, 2:] / 2], -1)),
    Entry("turned", "attention.turned([0.6, 0.0], [0.8, 1.0], x)",
          lambda x: torch.cat([x[:, :2] * C - x[:, 2:] * S, x[:, :2] * S + x[:, 2:] * C], -1)),
]
IMAGES = [
    Entry("average", "spatial.global_average_pool(x)", lambda x: F.adaptive_avg_pool2d(x, 1)),
    Entry("largest", "spatial.global_max_pool(x)", lambda x: F.adaptive_max_pool2d(x, 1)),
    Entry("nearest", "spatial.upsample_nearest(2, x)", lambda x: F.interpolate(x, scale_factor=2, mode="nearest")),
    Entry("linear", "spatial.resize_linear(3, 8, x)", lambda x: F.interpolate(x, (3, 8), mode="bilinear")),
    Entry("cubic", "spatial.resize_cubic(4, 8, x)", lambda x: F.interpolate(x, (4, 8), mode="bicubic")),
    Entry("norms", "spatial.lp_pool(3.0, 2, x)", lambda x: F.lp_pool2d(x.abs(), 3.0, 2)),
    Entry("norm", "spatial.global_lp_pool(2.0, x)", lambda x: torch.linalg.vector_norm(x, dim=(2, 3), keepdim=True)),
    Entry("instance", "nn.instance_norm(1e-3, x)", lambda x: F.instance_norm(x, eps=1e-3)),
    Entry("channels", "nn.add_channels([1.0, 2.0], x)", lambda x: x + P([1.0, 2.0]).double().reshape(1, 2, 1, 1)),
    Entry("magnitudes", "spatial.magnitudes(3.0, x)", lambda x: x.abs() ** 3),
    Entry("root", "spatial.root(3.0, x * x + 1.0)", lambda x: (x * x + 1) ** (1 / 3)),
]
# `diff` trains the weights of a layer, so they have other values at the next cycle.
for entry in ROWS + IMAGES:
    entry.gradient = entry.name not in ("layer_norm", "rms_norm", "group_norm", "prelu", "instance", "moved")
THETA = [
    Entry("grid", "spatial.affine_grid(0, 2, 3, theta)", lambda theta: F.affine_grid(theta, (1, 1, 2, 3), align_corners=False)),
    Entry("corners", "spatial.affine_grid(1, 2, 3, theta)", lambda theta: F.affine_grid(theta, (1, 1, 2, 3), align_corners=True)),
]


def cell(make, parts):
    def run(kernel, recurrent, bias, h, x):
        made = make(2, 2).double()
        zeros = torch.zeros_like(bias)
        given = {"weight_ih": kernel, "weight_hh": recurrent, "bias_ih": bias, "bias_hh": zeros}
        state = (h[None], h[None]) if parts == 4 else h[None]
        out = torch.func.functional_call(made, given, (x[None], state))
        return torch.cat(out, 1)[0] if parts == 4 else out[0]

    return run


CELLS = {
    "rnn": (1, "recurrent.rnn_cell(kernel, recur, bias, h, x)", torch.nn.RNNCell),
    "gru": (3, "recurrent.gru_cell(kernel, recur, bias, zeros_like(bias), h, x)", torch.nn.GRUCell),
    "lstm": (4, "both(kernel, recur, bias, h, x)", torch.nn.LSTMCell),
}
BOTH = """node both(kernel, recur, bias, h, x) -> (y)
  a, b = recurrent.lstm_cell(kernel, recur, bias, h, h, x);
  y = concat(a, b);
"""
random = np.random.default_rng(101)


def drawn(*shape):
    return np.round(random.uniform(-2, 2, shape), 2)


def cells(name, arguments, scale):
    parts, call, make = CELLS[name]
    shapes = {"kernel": (2 * parts, 2), "recur": (2 * parts, 2), "bias": (2 * parts,), "h": (2,), "x": (2,)}
    inputs = {n: [s * drawn(*shape) for s in scale] for n, shape in shapes.items()}
    return Group(f"layers_{name}_{arguments}", arguments, "PyTorch", inputs, [Entry(name, call, cell(make, parts))],
                 {"f32": "1e-3", "f64": "1e-10"}, BOTH if name == "lstm" else "")


LOOSE = {"f32": "1e-3", "f64": "1e-10"}
GROUPS = [
    Group("layers_rows", "ordinary", "PyTorch", {"x": [drawn(3, 4) for _ in range(4)]}, ROWS, LOOSE),
    Group("layers_rows_edges", "edge", "PyTorch",
          {"x": [np.zeros((3, 4)), np.full((3, 4), 2.5), np.eye(3, 4) * 1000, np.full((3, 4), -0.0)]},
          values_only(ROWS), LOOSE),
    Group("layers_images", "ordinary", "PyTorch", {"x": [drawn(1, 2, 2, 4) for _ in range(3)]}, IMAGES, LOOSE),
    Group("layers_images_edges", "edge", "PyTorch",
          {"x": [np.zeros((1, 2, 2, 4)), np.full((1, 2, 2, 4), 3.0), 1e4 * drawn(1, 2, 2, 4)]}, values_only(IMAGES), LOOSE),
    # The library's values at 0, where PyTorch has none or other ones.
    Group("layers_zeros", "edge", "PyTorch", {"x": [np.array([0.0, -2.0, 3.0]), np.array([-0.0, 0.0, 1.0])]},
          [Entry("magnitudes", "spatial.magnitudes(3.0, x)", lambda x: x.abs() ** 3),
           Entry("root", "spatial.root(2.0, x * x)", lambda x: x.abs()),
           Entry("quotient", "linalg.quotient(x, 2.0 * x)", lambda x: 0.5 * x.detach().sign() ** 2 + 0 * x)]),
    Group("layers_grid", "ordinary edge", "PyTorch",
          {"theta": [drawn(1, 2, 3), np.zeros((1, 2, 3)), 1e20 * drawn(1, 2, 3)]}, THETA),
] + [cells(n, a, s) for n in CELLS for a, s in (("ordinary", (0.5, 1, 1)), ("edge", (0, 100, 1e4)))]
