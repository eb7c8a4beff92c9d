"""Sums of gradients (`gradients=`), compared with central differences of the rows of the node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rmlc

CYCLES = 12
CELL = """
node model(end: bool, x: f64[3]) -> (y: f64)
  w = param([0.1, 0.2, 0.3]);
  u = param(0.5);
  h = fby_end(end, 0.0, y);
  y = tanh(dot(w, x) + u * h);
"""
RECURRENT = """
import recurrent;
node model(end: bool, x: f64[3]) -> (y: f64[4])
  y = recurrent.{name}_end(4, end, x);
"""
# Parameters and products are large enough for a single matrix product over all instants of a segment.
LARGE = """
import recurrent;
node model(end: bool, x: f64[12]) -> (y: f64[16])
  y = recurrent.lstm_end(16, end, x);
"""
NORMALISED = """
import nn;
node model(end: bool, x: f64[6, 3]) -> (y: f64[6, 3])
  y = nn.batch_norm_rows(1e-5, 0.1, true, x);
"""
SAMPLED = """
node inner(x: f64[3]) -> (y: f64)
  w = param([0.5, -0.5, 1.0]);
  y = tanh(dot(w, x)) * param(2.0);
node model(end: bool, x: f64[3]) -> (y: f64)
  c = x[0] > 0.0;
  y = merge c (inner(x when c)) (0.0);
"""
AHEAD = """
node model(end: bool, x: f64) -> (y: f64)
  w = param(2.0);
  rest = w * x + post_end(end, 0.0, rest);
  y = rest * param(0.5);
"""
PROGRAMS = {"cell": CELL, "lstm": RECURRENT.format(name="lstm"), "gru": RECURRENT.format(name="gru"), "large": LARGE,
            "batch norm": NORMALISED, "when": SAMPLED, "ahead": AHEAD}


def with_derivative(text: str, inputs_too: bool = True) -> rmlc.Module:
    """Adds a node `main`, the derivative of `model(end, x) -> (y)`."""
    model = rmlc.compile(text).node("model")
    port = {each.name: each.type for each in (*model.inputs, *model.outputs)}
    dx, more = ("dx", f", dx: {port['x']}") if inputs_too else ("_", "")
    return rmlc.compile(text + f"""
node main(end: bool, x: {port['x']}, dy: {port['y']}) -> (y: {port['y']}{more})
  y, {dx} = diff model(end, x, true, dy);
