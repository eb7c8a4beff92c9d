"""Nodes as layers of PyTorch: rows and gradients compared with torch.autograd of the same cells, in f64."""

from __future__ import annotations

import copy
import pathlib
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rmlc

torch = pytest.importorskip("torch")

T, UNITS, INPUTS = 7, 4, 3


def layer_of(text: str, name: str = "", **options: Any) -> Any:
    return rmlc.torch.Module(rmlc.compile(textwrap.dedent(text)), name, **options)


def lstm_cell(p: dict[str, Any], x: Any) -> Any:
    h = c = torch.zeros(UNITS, dtype=x.dtype)
    rows = []
    for each in x:
        i, f, g, o = (p["kernel"] @ each + p["recurrent"] @ h + p["bias"]).reshape(4, UNITS)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        rows.append(h)
    return torch.stack(rows)


def gru_cell(p: dict[str, Any], x: Any) -> Any:
    h = torch.zeros(UNITS, dtype=x.dtype)
    rows = []
    for each in x:
        from_x = (p["kernel"] @ each + p["bias"]).reshape(3, UNITS)
        from_h = (p["recurrent"] @ h + p["recurrent_bias"]).reshape(3, UNITS)
        r, z = torch.sigmoid(from_x[0] + from_h[0]), torch.sigmoid(from_x[1] + from_h[1])
        n = torch.tanh(from_x[2] + r * from_h[2])
        h = n + z * (h - n)
        rows.append(h)
    return torch.stack(rows)


def iir_filter(p: dict[str, Any], x: Any) -> Any:
    zero = torch.zeros((), dtype=x.dtype)
    x1 = x2 = y1 = y2 = zero
    rows = []
    for each in x:
        b, a = p["b"], p["a"]
        y = b[0] * each + b[1] * x1 + b[2] * x2 - a[0] * y1 - a[1] * y2
        x1, x2, y1, y2 = each, x1, y, y1
        rows.append(p["gain"] * y)
    return torch.stack(rows)


RECURRENT = """
    import recurrent;
    node model(end: bool, x: f64[3]) -> (h: f64[4])
      h = recurrent.{name}_end(4, end, x);
    """
IIR = """
    node model(end: bool, x: f64) -> (out: f64)
      b = param_end(end, param([0.2, 0.3, 0.1]));
      a = param_end(end, param([-0.5, 0.25]));
      x1 = fby_end(end, 0.0, x);
      x2 = fby_end(end, 0.0, x1);
      y1 = fby_end(end, 0.0, y);
      y2 = fby_end(end, 0.0, y1);
      y = b[0] * x + b[1] * x1 + b[2] * x2 - a[0] * y1 - a[1] * y2;
      gain = param_end(end, param(1.5));
      out = gain * y;
    """
CELLS: dict[str, tuple[str, Callable[..., Any], tuple[int, ...]]] = {
    "lstm": (RECURRENT.format(name="lstm"), lstm_cell, (INPUTS,)),
    "gru": (RECURRENT.format(name="gru"), gru_cell, (INPUTS,)),
    "iir": (IIR, iir_filter, ()),
}


@pytest.mark.parametrize("inputs_too", [True, False])
@pytest.mark.parametrize("name", CELLS)
def test_gradients_are_those_of_autograd(name: str, inputs_too: bool) -> None:
    text, cell, shape = CELLS[name]
    layer = layer_of(text, "model")
    torch.manual_seed(3)
    x = torch.randn(T, *shape, dtype=torch.float64, requires_grad=inputs_too)
    for each in layer.parameters():
        with torch.no_grad():
            each.add_(0.1 * torch.randn_like(each))
    y = layer(x)
    weight = torch.randn_like(y)
    (y * weight).sum().backward()

    own = {key.split(".")[-1]: value.detach().clone().requires_grad_() for key, value in layer.named_parameters()}
    x2 = x.detach().clone().requires_grad_(inputs_too)
    y2 = cell(own, x2)
    (y2 * weight).sum().backward()
    torch.testing.assert_close(y, y2, rtol=1e-12, atol=1e-14)
    assert len(own) == len(list(layer.parameters())) >= 3
    for key, value in layer.named_parameters():
        torch.testing.assert_close(value.grad, own[key.split(".")[-1]].grad, rtol=1e-9, atol=1e-12)
    if inputs_too:
        torch.testing.assert_close(x.grad, x2.grad, rtol=1e-9, atol=1e-12)


def test_sequences_side_by_side_add_their_gradients() -> None:
    layer = layer_of(CELLS["gru"][0], "model")
    x = torch.randn(5, T, INPUTS, dtype=torch.float64, requires_grad=True)
    y = layer(x)
    assert y.shape == (5, T, UNITS)
    y.square().sum().backward()
    together = [each.grad.clone() for each in layer.parameters()] + [x.grad.clone()]
    layer.zero_grad()
    x.grad = None
    for k, sequence in enumerate(x):
        row = layer(sequence)
        torch.testing.assert_close(row, y[k], rtol=0, atol=0)
        row.square().sum().backward()
    for one, other in zip(together, [*(each.grad for each in layer.parameters()), x.grad]):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-14)


