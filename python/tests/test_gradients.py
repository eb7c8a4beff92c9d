"""Parameters that are inputs: what would move them is the gradient, by central differences."""

import numpy as np
import pytest

import rmlc

CELL = """
node model(end: bool, x: f64[3]) -> (y: f64)
  w = param([0.1, 0.2, 0.3]);
  u = param(0.5);
  h = fby_end(end, 0.0, y);
  y = tanh(dot(w, x) + u * h);
node main(end: bool, x: f64[3], dy: f64) -> (y: f64, dx: f64[3])
  y, dx = diff model(end, x, true, dy);
"""


def data(cycles=24):
    random = np.random.default_rng(1)
    end = np.arange(1, cycles + 1) % 6 == 0
    return end, random.normal(size=(cycles, 3)), random.normal(size=cycles)


def test_steps_are_gradients():
    module = rmlc.compile(CELL)
    end, x, dy = data()
    cycles = len(end)
    at = {"w": np.array([0.3, -0.2, 0.7]), "u": np.array(0.4)}
    constant = {name: np.broadcast_to(value, (cycles, *value.shape)) for name, value in at.items()}
    forward = module.node("model", open_params=["*"])

    def loss(values):
        over = {name: np.ascontiguousarray(value) for name, value in values.items()}
        return float(dy @ forward.start().run({"end": end, "x": x, **over}).y)

    node = module.node("main", open_params=["*"])
    assert not node.params
    rows = node.start().run({"end": end, "x": x, "dy": dy,
                             **{f"model.{name}": np.ascontiguousarray(value) for name, value in constant.items()}})
    for name, value in at.items():
        gradient = rows[f"d model.{name}"].sum(axis=0)
        for index in np.ndindex(value.shape):
            moved = []
            for step in (1e-6, -1e-6):
                other = dict(constant)
                other[name] = constant[name].copy()
                other[name][(slice(None), *index)] += step
                moved.append(loss(other))
            assert gradient[index] == pytest.approx((moved[0] - moved[1]) / 2e-6, rel=1e-6, abs=1e-9)


def test_held_parameters_need_no_holding():
    """With parameters that move, gradients of later cycles would be asked of parameters of earlier ones."""
    text = CELL.replace("param([", "param_end(end, param([").replace("0.3]);", "0.3]));")
    node = rmlc.compile(text).node("main", open_params=["model.u"])
    assert [port.name for port in node.inputs] == ["end", "x", "dy", "model.u"]
    assert list(node.params) == ["model.w"]


@pytest.mark.parametrize("patterns, words", [(["model.v"], "did you mean 'model.w'"),
                                             (["q*"], "no parameter 'q*' to open")])
def test_patterns_that_match_nothing(patterns, words):
    with pytest.raises(rmlc.CompileError, match="E0201") as caught:
        rmlc.compile(CELL).node("main", open_params=patterns)
    assert words in str(caught.value)


def test_a_parameter_that_is_not_always_there():
    text = "node main(c: bool, x: f64 when c) -> (y: f64 when c) y = param(x) * x;"
    with pytest.raises(rmlc.CompileError, match="not present at every cycle"):
        rmlc.compile(text).node(open_params=["*"])