""")


def data(node: rmlc.Node, segment: int = 4) -> dict[str, Any]:
    random = np.random.default_rng(1)
    values = {port.name: random.normal(size=(CYCLES, *port.shape)) for port in node.inputs if port.dtype == "f64"}
    return {"end": np.arange(1, CYCLES + 1) % segment == 0, **values}


def all_rows(instance: rmlc.Instance, inputs: dict[str, Any]) -> dict[str, Any]:
    parts = [instance.run(inputs)]
    if len(parts[0]) < CYCLES:
        parts.append(instance.finish())
    return {port.name: np.concatenate([part[port.name] for part in parts]) for port in instance.node.outputs}


@pytest.mark.parametrize("inputs_too", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_sums_are_gradients(name: str, inputs_too: bool) -> None:
    module = with_derivative(PROGRAMS[name], inputs_too)
    forward, node = module.node("model", freeze=["*"]), module.node("main", gradients=["*"])
    inputs = data(node)
    given = {key: value for key, value in inputs.items() if key != "dy"}
    random = np.random.default_rng(2)
    first = forward.start()
    all_rows(first, given)  # a parameter under `when` starts in a later cycle
    at = {path: value + 0.1 * random.normal(size=value.shape) for path, value in first.params.items()}
    instance = node.start(params={f"model.{path}": value for path, value in at.items()})
    rows = all_rows(instance, inputs)
    assert instance.settled
    summed = {path: np.array(instance.params[f"d model.{path}"]) for path in at if f"d model.{path}" in node.params}
    assert summed and all(np.array_equal(instance.params[f"model.{path}"], value) for path, value in at.items())

    def loss(values: dict[str, Any], x: Any) -> float:
        return float((inputs["dy"] * all_rows(forward.start(params=values), {**given, "x": x})["y"]).sum())

    def slope(values: Any, index: Any, f: Any) -> float:
        moved = [np.array(values) for _ in range(2)]
        moved[0][index] += 1e-6
        moved[1][index] -= 1e-6
        return (f(moved[0]) - f(moved[1])) / 2e-6

    for path, gradient in summed.items():
        indices = list(np.ndindex(gradient.shape))
        for k in random.permutation(len(indices))[:12]:
            found = slope(at[path], indices[k], lambda value: loss({**at, path: value}, inputs["x"]))
            assert gradient[indices[k]] == pytest.approx(found, rel=1e-5, abs=1e-8), (path, indices[k])
    if inputs_too:
        for k in random.permutation(rows["dx"].size)[:6]:
            index = np.unravel_index(k, rows["dx"].shape)
            assert rows["dx"][index] == pytest.approx(slope(inputs["x"], index, lambda x: loss(at, x)), rel=1e-5, abs=1e-8)


def test_running_averages_go_on() -> None:
    """A parameter that the program moves is gathered only if it is named. Otherwise it moves as in the node itself."""
    module = with_derivative(NORMALISED, False)
    own = module.node("main")
    averages = [path for path in own.params if "running" in path]
    learned = [path for path in own.params if path not in averages]
    node = module.node("main", gradients=learned)
    assert averages and learned and set(node.params) == {*own.params, *(f"d {path}" for path in learned)}
    inputs = data(node)
    instance, other = node.start(), module.node("model").start()
    instance.run(inputs)
    other.run(end=inputs["end"], x=inputs["x"])
    for path in averages:
        np.testing.assert_allclose(instance.params[path], other.params[path.removeprefix("model.")], rtol=1e-12)


def test_sums_begin_with_zero_and_can_be_set() -> None:
    node = with_derivative(CELL).node("main", gradients=["*"])
    inputs = data(node)
    instance = node.start()
    assert instance.params["d model.w"].tolist() == [0.0, 0.0, 0.0] and instance.params["model.u"] == 0.5
    instance.run(inputs)
    copied = instance.copy()
    once = {path: np.array(instance.params[path]) for path in ("d model.w", "d model.u")}
    assert all(np.array_equal(copied.params[path], value) for path, value in once.items())
    instance.run(inputs)
    for path, value in once.items():
        np.testing.assert_allclose(instance.params[path], 2 * value, rtol=1e-12)
        instance.params[path] = np.zeros_like(value)
    instance.run(inputs)
    for path, value in once.items():
        np.testing.assert_allclose(instance.params[path], value, rtol=1e-12)
    instance.reset()
    assert instance.params["d model.u"] == 0.0


def test_settled_where_no_segment_is_open() -> None:
    node = with_derivative(CELL, False).node("main", gradients=["*"])
    inputs = data(node)
    instance = node.start()
    assert instance.settled
    instance.run({name: value[:6] for name, value in inputs.items()})
    assert not instance.settled
    instance.run({name: value[6:8] for name, value in inputs.items()})
    assert instance.settled


def test_one_of_several_is_gathered() -> None:
    text = CELL.replace("param([", "param_end(end, param([").replace("0.3]);", "0.3]));")
    node = with_derivative(text).node("main", gradients=["model.u", "*.u"])
    assert sorted(node.params) == ["d model.u", "model.u", "model.w"]


def test_frozen_ones_have_no_gradient() -> None:
    node = with_derivative(CELL).node("main", gradients=["*"], freeze=["*.u"])
    assert sorted(node.params) == ["d model.w", "model.u", "model.w"]
    assert list(rmlc.compile(CELL).node("model", gradients=["*"]).params) == ["w", "u"]


@pytest.mark.parametrize("patterns, words", [(["model.v"], "did you mean 'model.w'"),
                                             (["q*"], "no parameter 'q*' to gather gradients of")])
def test_patterns_that_match_nothing(patterns: list[str], words: str) -> None:
    with pytest.raises(rmlc.CompileError, match="E0201") as caught:
        with_derivative(CELL).node("main", gradients=patterns)
    assert words in str(caught.value)


def test_what_is_refused() -> None:
    module = with_derivative(CELL)
    with pytest.raises(ValueError, match="gradients: the reference engine does not sum gradients"):
        module.node("main", gradients=["*"], engine="reference")
    with pytest.raises(TypeError, match="gradients: expected a list of patterns, got a str"):
        module.node("main", gradients="model.*")
    with pytest.raises(rmlc.CompileError, match="E0701"):  # the recurrence never ends
        rmlc.compile("""
            node model(x: f64) -> (y: f64)
              y = x + param(0.5) * (0.0 fby y);
            node main(x: f64, g: f64) -> (y: f64)
              y, _ = diff model(x, true, g);
            """).node("main", gradients=["*"])


FIR = """
node fir(k, gain, x: f64) -> (y: f64)
  v = param(gain * ones([k]));
  y = sum(v) * x;
node main(x: f64) -> (y: f64)
  y = fir(3, 10.0, x);
"""


def test_inputs_with_values() -> None:
    module = rmlc.compile(FIR)
    given = {"k": 2, "gain": 1.5}
    x = np.array([1.0, -2.0])
    for node, factor in ((module.node("fir", defines=given), 3.0), (module.node(), 30.0),
                         (module.node("fir", defines={"k": 4, "gain": 0.5}), 2.0)):
        assert [port.name for port in node.inputs] == ["x"]
        np.testing.assert_array_equal(node.start().run(x=x)["y"], factor * x)
    module.gradcheck("fir", defines=given)
    assert "diff_fir" in module.diff("fir").nodes
    with pytest.raises(rmlc.CompileError, match="give it a value: -D k=VALUE"):
        module.node("fir")
    with pytest.raises(rmlc.CompileError, match="no input of `main`"):
        module.node(defines={"gain": 1.5})


def test_wrong_gradient_with_values() -> None:
    module = rmlc.compile("""
node power(n: i32, x: f64) -> (y: f64)
  y = cast(f64, n) * x;
node diff_power(n: i32, x, bp, dy) -> (y, dx)
  y = power(n, x);
  dx = dy * (2.0 when bp);
node caller(n: i32, x: f64) -> (y: f64)
  y = power(n, x) * sum(ones([n]));
""")
    module.gradcheck("caller", defines={"n": 2})
    with pytest.raises(rmlc.GradientError, match="x .*WRONG"):
        module.gradcheck("caller", defines={"n": 3})
