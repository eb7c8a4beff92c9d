#!/usr/bin/env python3
"""ONNX Runtime, its inputs and outputs bound once: peers_onnx.py WORKLOAD KEY=VALUE …"""
from measure import main, pin, report, root, stream, threads

pin()

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


def session(nodes, inputs, outputs, weights):
    """A session of a model whose inputs and outputs are names with shapes."""
    def ports(named):
        return [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in named.items()]

    constants = [numpy_helper.from_array(np.ascontiguousarray(value), name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "graph", ports(inputs), ports(outputs), constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])
    model.ir_version = 8
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads(), 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def value(array):
    return onnxruntime.OrtValue.ortvalue_from_numpy(array)


def bound(model, inputs, outputs):
    binding = model.io_binding()
    for name, v in inputs.items():
        binding.bind_ortvalue_input(name, v)
    for name, v in outputs.items():
        binding.bind_ortvalue_output(name, v)
    return lambda: model.run_with_iobinding(binding)


def lstm_weights(units, first=1):
    """W, R and B as the operator LSTM wants them: gates in the order i, o, f, g."""
    def gates(w):
        i, f, g, o = np.split(w, 4)
        return np.concatenate([i, o, f, g])

    shapes = (4 * units, units // 2), (4 * units, units), (4 * units,)
    w, r, b = (gates(stream(first + k, shape, root(units))) for k, shape in enumerate(shapes))
    return w, r, np.concatenate([b, np.zeros_like(b)])


def lstm_infer(H):
    W, R, B = lstm_weights(H)
    node = helper.make_node("LSTM", ["x", "W", "R", "B", "", "h", "c"], ["", "h_next", "c_next"], hidden_size=H)
    state = (1, 1, H)
    model = session([node], {"x": (1, 1, H // 2), "h": state, "c": state}, {"h_next": state, "c_next": state},
                    {"W": W[None], "R": R[None], "B": B[None]})
    xs = stream(4, (256, 1, 1, H // 2))
    x = value(xs[0])
    h, c, h_next, c_next = (value(np.zeros(state, np.float32)) for _ in range(4))
    steps = (bound(model, {"x": x, "h": h, "c": c}, {"h_next": h_next, "c_next": c_next}),
             bound(model, {"x": x, "h": h_next, "c": c_next}, {"h_next": h, "c_next": c}))
    at = [0]

    def run(n):
        for t in range(at[0], at[0] + n):
            x.update_inplace(xs[t & 255])
            steps[t & 1]()
        at[0] += n

    run(1000)
    report("lstm_infer", "onnxruntime", {"H": H, "I": H // 2}, "us/step", run, h.numpy().sum(dtype=np.float64))


def bilstm(H, T):
    both = [np.stack(pair) for pair in zip(lstm_weights(H), lstm_weights(H, 11))]
    node = helper.make_node("LSTM", ["x", "W", "R", "B"], ["y"], hidden_size=H, direction="bidirectional")
    model = session([node], {"x": (T, 1, H // 2)}, {"y": (T, 2, 1, H)}, dict(zip("WRB", both)))
    y = value(np.zeros((T, 2, 1, H), np.float32))
    step = bound(model, {"x": value(stream(4, (T, 1, H // 2)))}, {"y": y})

    def run(n):
        for _ in range(n):
            step()

    run(1)
    report("bilstm", "onnxruntime", {"H": H, "T": T}, "us/sequence", run, y.numpy().sum(dtype=np.float64))


def lenet_infer(B):
    shapes = ((6, 1, 5, 5), (6,), (16, 6, 5, 5), (16,), (120, 400), (120,), (84, 120), (84,), (10, 84), (10,))
    fans = (25, 25, 150, 150, 400, 400, 120, 120, 84, 84)
    names = "w1 b1 w2 b2 f1 g1 f2 g2 f3 g3".split()
    weights = {name: stream(k + 1, shapes[k], root(fans[k])) for k, name in enumerate(names)}
    chain = [("Conv", "w1 b1", {"pads": [2, 2, 2, 2]}), ("Relu", "", {}), ("MaxPool", "", {"kernel_shape": [2, 2], "strides": [2, 2]}),
             ("Conv", "w2 b2", {}), ("Relu", "", {}), ("MaxPool", "", {"kernel_shape": [2, 2], "strides": [2, 2]}),
             ("Flatten", "", {}), ("Gemm", "f1 g1", {"transB": 1}), ("Relu", "", {}), ("Gemm", "f2 g2", {"transB": 1}),
             ("Relu", "", {}), ("Gemm", "f3 g3", {"transB": 1})]
    nodes = [helper.make_node(kind, [f"v{k}", *more.split()], [f"v{k + 1}"], **attributes)
             for k, (kind, more, attributes) in enumerate(chain)]
    last = f"v{len(chain)}"
    model = session(nodes, {"v0": (B, 1, 28, 28)}, {last: (B, 10)}, weights)
    y = value(np.zeros((B, 10), np.float32))
    step = bound(model, {"v0": value(stream(100, (B, 1, 28, 28)))}, {last: y})

    def run(n):
        for _ in range(n):
            step()

    run(1)
    report("lenet_infer", "onnxruntime", {"B": B}, "us/batch", run, y.numpy().sum(dtype=np.float64))


main({f.__name__: f for f in (lstm_infer, bilstm, lenet_infer)})