MLP = """
    node model(x: f64[3], scale: f64, k: i32) -> (y: f64[2], total: f64, twice: i32)
      w = param(normal([4, 3]));
      v = param(normal([2, 4]));
      y = scale * matmul(v, tanh(matmul(w, x) + param(zeros([4]))));
      total = sum(y * y);
      twice = 2 * k;
    """


def test_central_differences() -> None:
    layer = layer_of(MLP, "model", seed=5)
    x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    scale = torch.randn(4, dtype=torch.float64, requires_grad=True)
    k = torch.arange(4, dtype=torch.int32)

    def f(x: Any, scale: Any, *parameters: Any) -> Any:
        named = dict(zip((name for name, _ in layer.named_parameters()), parameters))
        return tuple(torch.func.functional_call(layer, named, (x, scale, k))[:2])

    assert torch.autograd.gradcheck(f, (x, scale, *layer.parameters()))
    out = layer(x, k=k, scale=scale)
    assert out._fields == ("y", "total", "twice")
    assert out.twice.tolist() == [0, 2, 4, 6] and not out.twice.requires_grad


def test_it_trains() -> None:
    layer = layer_of(CELLS["lstm"][0], "model", seed=1)
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.05)
    torch.manual_seed(0)
    x = torch.randn(8, T, INPUTS, dtype=torch.float64)
    wanted = 0.3 * torch.sin(x.sum(-1)).cumsum(1)[..., None].expand(8, T, UNITS)
    losses = []
    for _ in range(60):
        optimiser.zero_grad()
        loss = (layer(x) - wanted).square().mean()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]


def test_among_other_layers_in_single_precision() -> None:
    text = CELLS["lstm"][0].replace("f64", "f32")
    model = torch.nn.Sequential(torch.nn.Linear(2, INPUTS), layer_of(text, "model"), torch.nn.Linear(UNITS, 1))
    x = torch.randn(3, T, 2)
    model(x).sum().backward()
    assert all(each.grad is not None and each.grad.abs().sum() > 0 for each in model.parameters())


