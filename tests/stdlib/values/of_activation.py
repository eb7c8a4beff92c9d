"""Expected values of activations, by torch.nn.functional; those that it lacks by their definitions,
in PyTorch's arithmetic."""

import numpy as np
import torch
import torch.nn.functional as F
from groups import EDGES, NOT_FINITE, Entry, Group, values_only


def sparsemax(x):
    z, _ = torch.sort(x, dim=-1, descending=True)
    z = z - z[..., :1]
    k = torch.arange(1, x.shape[-1] + 1, dtype=x.dtype)
    total = torch.cumsum(z, -1)
    size = int((1 + k * z > total).sum())
    x = x - x.max().detach()
    chosen = torch.topk(x, size).values
    return torch.relu(x - (chosen.sum() - 1) / size)


def shrink(x):
    return torch.where(x < -1, x + 0.5, torch.where(x <= 1, torch.zeros_like(x), x - 0.5))


POINTWISE = [
    Entry("log_sigmoid", "activation.log_sigmoid(x)", F.logsigmoid),
    Entry("leaky_relu", "activation.leaky_relu(0.1, x)", lambda x: F.leaky_relu(x, 0.1)),
    Entry("elu", "activation.elu(x)", F.elu),
    Entry("selu", "activation.selu(x)", F.selu),
    Entry("silu", "activation.silu(x)", F.silu),
    Entry("gelu", "activation.gelu(x)", lambda x: F.gelu(x, approximate="tanh")),
    Entry("mish", "activation.mish(x)", F.mish),
    Entry("softsign", "activation.softsign(x)", F.softsign),
    Entry("elu_with", "activation.elu_with(2.0, x)", lambda x: F.elu(x, alpha=2.0)),
    Entry("celu", "activation.celu(2.0, x)", lambda x: F.celu(x, alpha=2.0)),
    Entry("thresholded_relu", "activation.thresholded_relu(1.0, x)", lambda x: F.threshold(x, 1.0, 0.0)),
    Entry("hard_sigmoid", "activation.hard_sigmoid(1.0 / 6.0, 0.5, x)", lambda x: F.relu6(x + 3) / 6),
    Entry("hard_swish", "activation.hard_swish(x)", F.hardswish),
    Entry("swish", "activation.swish(1.5, x)", lambda x: x * torch.sigmoid(1.5 * x)),
    Entry("gelu_exact", "activation.gelu_exact(x)", F.gelu),
    Entry("shrink", "activation.shrink(1.0, 0.5, x)", shrink),
    Entry("soft_shrink", "activation.shrink(0.5, 0.5, x)", lambda x: F.softshrink(x, 0.5)),
    Entry("hard_shrink", "activation.shrink(0.5, 0.0, x)", lambda x: F.hardshrink(x, 0.5)),
    Entry("swiglu", "activation.swiglu(x, 2.0)", lambda x: F.silu(x) * 2),
]
FAR = [
    Entry("elu", "activation.elu(x)", F.elu, scale=1e8),
    Entry("selu", "activation.selu(x)", F.selu, scale=1e8),
    Entry("celu", "activation.celu(2.0, x)", lambda x: F.celu(x, alpha=2.0), scale=1e8),
]


VECTORS = [
    Entry("glu", "activation.glu(x)", F.glu),
    Entry("hardmax", "activation.hardmax(x)",
          lambda x: F.one_hot(x.argmax(-1), 4).to(x.dtype) + 0 * x.detach(), gradient=False),
    Entry("sparsemax", "activation.sparsemax(x)", sparsemax),
]
ordinary = list(np.round(np.random.default_rng(31).uniform(-4, 4, 12), 2))
vectors = [np.round(np.random.default_rng(32 + k).uniform(-2, 2, 4), 2) for k in range(6)]
at_edges = [[0.0, 0.0, 0.0, 0.0], [1e8, 1e8, -1e8, 0.0], [3e38, 0.0, -3e38, 1.0], [1.0, 1.0, 1.0, -5.0],
            [1e7, 1e7 + 1, 1e7 - 2, 0.0]]
GROUPS = [
    Group("activation_ordinary", "ordinary", "PyTorch", {"x": ordinary}, POINTWISE),
    Group("activation_edges", "edge", "PyTorch", {"x": EDGES}, POINTWISE),
    Group("activation_not_finite", "edge", "PyTorch", {"x": NOT_FINITE}, values_only(POINTWISE)),
    Group("activation_far", "edge", "PyTorch", {"x": [-10.0, -15.0, -20.0]}, FAR),
    Group("activation_vectors", "ordinary", "PyTorch", {"x": vectors}, VECTORS),
    Group("activation_vectors_edges", "edge", "PyTorch", {"x": [np.array(v) for v in at_edges]}, VECTORS),
]
