"""Expected values of moves, orders and differences of tensors, by PyTorch and NumPy."""

import numpy as np
import torch
from groups import INF, NAN, Entry, Group, Series, values_only

ANY = [
    Entry("flatten", "tensor.flatten(1, x)", lambda x: x.reshape(x.shape[0], -1)),
    Entry("swapaxes", "tensor.swapaxes(0, -1, x)", lambda x: x.swapaxes(0, -1)),
    Entry("moveaxis", "tensor.moveaxis(0, -1, x)", lambda x: x.moveaxis(0, -1)),
    Entry("exchange", "signal.exchange(0, 1, x)", lambda x: x.swapaxes(0, 1)),
    Entry("component", "signal.component(1, x)", lambda x: x[..., 1]),
    Entry("tril", "tensor.tril(0, x)", torch.tril),
    Entry("triu", "tensor.triu(1, x)", lambda x: torch.triu(x, 1)),
    Entry("trace", "tensor.trace(x)", torch.trace),
    Entry("inner", "tensor.inner(x, x[0])", lambda x: x @ x[0]),
    Entry("kron", "tensor.kron(x, x)", lambda x: torch.kron(x, x)),
    Entry("vdot", "tensor.vdot(x, 2.0 * x)", lambda x: (2 * x * x).sum()),
    Entry("reversed", "tensor.reverse_rows([2, 1], x)", lambda x: torch.stack([x[0, [1, 0, 2]], x[1]])),
    Entry("median", "tensor.median(x)", lambda x: x.median(-1).values),
    Entry("quantile", "tensor.quantile(0.3, x)", lambda x: torch.quantile(x, 0.3, dim=-1)),
    Entry("or_nan", "tensor.or_nan(sort(x), x[:, 1])", lambda x: torch.where(x.isnan().any(-1), NAN, x[:, 1])),
    Entry("u", "across(x)", lambda x: torch.meshgrid(x[1], x[0], indexing="xy")[0]),
    Entry("v", "down(x)", lambda x: torch.meshgrid(x[1], x[0], indexing="xy")[1]),
    Entry("top", "largest(x)", lambda x: x.topk(2, -1).values),
    Entry("linspace", "tensor.linspace(x[0, 0], x[1, 1], 4)",
          lambda x: x[0, 0] * (1 - torch.arange(4).double() / 3) + x[1, 1] * (torch.arange(4).double() / 3)),
    Entry("range", "x * tensor_range(x)", lambda x: x * torch.tensor([1.0, 3.0, 5.0])),
]
CUBE = "reshape([3, 1, 2], x)"
PLACED = [
    Entry("rows_none", "tensor.flatten(0, x)", lambda x: x.reshape(1, -1)),
    Entry("rows_last", "tensor.flatten(-1, x)", lambda x: x),
    Entry("far_swap", f"tensor.swapaxes(-1, 0, {CUBE})", lambda x: x.reshape(3, 1, 2).swapaxes(-1, 0)),
    Entry("near_swap", f"tensor.swapaxes(-2, -1, {CUBE})", lambda x: x.reshape(3, 1, 2).swapaxes(-2, -1)),
    Entry("exchanged", f"signal.exchange(-1, -3, {CUBE})", lambda x: x.reshape(3, 1, 2).swapaxes(-1, -3)),
    *[Entry(f"moved_{k}", f"tensor.moveaxis({a}, {b}, {CUBE})", lambda x, a=a, b=b: x.reshape(3, 1, 2).moveaxis(a, b))
      for k, (a, b) in enumerate(((0, 1), (2, 0), (-1, 0), (1, -1), (-3, 2), (1, 1)))],
    *[Entry(f"{name}_{k + 1}", f"tensor.{name}({k}, x)", lambda x, f=getattr(torch, name), k=k: f(x, k))
      for name in ("tril", "triu") for k in (-1, 0, 1)],
    Entry("lowest", "tensor.quantile(0.0, x)", lambda x: torch.quantile(x, 0.0, dim=-1)),
    Entry("highest", "tensor.quantile(1.0, x)", lambda x: torch.quantile(x, 1.0, dim=-1)),
]
UNIT = Entry("unit", "tensor.unit(2.0, -1, x)", lambda x: torch.nn.functional.normalize(x, dim=-1, eps=1e-300))
NODES = """node across(x) -> (u)
  u, _ = tensor.meshgrid(x[1], x[0]);

node down(x) -> (v)
  _, v = tensor.meshgrid(x[1], x[0]);

node largest(x) -> (values)
  values, _ = tensor.topk(2, -1, x);

node tensor_range(x) -> (y)
  y = cast_like(tensor.arange(1, 6, 2), x[0]);
"""
PLACES = [
    Entry("hot", "tensor.one_hot_values(3, 0, -1.0, 5.0, i)",
          lambda i: torch.where(torch.arange(3)[:, None] == i % 3, 5.0, -1.0), gradient=False)]

def interpolated(x, t):
    return np.stack([np.interp(a, np.sort(b), KNOTS) for a, b in zip(x, t)])


