"""Expected values of recurrent layers, by PyTorch's cells and modules; two kinds of cell that it
lacks are compared with ONNX Runtime."""

import numpy as np
import onnxruntime
import torch
from groups import NAN, Entry, Group, Layer, values_only, whole_run
from onnx import TensorProto, helper

GATES = {"rnn": 1, "gru": 3, "lstm": 4}
CELL = {"rnn": torch.nn.RNNCell, "gru": torch.nn.GRUCell, "lstm": torch.nn.LSTMCell}
MODULE = {"rnn": torch.nn.RNN, "gru": torch.nn.GRU, "lstm": torch.nn.LSTM}


def steps(kind, backward=False):
    """A sequence of cells with the weights of each cycle."""

    def run(weights, kernel, recur, bias, *more):
        given = dict(weight_ih=kernel, weight_hh=recur, bias_ih=bias, bias_hh=more[0] if kind == "gru" else torch.zeros_like(bias))
        x, units = more[-1], recur.shape[-1]
        cell = CELL[kind](x.shape[-1], units).double()
        h = torch.zeros(1, units, dtype=torch.float64)
        h, out = (h, h) if kind == "lstm" else h, {}
        for t in reversed(range(len(x))) if backward else range(len(x)):
            h = torch.func.functional_call(cell, {n: w[t] for n, w in given.items()}, (x[t][None], h))
            out[t] = (h[0] if kind == "lstm" else h)[0]
        return torch.stack([out[t] for t in range(len(x))])

    return run


def of(weights, path, suffix=""):
    """The weights below a path. A chronogram does not distinguish a matrix of one row from a
    vector."""
    bias = weights[path + "bias"]
    kernel, recurrent = (weights[path + n].reshape(len(bias), -1) for n in ("kernel", "recurrent"))
    return {"weight_ih_l0" + suffix: kernel, "weight_hh_l0" + suffix: recurrent, "bias_ih_l0" + suffix: bias,
            "bias_hh_l0" + suffix: weights.get(path + "recurrent_bias", torch.zeros_like(bias))}


def module(kind, form, units):
    """A layer in one form: alone, _end, _back or _bi."""

    def run(weights, *given):
        x = given[-1]
        made = MODULE[kind](x.shape[-1], units, bidirectional=form == "_bi").double()
        if form == "_bi":
            path = f"{kind}_bi.{kind}_"
            state = of(weights, path + "end.") | of(weights, path + "back.", "_reverse")
        else:
            state = of(weights, f"{kind}{form}.")
        y, _ = torch.func.functional_call(made, state, (x.flip(0) if form == "_back" else x,))
        return y.flip(0) if form == "_back" else y

    return run


def paths(kind, form):
    names = ("kernel", "recurrent", "bias") + ("recurrent_bias",) * (kind == "gru")
    layers = [f"{kind}_bi.{kind}_end", f"{kind}_bi.{kind}_back"] if form == "_bi" else [kind + form]
    return tuple(f"{layer}.{name}" for layer in layers for name in names)


def drawn_layers(units):
    layers = [Layer(kind + form, f"recurrent.{kind}{form}({units}, end, x)", module(kind, form, units), paths(kind, form))
              for kind in GATES for form in ("_end", "_back", "_bi")]
    return layers + [Layer(kind, f"recurrent.{kind}({units}, x)", module(kind, "", units), paths(kind, ""), whole_run, False)
                     for kind in GATES]


def given_layers(kind):
    bias = "bias, other, " if kind == "gru" else "bias, "
    return [Layer(f"{kind}_{way}", f"recurrent.{kind}_{way}(kernel, recur, {bias}end, x)",
                  lambda w, *given, way=way: steps(kind, way == "backward")(w, *given[:-2], given[-1])) for way in ("forward", "backward")]


def by_runtime(op, feeds, **attributes):
    """The first output of one operator, by ONNX Runtime in f32."""
    feeds = {n: v.detach().numpy().astype(np.float32) for n, v in feeds.items()}
    inputs = ["X", "W", "R", "B", "", "h"] + ["c", "P"] * (op == "LSTM")
    node = helper.make_node(op, inputs, ["Y"], **attributes)
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, v.shape) for n, v in feeds.items()]
    graph = helper.make_graph([node], "g", ports, [helper.make_tensor_value_info("Y", TensorProto.FLOAT, None)])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    return onnxruntime.InferenceSession(made.SerializeToString()).run(["Y"], feeds)[0].ravel()


def in_order(order, *parts):
    """Gates in ONNX's order; each tensor has an axis of directions."""
    return [torch.cat([p.chunk(len(order))[k] for k in order])[None] for p in parts]