def test_state_dict_copies_and_pickles() -> None:
    layer = layer_of(CELLS["lstm"][0], "model", seed=1)
    other = layer_of(CELLS["lstm"][0], "model", seed=2)
    assert set(layer.state_dict()) == set(layer.node.params)
    x = torch.randn(T, INPUTS, dtype=torch.float64)
    assert not torch.equal(layer(x), other(x))
    other.load_state_dict(layer.state_dict())
    for each in (other, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert torch.equal(layer(x), each(x))
        each(x).sum().backward()
        assert all(p.grad is not None for p in each.parameters())
    assert all(p.grad is None for p in layer.parameters())


def test_what_moves_by_itself_is_a_buffer() -> None:
    layer = layer_of("""
        node model(x: f64) -> (y: f64)
          seen: f64 = stop_gradient(param(0.0, true, 0.5 * (x - seen)));
          y = param(2.0) * (x - seen);
        """, "model")
    assert [name for name, _ in layer.named_buffers()] == ["seen"] and len(list(layer.parameters())) == 1
    x = torch.tensor([2.0, 4.0, 4.0], dtype=torch.float64, requires_grad=True)
    y = layer(x)
    seen = [0.0, 1.0, 2.5]
    np.testing.assert_allclose(y.detach(), [2 * (a - b) for a, b in zip(x.tolist(), seen)])
    assert layer.seen.item() == 3.25
    y.sum().backward()
    assert next(layer.parameters()).grad.item() == pytest.approx(sum(a - b for a, b in zip(x.tolist(), seen)))
    np.testing.assert_allclose(x.grad, 2.0)
    assert layer(x)[0].item() == 2 * (2 - 3.25)


def test_what_is_frozen_has_no_gradient() -> None:
    layer = layer_of(CELLS["lstm"][0], "model", freeze=["*bias"])
    assert {name.split(".")[-1] for name, _ in layer.named_parameters()} == {"kernel", "recurrent"}
    assert {name.split(".")[-1] for name, _ in layer.named_buffers()} == {"bias"}
    layer(torch.randn(T, INPUTS, dtype=torch.float64)).sum().backward()
    assert all(each.grad.abs().sum() > 0 for each in layer.parameters())


def test_a_parameter_that_is_not_always_there() -> None:
    layer = layer_of("""
        node part(x: f64) -> (y: f64)
          y = param(3.0) * x;
        node model(x: f64) -> (y: f64)
          c = x > 0.5;
          y = merge c (part(x when c)) (0.0);
        """, "model")
    x = torch.tensor([0.0, 1.0, -1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = layer(x)
    assert y.tolist() == [0.0, 3.0, 0.0, 6.0]
    y.sum().backward()
    assert next(layer.parameters()).grad.item() == 3.0 and x.grad.tolist() == [0.0, 3.0, 0.0, 3.0]


def test_a_sequence_that_does_not_end_has_no_gradient() -> None:
    layer = layer_of(CELLS["iir"][0], "model")
    y = layer(torch.ones(3, dtype=torch.float64), end=torch.tensor([False, True, False]))
    with pytest.raises(rmlc.RunError, match="let `end` be true in the last cycle"):
        y.sum().backward()


def test_looking_ahead_within_a_sequence() -> None:
    layer = layer_of("""
        node model(end: bool, x: f64) -> (y: f64)
          w = param_end(end, param(2.0));
          y = w * x + post_end(end, 0.0, y);
        """, "model")
    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    y = layer(x)
    assert y.tolist() == [12.0, 10.0, 6.0]
    y[0].backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0] and layer.w.grad.item() == 6.0
    # The caller's `end` divides the sequence into two.
    assert layer(x, end=torch.tensor([False, True, True])).tolist() == [6.0, 4.0, 6.0]
    with pytest.raises(rmlc.RunError, match="only 0 of 3 rows"):
        layer(x, end=torch.tensor([False, False, False]))


def test_random_numbers_are_the_same_forward_and_backward() -> None:
    layer = layer_of("""
        node model(x: f64) -> (y: f64)
          y = (if uniform([]) < 0.5 then 0.0 else 2.0) * param(1.0) * x;
        """, "model", seed=4)
    x = torch.ones(50, dtype=torch.float64, requires_grad=True)
    y = layer(x)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach()) and 0 < y.sum() < 100
    layer.seed = 5
    assert not torch.equal(layer(x), y)


@pytest.mark.parametrize("given, error, says", [
    (lambda x: (x.float(),), TypeError, "x: expected torch.float64, got torch.float32"),
    (lambda x: (x[0],), ValueError, r"x: expected f64\[3\] after the axes"),
    (lambda x: (x[:, :2],), ValueError, r"x: expected f64\[3\] after the axes"),
    (lambda x: (x[:0],), ValueError, "x: no cycles"),
    (lambda x: (), TypeError, "x: missing"),
    (lambda x: (x, x), TypeError, r"inputs: expected at most 1 \(x\), got 2; give `end` by name"),
    (lambda x: (x.numpy(),), TypeError, "x: expected a tensor, got float64"),
    (lambda x: (x.to("meta"),), ValueError, "x: it is on meta"),
])
def test_wrong_inputs(given: Callable[[Any], Any], error: type[Exception], says: str) -> None:
    layer = layer_of(CELLS["lstm"][0], "model")
    with pytest.raises(error, match=says):
        layer(*given(torch.zeros(T, INPUTS, dtype=torch.float64)))


def test_wrong_names() -> None:
    layer = layer_of(CELLS["lstm"][0], "model")
    x = torch.zeros(T, INPUTS, dtype=torch.float64)
    with pytest.raises(TypeError, match="no input 'y'"):
        layer(x, y=x)
    with pytest.raises(TypeError, match="x: given twice"):
        layer(x, x=x)
    with pytest.raises(ValueError, match=r"(end|x): its sequences have the axes"):
        layer(x, end=torch.zeros(T + 1, dtype=torch.bool))


def test_nodes_that_are_no_layers() -> None:
    with pytest.raises(ValueError, match="y: it is absent in some cycles"):
        layer_of("node main(c: bool, x: f64) -> (y: f64 when c)\n  y = x when c;\n")
    with pytest.raises(ValueError, match="x: f16 has no gradients"):
        layer_of("node main(x: f16) -> (y: f32)\n  y = cast(f32, x);\n")
    with pytest.raises(ValueError, match="no inputs"):
        layer_of("node main() -> (y: f64)\n  y = 1.0;\n")
    with pytest.raises(TypeError, match="expected a rmlc.Node"):
        rmlc.torch.Module("model.rml")
    # The recurrence never ends.
    with pytest.raises(rmlc.CompileError):
        layer_of("node main(x: f64) -> (y: f64)\n  y = x + param(0.5) * (0.0 fby y);\n")


def test_a_sequence_does_not_see_the_ones_before() -> None:
    source = rmlc.compile(textwrap.dedent(RECURRENT.format(name="lstm")))
    layer = rmlc.torch.Module(source, "model")
    for length in (40, 3, 11):
        x = torch.randn(length, INPUTS, dtype=torch.float64)
        fresh = rmlc.torch.Module(source, "model")
        for each in (layer, fresh):
            each.zero_grad()
            each(x).square().sum().backward()
        assert torch.equal(layer(x), fresh(x))
        for (path, value), other in zip(layer.named_parameters(), fresh.parameters(), strict=True):
            assert torch.equal(value.grad, other.grad), path
    layer.seed = 5
    assert torch.equal(layer(x), fresh(x))


def test_a_script_that_ends_with_a_graph_says_nothing(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent("""
        import torch, rmlc, rmlc.torch
        layer = rmlc.torch.Module(rmlc.compile("node model(x: f32) -> (y: f32)\\n  y = param(2.0) * x;\\n"), "model")
        loss = layer(torch.ones(3)).sum()
        loss.backward()
        print(loss.item())
    """))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("6.0\n", "")