def percentiles(x):
    return np.percentile(x, 30, axis=-1)


KNOTS = [5.0, -2.0, 3.0, 8.0]
SHAPED = [
    Entry("stacked", "tensor.stack([x, 2.0 * x], -1)", lambda x: torch.stack([x, 2 * x], -1)),
    Entry("first", "tensor.stack([x, 2.0 * x], 0)", lambda x: torch.stack([x, 2 * x], 0)),
    Entry("thirds", "tensor.split(x, 3, -1)", lambda x: torch.stack(x.split(1, -1))),
    Entry("halves", "tensor.split(x, 2, 0)", lambda x: torch.stack(x.split(1, 0))),
    Entry("steps", "tensor.diff_axis(x, -1)", lambda x: torch.diff(x, dim=-1)),
    Entry("down", "tensor.diff_axis(x, 0)", lambda x: torch.diff(x, dim=0)),
    Entry("crossed", "tensor.cross(x, [1.0, -2.0, 0.5])",
          lambda x: torch.linalg.cross(x, torch.tensor([[1.0, -2.0, 0.5]], dtype=x.dtype))),
    Entry("crosses", "tensor.cross(x[0], x[1])", lambda x: torch.linalg.cross(x[0], x[1])),
    Entry("area", "tensor.trapz(x, [0.0, 0.5, 2.5])", lambda x: torch.trapezoid(x, torch.tensor([0.0, 0.5, 2.5], dtype=x.dtype))),
    Entry("between", "tensor.trapz(x[1], x[0])", lambda x: torch.trapezoid(x[1], x[0])),
]
INTERPOLATED = [Series("y", "tensor.interp(x, sort(t), [5.0, -2.0, 3.0, 8.0])", interpolated)]
PERCENTILES = [Series("percentile", "tensor.percentile(x, 30.0)", percentiles),
               Series("lowest, highest", "ends(x)", lambda x: (x.min(-1), x.max(-1)))]
ENDS = """node ends(x) -> (a, b)
  a = tensor.percentile(x, 0.0);
  b = tensor.percentile(x, 100.0);
"""
random = np.random.default_rng(81)
drawn = [np.round(random.uniform(-2, 2, (2, 3)), 2) for _ in range(3)]
edges = [np.zeros((2, 3)), np.array([[1e18, 1.0, 0.0], [7, 7, 7]]), np.array([[-0.0, 1e-18, 0], [3, 2, 1]])]
wild = [np.array([[NAN, 1, INF], [2, -INF, 3.0]]), np.array([[INF, INF, 1.0], [NAN, NAN, NAN]])]
later = np.random.default_rng(82)
names = ("flatten", "swapaxes", "moveaxis", "exchange", "component", "tril", "triu", "or_nan", "u", "v")
GROUPS = [
    Group("tensor_moves", "ordinary", "PyTorch", {"x": drawn}, ANY + [UNIT], nodes=NODES),
    Group("tensor_moves_edges", "edge", "PyTorch", {"x": edges}, values_only(ANY + [UNIT]), nodes=NODES),
    Group("tensor_moves_wild", "edge", "PyTorch", {"x": wild},
          values_only([e for e in ANY if e.name in names + ("median",)]), nodes=NODES),
    Group("tensor_axes", "ordinary", "PyTorch", {"x": drawn[:2]}, PLACED),
    Group("tensor_axes_edges", "edge", "PyTorch", {"x": edges[1:] + wild[:1]}, values_only(PLACED[:-2])),
    Group("tensor_places", "ordinary edge", "PyTorch", {"i": [np.array(v, np.int32) for v in ([0, 1], [2, -1], [-3, 0])]},
          PLACES),
    Group("tensor_shaped", "ordinary", "PyTorch", {"x": drawn[:2]}, SHAPED),
    Group("tensor_shaped_edges", "edge", "PyTorch", {"x": edges[:1] + edges[2:] + [np.array([[1e15, 1.0, 0.0], [7, 7, 7]])]}, values_only(SHAPED)),
    Group("tensor_interpolated", "ordinary", "NumPy",
          {"x": [np.round(later.uniform(-3, 3, 5), 2) for _ in range(4)], "t": [np.round(later.uniform(-2, 2, 4), 2) for _ in range(4)]},
          INTERPOLATED),
    Group("tensor_interpolated_edges", "edge", "NumPy",
          {"x": [np.array(v, float) for v in ([0, 1, 2, 3, 4], [INF, -INF, NAN, 1, 2], [1, 1, 1, 0, 2])],
           "t": [np.array(v, float) for v in ([0, 1, 2, 3], [0, 1, 2, 3], [1, 1, 1, 2])]}, INTERPOLATED),
    Group("tensor_percentiles", "ordinary", "NumPy", {"x": drawn}, PERCENTILES, nodes=ENDS),
    Group("tensor_percentiles_edges", "edge", "NumPy",
          {"x": [np.zeros((2, 3)), np.array([[1e30, 0, 1], [7, 7, 7]]), np.array([[NAN, 1, 2], [INF, 1, 2]])]}, PERCENTILES, nodes=ENDS),
]