def peephole(kernel, recur, bias, peep, h, x):
    """An LSTM cell with peepholes (Gers and Schmidhuber, 2000). `h` is also the cell's state."""
    i, f, g, o = (kernel @ x + recur @ h + bias).chunk(4)
    c = torch.sigmoid(f + peep[1] * h) * h + torch.sigmoid(i + peep[0] * h) * torch.tanh(g)
    y = torch.sigmoid(o + peep[2] * c) * torch.tanh(c)
    w, r, b = in_order([0, 3, 1, 2], kernel, recur, bias)
    p = peep[[0, 2, 1]].reshape(1, -1)
    other = by_runtime("LSTM", dict(X=x[None, None], W=w, R=r, B=torch.cat([b, 0 * b], 1), h=h[None, None], c=h[None, None], P=p),
                       hidden_size=len(h))
    np.testing.assert_allclose(y.detach().numpy(), other, 1e-4, 1e-5)
    return torch.cat([y, c])


def early(kernel, recur, bias, other, h, x):
    """The GRU as first published (Cho et al., 2014)."""
    r, z, n = (kernel @ x + bias + other).chunk(3)
    rr, rz, rn = recur.chunk(3)
    r, z = torch.sigmoid(r + rr @ h), torch.sigmoid(z + rz @ h)
    y = (1 - z) * torch.tanh(n + rn @ (r * h)) + z * h
    w, rec, b, o = in_order([1, 0, 2], kernel, recur, bias, other)
    found = by_runtime("GRU", dict(X=x[None, None], W=w, R=rec, B=torch.cat([b, o], 1), h=h[None, None]),
                       hidden_size=len(h), linear_before_reset=0)
    np.testing.assert_allclose(y.detach().numpy(), found, 1e-4, 1e-5)
    return y


CELLS = {
    "early": Entry("early", "recurrent.gru_early_cell(kernel, recur, bias, other, h, x)", early),
    "peephole": Entry("peephole", "both(kernel, recur, bias, peep, h, x)", peephole),
}
BOTH = """node both(kernel, recur, bias, peep, h, x) -> (y)
  a, b = recurrent.lstm_peephole_cell(kernel, recur, peep, bias, h, h, x);
  y = concat(a, b);
"""
random = np.random.default_rng(111)


def drawn(*shape):
    return np.round(random.uniform(-1, 1, shape), 2)


def cell_inputs(name, scale):
    gates = 3 if name == "early" else 4
    shapes = {"kernel": (2 * gates, 2), "recur": (2 * gates, 2), "bias": (2 * gates,)}
    shapes |= {"other": (2 * gates,)} if name == "early" else {"peep": (3, 2)}
    return {n: [s * drawn(*shape) for s in scale] for n, shape in (shapes | {"h": (2,), "x": (2,)}).items()}


def sequence_inputs(kind, scales, ends, size=2, units=2):
    shapes = {"kernel": (units * GATES[kind], size), "recur": (units * GATES[kind], units), "bias": (units * GATES[kind],)}
    shapes |= {"other": shapes["bias"]} if kind == "gru" else {}
    return {n: [s * drawn(*shape) for s in scales] for n, shape in shapes.items()} | {
        "end": [np.bool_(e) for e in ends], "x": [s * drawn(size) for s in scales]}


LOOSE = {"f32": "1e-3", "f64": "1e-9"}
ENDS = [np.bool_(e) for e in (0, 0, 1, 0, 1, 1)]
GROUPS = [Group(f"recurrent_{n}_{a}", a, "PyTorch and ONNX Runtime", cell_inputs(n, s), [e], LOOSE, BOTH * (n == "peephole"))
          for n, e in CELLS.items() for a, s in (("ordinary", (0.5, 1, 2)), ("edge", (0, 10, 80)))]
for kind in GATES:
    GROUPS += [
        Group(f"recurrent_{kind}_given", "ordinary", "PyTorch", sequence_inputs(kind, [1, 2, 1, 0.5, 1, 1], ENDS),
              given_layers(kind), LOOSE),
        Group(f"recurrent_{kind}_given_edges", "edge", "PyTorch", sequence_inputs(kind, [0, 100, 0, 1e4, 1, 0], ENDS, 1, 1),
              given_layers(kind), LOOSE),
    ]
GROUPS += [
    Group("recurrent_drawn", "ordinary", "PyTorch", {"end": ENDS, "x": [2 * drawn(3) for _ in ENDS]}, drawn_layers(2), LOOSE),
    Group("recurrent_drawn_edges", "edge", "PyTorch", {"end": ENDS, "x": [np.array([v]) for v in (0, 1e4, -1e4, 0, -0.0, 30)]},
          values_only(drawn_layers(1)), LOOSE),
    Group("recurrent_drawn_not_finite", "edge", "PyTorch",
          {"end": ENDS, "x": [np.array([v]) for v in (1, NAN, 0, 3, np.inf, -np.inf)]}, values_only(drawn_layers(1)), LOOSE),
]


def started(kind):
    """A sequence of cells of a batch, from given states, with the weights of each cycle."""

    def run(weights, kernel, recur, bias, *more):
        given = dict(weight_ih=kernel, weight_hh=recur, bias_ih=bias, bias_hh=more[0] if kind == "gru" else torch.zeros_like(bias))
        end, h, *c, x = more[kind == "gru":]
        cell, state, out = CELL[kind](x.shape[-1], h.shape[-1]).double(), h[0], []
        state = (state, c[0][0]) if kind == "lstm" else state
        for t in range(len(x)):
            state = torch.func.functional_call(cell, {n: w[t] for n, w in given.items()}, (x[t], state))
            out.append(torch.cat(state, -1) if kind == "lstm" else state)
        return torch.stack(out)

    return run


def of_batches(kind, path):
    """PyTorch's module for a batch, from given states."""

    def run(weights, end, h, *more):
        *c, x = more
        made = MODULE[kind](x.shape[-1], h.shape[-1]).double()
        state = (h[:1], c[0][:1]) if kind == "lstm" else h[:1]
        y, last = torch.func.functional_call(made, of(weights, path), (x, state))
        if kind != "lstm":
            return y
        # The module returns the cell of the last step only.
        cells = [torch.func.functional_call(made, of(weights, path), (x[:t + 1], state))[1][1][0] for t in range(len(x))]
        return torch.cat([y, torch.stack(cells)], -1)

    return run


def one_step(kind):
    def run(*given):
        extended = [g[None] for g in given]
        if kind == "gru":
            return started(kind)({}, *extended[:4], None, *extended[4:])[0]
        return started(kind)({}, *extended[:3], None, *extended[3:])[0]

    return run


STATES = {"rnn": "h", "gru": "h", "lstm": "h, c"}
BIASES = {"rnn": "bias", "gru": "bias, other", "lstm": "bias"}
WHOLE = """node lstm_step(kernel, recur, bias, h, c, x) -> (y)
  a, b = sequences.lstm_cell_rows(kernel, recur, bias, h, c, x);
  y = concat(a, b, axis=-1);

node lstm_sequence(kernel, recur, bias, end, h, c, x) -> (y)
  a, b = sequences.lstm_from(kernel, recur, bias, end, h, c, x);
  y = concat(a, b, axis=-1);

node lstm_layer(units, end, h, c, x) -> (y)
  a, b = sequences.lstm_rows(units, end, h, c, x);
  y = concat(a, b, axis=-1);
"""


def rows_inputs(kind, scales, size, units, batch):
    shapes = {"kernel": (units * GATES[kind], size), "recur": (units * GATES[kind], units), "bias": (units * GATES[kind],)}
    shapes |= {"other": shapes["bias"]} if kind == "gru" else {}
    states = {name: batch + (units,) for name in STATES[kind].split(", ")} | {"x": batch + (size,)}
    weights, given = ({n: [s * np.round(later.uniform(-1, 1, shape), 2) for s in scales] for n, shape in part.items()}
                      for part in (shapes, states))
    return weights | {"end": ENDS[:len(scales)]} | given


def rows_groups(kind, suffix, arguments, scales, size, units, batch):
    inputs = rows_inputs(kind, scales, size, units, batch)
    names = ("lstm_step", "lstm_sequence", "lstm_layer") if kind == "lstm" else [f"sequences.{kind}_{n}" for n in ("cell_rows", "from", "rows")]
    given = f"kernel, recur, {BIASES[kind]}"
    step = Entry("step", f"{names[0]}({given}, {STATES[kind]}, x)", one_step(kind))
    gate = [Entry("gate", f"sequences.gate({k}, h, sequences.of_rows(kernel, x))",
                  lambda kernel, h, x, k=k: (x @ kernel.T)[..., k * h.shape[-1]:(k + 1) * h.shape[-1]]) for k in [GATES[kind] - 1]]
    path = ("lstm_layer." if kind == "lstm" else "") + f"{kind}_rows."
    weights = tuple(path + n for n in ("kernel", "recurrent", "bias") + ("recurrent_bias",) * (kind == "gru"))
    layer = Layer("layer", f"{names[2]}({units}, end, {STATES[kind]}, x)", of_batches(kind, path), weights)
    sequence = Layer("sequence", f"{names[1]}({given}, end, {STATES[kind]}, x)", started(kind))
    nodes = WHOLE * (kind == "lstm")
    once = {n: cells for n, cells in inputs.items() if n != "end"}
    streams = {n: inputs[n] for n in ["end", *STATES[kind].split(", "), "x"]}
    return [
        Group(f"recurrent_rows_{kind}_once{suffix}", arguments, "PyTorch", once, [step, *gate], LOOSE, WHOLE.split("\n\n")[0] + "\n" if nodes else ""),
        Group(f"recurrent_rows_{kind}_given{suffix}", arguments, "PyTorch", inputs, [sequence], LOOSE, WHOLE.split("\n\n")[1] + "\n" if nodes else ""),
        Group(f"recurrent_rows_{kind}_drawn{suffix}", arguments, "PyTorch", streams, [layer], LOOSE, WHOLE.split("\n\n")[2] if nodes else ""),
    ][:2 + bool(batch)]


later = np.random.default_rng(112)
for kind in GATES:
    GROUPS += rows_groups(kind, "", "ordinary", [1, 2, 1, 0.5, 1, 1], 3, 2, (2,))
    GROUPS += rows_groups(kind, "_alone", "ordinary", [1, 2, 1], 2, 2, ())
    GROUPS += rows_groups(kind, "_edges", "edge", [0, 100, 0, 1e4, 1, 0], 2, 2, (3,))
