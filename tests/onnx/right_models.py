"""Valid models must compute the same as NumPy.

Run by ctest: right_models.py RMLC [FOLDER]; FOLDER keeps the models. Writes cases in the format
of ONNX's conformance suite and runs them by `rmlc test`. Then it uses models as a user does:
imported, run, built, with state, trained.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from model_writer import (BOOL, ELEMENT_TYPES, FLOAT, INT64, as_graph, as_tensor, field, function, graph, model, node,
                          tensor, value)

RMLC = sys.argv[1]
rng = np.random.default_rng(7)
failures = []
place = tempfile.TemporaryDirectory()
folder = pathlib.Path(place.name)


def rmlc(*arguments, text=None):
    done = subprocess.run([RMLC, *arguments], cwd=folder, capture_output=True, text=True, timeout=120, input=text)
    return done


def info(name, array):
    array = np.asarray(array)
    return value(name, ELEMENT_TYPES[str(array.dtype)], array.shape)


def numbers(*shape):
    return rng.normal(size=shape).astype(np.float32)


def case(name, nodes, inputs, outputs, initializers=None, sets=(), **options):
    """inputs, outputs: arrays of the first set, by name; sets: further sets."""
    data = model(nodes, [info(k, v) for k, v in inputs.items()], [info(k, v) for k, v in outputs.items()],
                 [tensor(v, k) for k, v in (initializers or {}).items()], **options)
    here = folder / "cases" / name
    for k, (given, wanted) in enumerate([(inputs, outputs), *sets]):
        (here / f"test_data_set_{k}").mkdir(parents=True)
        for kind, arrays in (("input", given), ("output", wanted)):
            for i, array in enumerate(arrays.values()):
                (here / f"test_data_set_{k}" / f"{kind}_{i}.pb").write_bytes(tensor(array))
    (here / "model.onnx").write_bytes(data)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# ---- products, convolutions
x, w, b = numbers(4, 5), numbers(5, 3), numbers(3)
case("dense", [node("Gemm", ["x", "w", "b"], ["t"]), node("Relu", ["t"], ["y"])], {"x": x},
     {"y": np.maximum(x @ w + b, 0)}, {"w": w, "b": b})
image, kernel = numbers(1, 2, 5, 6), numbers(3, 2, 2, 3)
convolved = np.zeros((1, 3, 4, 4), np.float32)
for i in range(4):
    for j in range(4):
        convolved[0, :, i, j] = np.einsum("chw,ochw->o", image[0, :, i:i + 2, j:j + 3], kernel)
case("convolution_of_two_channels", [node("Conv", ["x", "k"], ["y"], kernel_shape=[2, 3])], {"x": image},
     {"y": convolved}, {"k": kernel})

# ---- shapes that a model computes from shapes
case("flatten_by_shape",
     [node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["n"], axis=0),
      node("Concat", ["n", "rest"], ["to"], axis=0), node("Reshape", ["x", "to"], ["y"])],
     {"x": numbers(2, 3, 4)}, {"y": np.zeros((2, 12), np.float32)},
     {"zero": np.array([0]), "rest": np.array([-1])})
cases = folder / "cases" / "flatten_by_shape" / "test_data_set_0"
x = numbers(2, 3, 4)
(cases / "input_0.pb").write_bytes(tensor(x))
(cases / "output_0.pb").write_bytes(tensor(x.reshape(2, 12)))

# ---- every element type
for dtype in ("uint8", "int8", "uint16", "int16", "int32", "int64", "uint32", "uint64", "float32", "float64"):
    top = np.iinfo(dtype).max if dtype[0] in "iu" else 1.5
    a, one = np.array([0, 1, top], dtype), np.array([1, 2, 3], dtype)
    with np.errstate(over="ignore"):
        case(f"add_{dtype}", [node("Add", ["a", "b"], ["y"])], {"a": a}, {"y": a + one}, {"b": one})
    case(f"less_{dtype}", [node("Less", ["a", "b"], ["y"])], {"a": a}, {"y": a < one}, {"b": one})
    case(f"cast_{dtype}", [node("Cast", ["a"], ["y"], to=11)], {"a": a}, {"y": a.astype(np.float64)})
for dtype in ("uint8", "uint16", "uint32", "uint64"):
    top = np.iinfo(dtype).max
    a, b = np.array([7, top, top - 1, 200], dtype), np.array([2, 3, top, 7], dtype)
    with np.errstate(over="ignore"):
        for op, result in {"Sub": a - b, "Mul": a * b, "Div": a // b, "Mod": a % b, "Max": np.maximum(a, b),
                           "Min": np.minimum(a, b), "Greater": a > b, "LessOrEqual": a <= b}.items():
            case(f"{op}_{dtype}", [node(op, ["a", "b"], ["y"])], {"a": a}, {"y": result}, {"b": b})
        shifts = np.array([1, 0, 3, 7], dtype)
        case(f"shift_{dtype}", [node("BitShift", ["a", "b"], ["y"], direction="RIGHT")], {"a": a}, {"y": a >> shifts},
             {"b": shifts})
    if dtype in ("uint32", "uint64"):
        case(f"sum_{dtype}", [node("ReduceSum", ["a"], ["y"], keepdims=0)], {"a": a[[0, 3, 0, 3]]},
             {"y": np.array(414, dtype)})
        case(f"argmax_{dtype}", [node("ArgMax", ["a"], ["y"], keepdims=0)], {"a": a}, {"y": np.array(1)})
    for to in ("float32", "float64", "int8", "int64", "uint16"):
        case(f"cast_{dtype}_{to}", [node("Cast", ["a"], ["y"], to=ELEMENT_TYPES[to])], {"a": a}, {"y": a.astype(to)})
    inside = np.array([0.0, 1.75, 200.5], np.float32)
    case(f"cast_from_float_{dtype}", [node("Cast", ["a"], ["y"], to=ELEMENT_TYPES[dtype])], {"a": inside},
         {"y": inside.astype(dtype)})
half = np.array([1.0, -2.5, 65504.0], np.float16)
case("cast_float16", [node("Cast", ["a"], ["y"], to=1)], {"a": half}, {"y": half.astype(np.float32)})

# ---- recurrent layers
T, B, I, H = 5, 2, 3, 4
xs, w, r, bias = numbers(T, B, I), numbers(1, 4 * H, I), numbers(1, 4 * H, H), numbers(1, 8 * H)
lengths = np.array([5, 3], np.int32)


def lstm(xs, w, r, bias, h, c, order, lengths):
    ys = np.zeros((len(xs), B, H), np.float32)
    for t in order:
        i, o, f, g = np.split(xs[t] @ w.T + h @ r.T + bias[:4 * H] + bias[4 * H:], 4, axis=1)
        c2 = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h2 = sigmoid(o) * np.tanh(c2)
        on = (t < lengths)[:, None]
        ys[t] = np.where(on, h2, 0)
        h, c = np.where(on, h2, h), np.where(on, c2, c)
    return ys, h, c


zero = np.zeros((B, H), np.float32)
ys, h, c = lstm(xs, w[0], r[0], bias[0], zero, zero, range(T), np.array([T, T]))
case("lstm", [node("LSTM", ["x", "w", "r", "b"], ["y", "yh", "yc"], hidden_size=H)], {"x": xs},
     {"y": ys[:, None], "yh": h[None], "yc": c[None]}, {"w": w, "r": r, "b": bias})
w2, r2, bias2 = (np.concatenate([a, numbers(*a.shape)]) for a in (w, r, bias))
forward = lstm(xs, w2[0], r2[0], bias2[0], zero, zero, range(T), lengths)
backward = lstm(xs, w2[1], r2[1], bias2[1], zero, zero, range(T - 1, -1, -1), lengths)
case("lstm_both_ways_of_two_lengths",
     [node("LSTM", ["x", "w", "r", "b", "n"], ["y", "yh"], hidden_size=H, direction="bidirectional")],
     {"x": xs, "n": lengths}, {"y": np.stack([forward[0], backward[0]], 1), "yh": np.stack([forward[1], backward[1]])},
     {"w": w2, "r": r2, "b": bias2})
for apart in (0, 1):
    w, r, bias = numbers(1, 3 * H, I), numbers(1, 3 * H, H), numbers(1, 6 * H)
    h, ys = zero, []
    for t in range(T):
        gates = xs[t] @ w[0].T + bias[0, :3 * H]
        own = h @ r[0].T + bias[0, 3 * H:]
        z, reset = sigmoid(gates[:, :H] + own[:, :H]), sigmoid(gates[:, H:2 * H] + own[:, H:2 * H])
        if apart:
            n = np.tanh(gates[:, 2 * H:] + reset * own[:, 2 * H:])
        else:
            n = np.tanh(gates[:, 2 * H:] + (reset * h) @ r[0, 2 * H:].T + bias[0, 5 * H:])
        h = (1 - z) * n + z * h
        ys.append(h)
    case(f"gru_{apart}", [node("GRU", ["x", "w", "r", "b"], ["y", "yh"], hidden_size=H, linear_before_reset=apart)],
         {"x": xs}, {"y": np.stack(ys)[:, None], "yh": h[None]}, {"w": w, "r": r, "b": bias})

# ---- control
x, y = numbers(2, 3), numbers(2, 3)
THEN = graph([node("Add", ["x", "y"], ["t"])], [], [value("t", FLOAT, [2, 3])])
ELSE = graph([node("Mul", ["x", "x"], ["s"]), node("Sub", ["s", "y"], ["t"])], [], [value("t", FLOAT, [2, 3])])
case("if", [node("If", ["c"], ["z"], then_branch=as_graph(THEN), else_branch=as_graph(ELSE))],
     {"c": np.array(True), "x": x, "y": y}, {"z": x + y},
     sets=[({"c": np.array(False), "x": x, "y": y}, {"z": x * x - y})])
case("if_known", [node("If", ["c"], ["z"], then_branch=as_graph(THEN), else_branch=as_graph(ELSE))],
     {"x": x, "y": y}, {"z": x * x - y}, {"c": np.array(False)})
STEP = graph([node("Add", ["h", "e"], ["sum"]), node("Tanh", ["sum"], ["next"]), node("Mul", ["next", "k"], ["o"])],
             [value("h", FLOAT, [3]), value("e", FLOAT, [3])], [value("next", FLOAT, [3]), value("o", FLOAT, [3])])
h, es, k = numbers(3), numbers(3, 4), numbers(3)
before, os = h, []
for t in range(4):
    h = np.tanh(h + es[:, 3 - t])
    os.append(h * k)
case("scan_backwards_along_the_last_axis",
     [node("Scan", ["h", "es"], ["last", "os"], body=as_graph(STEP), num_scan_inputs=1, scan_input_axes=[1],
           scan_input_directions=[1], scan_output_axes=[1])],
     {"h": before, "es": es, "k": k}, {"last": h, "os": np.stack(os, 1)})
BODY = graph([node("Cast", ["i"], ["number"], to=1), node("Add", ["v", "number"], ["next"]), node("Identity", ["c"], ["go"]),
              node("Mul", ["next", "next"], ["square"])],
             [value("i", INT64, []), value("c", BOOL, []), value("v", FLOAT, [2])],
             [value("go", BOOL, []), value("next", FLOAT, [2]), value("square", FLOAT, [2])])
v = numbers(2)
case("loop", [node("Loop", ["n", "", "v"], ["last", "squares"], body=as_graph(BODY))], {"v": v},
     {"last": v + 6, "squares": np.stack([v, v + 1, v + 3, v + 6]) ** 2}, {"n": np.array(4)})
EARLY = graph([node("Mul", ["v", "two"], ["next"]), node("Less", ["next", "ten"], ["go"])],
              [value("i", INT64, []), value("c", BOOL, []), value("v", FLOAT, [])],
              [value("go", BOOL, []), value("next", FLOAT, [])])
case("loop_that_may_end_early", [node("Loop", ["n", "c", "v"], ["last"], body=as_graph(EARLY))],
     {"c": np.array(True), "v": np.float32(1.5)}, {"last": np.float32(12)},
     {"n": np.array(6), "two": np.float32(2), "ten": np.float32(10)},
     sets=[({"c": np.array(False), "v": np.float32(1.5)}, {"last": np.float32(1.5)})])

# ---- repeated blocks
def layer(x, w, b, v, shift):
    hidden = np.maximum(x @ w + b, 0)
    z = hidden @ v
    return np.exp(z) / np.exp(z).sum(axis=1, keepdims=True) * shift + x, hidden


def layer_nodes(k, x, y):
    """Values have the names of operator attributes, and names that begin like those of blocks."""
    axis, hidden, w2 = f"axis{k or ''}", f"block{k or ''}", f"w{k + 2}"
    return [node("MatMul", [x, f"w_{k}"], [w2]), node("Add", [w2, f"b_{k}"], [axis]), node("Relu", [axis], [hidden]),
            node("MatMul", [hidden, f"v_{k}"], [f"mul{k}"]), node("Softmax", [f"mul{k}"], [f"to{k}"], axis=1),
            node("Mul", [f"to{k}", "shift"], [f"b{k}"]), node("Add", [f"b{k}", x], [y])]


x, shift = numbers(2, 4), np.float32(3.5)
tensors = {name: value for k in range(3) for name, value in
           ((f"w_{k}", numbers(4, 6)), (f"b_{k}", numbers(6)), (f"v_{k}", numbers(6, 4)))}
np.save(folder / "x0.npy", x[None])
layers = [x]
for k in range(3):
    result, inside = layer(layers[-1], *(tensors[f"{name}_{k}"] for name in "wbv"), shift)
    layers.append(result)
blocks = [n for k in range(3) for n in layer_nodes(k, "xyzu"[k], "yzu"[k])]
case("blocks", blocks, {"x": x}, {"u": layers[3]}, tensors | {"shift": shift})
case("blocks_told", blocks, {"x": x}, {"u": layers[3], "block2": inside, "z": layers[2]}, tensors | {"shift": shift})

# ---- infinities and NaN, which the source writes like other numbers
x = np.array([[-2, -0.5, 0, 0.25, 3]], np.float32)
image = numbers(1, 1, 4, 4)
NOT_FINITE = {"inf": np.inf, "minus_inf": -np.inf, "nan": np.nan}


def cropped(image, region, size, fill):
    """Resize to a region of the image, linear, along the last two axes; `fill` is the value
    outside of the image."""
    beyond = np.zeros((1, 1, *size), bool)
    for axis, (begin, end), n in zip((2, 3), region, size, strict=True):
        last = image.shape[axis] - 1
        at = begin * last + np.arange(n) * (end - begin) * last / (n - 1)
        low = np.clip(np.floor(at).astype(int), 0, last - 1)
        shape = [1, 1, n, 1] if axis == 2 else [1, 1, 1, n]
        part = (at - low).reshape(shape)
        image = image.take(low, axis) * (1 - part) + image.take(low + 1, axis) * part
        beyond |= ((at < 0) | (at > last)).reshape(shape)
    return np.where(beyond, fill, image).astype(np.float32)


for name, v in NOT_FINITE.items():
    f = np.float32(v)
    widths = {"p": np.array([0, 1, 1, 2])}
    case(f"pad_attribute_{name}", [node("Pad", ["x"], ["y"], pads=[0, 1, 1, 2], value=float(v))], {"x": x},
         {"y": np.pad(x, ((0, 1), (1, 2)), constant_values=f)}, opset=10)
    for dtype in ("float16", "float32", "float64"):
        padded = np.pad(x.astype(dtype), ((0, 1), (1, 2)), constant_values=v)
        case(f"pad_{dtype}_{name}", [node("Pad", ["x", "p", "c"], ["t"]), node("Cast", ["t"], ["y"], to=11)],
             {"x": x.astype(dtype)}, {"y": padded.astype(np.float64)}, widths | {"c": np.array(v, dtype)})
    region = np.array([0, 0, -0.5, 0, 1, 1, 1.5, 1], np.float32)
    case(f"resize_{name}",
         [node("Resize", ["x", "r", "", "n"], ["y"], mode="linear", extrapolation_value=float(v),
               coordinate_transformation_mode="tf_crop_and_resize")],
         {"x": image}, {"y": cropped(image, ((-0.5, 1.5), (0, 1)), (6, 3), v)},
         {"r": region, "n": np.array([1, 1, 6, 3])})
    case(f"fill_{name}", [node("ConstantOfShape", ["s"], ["c"], value=as_tensor(np.array([v], np.float32))),
                          node("Add", ["x", "c"], ["y"])], {"x": x}, {"y": np.full((60, 5), v, np.float32)},
         {"s": np.array([60, 5])})
    case(f"constants_{name}", [node("Constant", [], ["c"], value_floats=[float(v), 1.0, float(v), 0.0, -1.0]),
                               node("Constant", [], ["d"], value_float=float(v)),
                               node("Where", ["m", "x", "d"], ["t"]), node("Max", ["t", "c"], ["y"])], {"x": x},
         {"y": np.maximum(np.where([1, 0, 1, 1, 0], x, f), np.array([v, 1, v, 0, -1], np.float32))},
         {"m": np.array([1, 0, 1, 1, 0], bool)})
    # Values of the model have these names as well.
    with np.errstate(invalid="ignore"):
        case(f"names_{name}", [node("Add", ["inf", "c"], ["nan"]), node("Less", ["nan", "c"], ["l"]),
                               node("Where", ["l", "nan", "inf"], ["y"])], {"inf": x},
             {"y": np.where(x + f < f, x + f, x)}, {"c": f})
for name, (low, high) in {"low": (-np.inf, 1), "high": (-1, np.inf), "none": (-np.inf, np.inf)}.items():
    case(f"clip_{name}", [node("Clip", ["x", "low", "high"], ["y"])], {"x": x}, {"y": np.clip(x, low, high)},
         {"low": np.float32(low), "high": np.float32(high)})
    case(f"clip_attributes_{name}", [node("Clip", ["x"], ["y"], min=float(low), max=float(high))], {"x": x},
         {"y": np.clip(x, low, high)}, opset=10)
# A number in the source has all its digits, whatever its type.
case("pad_digits", [node("Pad", ["x", "p", "c"], ["y"])], {"x": np.zeros(1)}, {"y": np.array([0, 0.1])},
     {"p": np.array([0, 1]), "c": np.array(0.1)})

# ---- functions of the model
TWICE = function("f", "twice", ["a"], ["b"], [node("Add", ["a", "a"], ["b"])])
case("function", [node("twice", ["x"], ["t"], domain="f"), node("twice", ["t"], ["y"], domain="f")], {"x": x},
     {"y": 4 * x}, functions=[TWICE], domains=["f"])

# Repeated blocks that nothing needs, because the condition is known.
unused, last = [], "x"
for k in range(4):
    for op in ("Abs", "Neg", "Tanh", "Relu", "Sigmoid"):
        unused.append(node(op, ["x" if op == "Abs" else last], [f"{op}{k}"]))
        last = f"{op}{k}"
LEFT = graph([node("Sum", [f"Sigmoid{k}" for k in range(4)], ["s"])], [], [value("s", FLOAT, [2, 3])])
TAKEN = graph([node("Neg", ["x"], ["t"])], [], [value("t", FLOAT, [2, 3])])
case("blocks_unused", [*unused, node("If", ["yes"], ["y"], then_branch=as_graph(TAKEN), else_branch=as_graph(LEFT))],
     {"x": x}, {"y": -x}, {"yes": np.array(True)})

# Names in a body are local, also those of nested graphs and those of values at the call.
OWN = graph([node("Abs", ["a"], ["t"]), node("Add", ["t", "a"], ["r"])], [], [value("r", FLOAT, [2, 3])])
OTHER = graph([node("Neg", ["a"], ["s"])], [], [value("s", FLOAT, [2, 3])])
CAPTURE = function("f", "capture", ["a", "c"], ["b"], [
    node("If", ["c"], ["m"], then_branch=as_graph(OWN), else_branch=as_graph(OTHER)), node("Add", ["m", "m"], ["b"])])
signed = np.array([[1, -2, 3], [-4, 5, -6]], "f4")
case("function_names", [node("Neg", ["x"], ["t"]), node("Add", ["x", "x"], ["capture1/m"]),
                        node("capture", ["t", "c"], ["z"], domain="f"), node("Add", ["z", "capture1/m"], ["y"])],
     {"x": signed, "c": np.array(True)}, {"y": 2 * (abs(signed) - signed) + 2 * signed}, functions=[CAPTURE],
     domains=["f"])

# Imported and exported again, these compute the same; their sources contain few tensors.
for here in sorted((folder / "cases").iterdir()):
    if not here.name.startswith(("pad_", "resize_", "fill_", "constants_", "names_", "clip_")):
        continue
    again = folder / "again" / here.name
    shutil.copytree(here, again)
    done = rmlc("import", here / "model.onnx", "-o", folder / "again.rml")
    if done.returncode == 0:
        if not here.name.startswith(("pad_float16", "fill_")) and "load(" in (folder / "again.rml").read_text():
            failures.append(f"{here.name}: a file beside\n" + (folder / "again.rml").read_text())
        done = rmlc("export", folder / "again.rml", "-o", again / "model.onnx")
    if done.returncode != 0:
        failures.append(f"{here.name}, there and back: status {done.returncode}\n{done.stderr}")

done = rmlc("test", "cases", "again", "--rtol", "1e-5", "--atol", "1e-6")
if done.returncode != 0:
    failures.append(done.stdout + done.stderr)

# ---- use by a user


def expect(what, good, *more):
    if not good:
        failures.append("\n".join([what, *map(str, more)]))


FREE = model([node("MatMul", ["x", "w"], ["t"]), node("Add", ["t", "b/1"], ["y"])], [value("x", FLOAT, ["n", 2])],
             [value("y", FLOAT, ["n", 2])],
             [tensor(np.array([[1, 2], [3, 4]], np.float32), "w"), tensor(np.array([0.5, -0.5], np.float32), "b/1")])
(folder / "free.onnx").write_bytes(FREE)
done = rmlc("import", "free.onnx", "--dim", "n=1")
source = (folder / "free.rml").read_text()
expect("import", done.returncode == 0 and not done.stderr, done.stderr)
expect("names are kept", "w: f32[2, 2]" in source and "MatMul" in source and '"w")' in source, source)
expect("the import is laid out", rmlc("fmt", "--check", "free.rml").returncode in (0, 1))
rows = "x[0,0],x[0,1]\n1,0\n0,1\n"
wanted = '"y[0,0]","y[0,1]"\n1.5,1.5\n3.5,3.5\n'
done = rmlc("run", "free.rml", text=rows)
expect("run of the import", done.stdout == wanted, done.stdout, done.stderr)
done = rmlc("run", "free.onnx", "--dim", "x.0=1", text=rows)
expect("run of the model", done.stdout == wanted, done.stdout, done.stderr)
done = rmlc("build", "free.onnx", "--dim", "n=1", "-o", "free")
ran = subprocess.run([folder / "free"], input=rows, capture_output=True, text=True) if done.returncode == 0 else done
expect("build of the model", ran.stdout == wanted, ran.stdout, done.stderr)

(folder / "sum.onnx").write_bytes(model([node("Add", ["x", "h"], ["hn"]), node("Identity", ["hn"], ["y"])],
                                        [value("x", FLOAT, []), value("h", FLOAT, [])],
                                        [value("y", FLOAT, []), value("hn", FLOAT, [])]))
done = rmlc("run", "sum.onnx", "--state", "h=hn", text="x\n1\n2\n3\n")
expect("state", done.stdout == "y\n1\n3\n6\n", done.stdout, done.stderr)

(folder / "axes.onnx").write_bytes(model([node("ReduceSum", ["x", "a"], ["y"], keepdims=0)],
                                         [value("x", FLOAT, [2, 2]), value("a", INT64, [1])], [value("y", FLOAT, [2])]))
done = rmlc("run", "axes.onnx", "--fix", "a=[1]", text="x[0,0],x[0,1],x[1,0],x[1,1]\n1,2,3,4\n")
expect("an input that is fixed", done.stdout == "y[0],y[1]\n3,7\n", done.stdout, done.stderr)

(folder / "default.onnx").write_bytes(model([node("Add", ["x", "d"], ["y"])], [value("x", FLOAT, []), value("d", FLOAT, [])],
                                            [value("y", FLOAT, [])], [tensor(np.array(1, np.float32), "d")]))
for more, wanted in (([], "y\n3\n"), (["--fix", "d=5"], "y\n7\n")):
    done = rmlc("run", "default.onnx", *more, text="x\n2\n")
    expect("an input with a default", done.stdout == wanted, done.stdout, done.stderr)

# A sequence in the model becomes cycles of the program.
layer = [node("LSTM", ["x", "w", "r", "b"], ["y", "h"], hidden_size=H), node("Squeeze", ["y", "one"], ["seq"]),
         node("Tanh", ["seq"], ["out"])]
w, r, bias = numbers(1, 4 * H, I), numbers(1, 4 * H, H), numbers(1, 8 * H)
ports = ([value("x", FLOAT, ["steps", 1, I])], [value("out", FLOAT, ["steps", 1, H]), value("h", FLOAT, [1, 1, H])])
weights = [tensor(w, "w"), tensor(r, "r"), tensor(bias, "b"), tensor(np.array([1]), "one")]
(folder / "layer.onnx").write_bytes(model(layer, *ports, weights))
xs = numbers(6, 1, 1, I)
np.save(folder / "steps.npy", xs)
B = 1
ys, h, c = lstm(xs[:, 0], w[0], r[0], bias[0], np.zeros((1, H), np.float32), np.zeros((1, H), np.float32), range(6),
                np.array([6]))
done = rmlc("run", "layer.onnx", "--stream", "0", "--input", "x=steps.npy")
rows = np.array([[float(x) for x in line.split(",")] for line in done.stdout.split("\n")[1:-1]])
expect("a sequence as cycles", done.returncode == 0 and np.allclose(rows[:, :H], np.tanh(ys[:, 0]), rtol=1e-4, atol=1e-5)
       and np.allclose(rows[-1, H:], h[0], rtol=1e-4, atol=1e-5), done.stdout, done.stderr)
(folder / "mixed.onnx").write_bytes(model([node("LSTM", ["x", "w", "r", "b"], ["y", "h"], hidden_size=H),
                                           node("Squeeze", ["y", "one"], ["seq"]),
                                           node("CumSum", ["seq", "zero"], ["out"], reverse=1)], *ports,
                                          [*weights, tensor(np.array(0), "zero")]))
done = rmlc("import", "mixed.onnx", "--stream", "0")
expect("steps are mixed", done.returncode == 1 and "steps that are not earlier" in done.stderr and not (folder / "mixed.rml").exists(),
       done.stderr)
for option, said in (("5", "no axis 5"), ("z.0", "'z'"), ("time", "time")):
    done = rmlc("import", "layer.onnx", "--stream", option)
    expect(f"--stream {option}", done.returncode == 1 and said in done.stderr, done.stderr)

# Fits y = 2 x + 1 from w = 0: an imported model is trained.
(folder / "line.onnx").write_bytes(model([node("Mul", ["x", "w"], ["t"]), node("Add", ["t", "b"], ["y"])],
                                         [value("x", FLOAT, [])], [value("y", FLOAT, [])],
                                         [tensor(np.float32(0), "w"), tensor(np.float32(0), "b")]))
expect("import to train", rmlc("import", "line.onnx", "-o", "line.rml", "--trainable", "*").returncode == 0)
(folder / "fit.rml").write_text("""import line;
node fit(x: f32, t: f32) -> (loss: f32)
  y, _ = diff line.main(x, true, -0.1 * (y - t));
  loss = (y - t) * (y - t);
""")
rows = "x,t\n" + "".join(f"{x},{2 * x + 1}\n" for x in np.tile([0.5, -1.0, 1.5, 0.0], 60))
done = rmlc("run", "fit.rml", text=rows)
expect("training", done.returncode == 0 and float(done.stdout.split()[-1]) < 1e-6, done.stdout[-200:], done.stderr)

# ---- export
(folder / "net.rml").write_text("""node main(x: f32[2, 3], c: bool) -> (p: f32[2, 3], m: f32[2], n: i64)
  w = param([[0.5, -1.0, 2.0], [1.0, 0.0, -0.5], [0.25, 3.0, 1.0]]);
  h = tanh(matmul(x, w) + 0.5 * (zeros([2, 3]) fby h));
  p = softmax(h, axis=1);
  m = if c then max(h, axis=1) else mean(h, axis=1);
  k = 0 fby k + 1;
  n = merge c (0 fby n when c + 1) (cast(i64, k) when not c);
""")
rows = {name: numbers(6, 2, 3) if name == "x" else rng.random(6) < 0.5 for name in ("x", "c")}
for name, array in rows.items():
    np.save(folder / f"{name}.npy", array)
given = [f for name in rows for f in ("--input", f"{name}={name}.npy")]
done = rmlc("export", "net.rml", "-o", "net.onnx")
expect("export", done.returncode == 0, done.stderr)
wanted = rmlc("run", "net.rml", *given)
done = rmlc("check", "net.onnx")
expect("the export is a model", done.returncode == 0, done.stderr)
done = rmlc("run", "net.onnx", "--state", "h_1=h_1_next", *given)
expect("no such state", done.returncode == 1, done.stdout)
source = rmlc("import", "net.onnx", "-o", "plain.rml")
states = re.search(r"node main.*?\n  [^ ]", (folder / "plain.rml").read_text(), re.DOTALL).group()
keep = [f for name in re.findall(r"(\w+)_next:", states) for f in ("--state", f"{name}={name}_next")]
expect("states are outputs", len(keep) >= 4, states)
done = rmlc("run", "net.onnx", *keep, *given)


def table(text):
    return np.array([[float(x) for x in line.split(",")] for line in text.split("\n")[1:-1]])


same = done.returncode == 0 and np.allclose(table(done.stdout), table(wanted.stdout), rtol=1e-5, atol=1e-6)
expect("the export computes the same", same, done.stderr, done.stdout, wanted.stdout, wanted.stderr)

# One node for all repetitions of a block, to which parameters are passed.
for name in ("blocks", "blocks_told"):
    for options in ([], ["--trainable", "*"]):
        done = rmlc("import", f"cases/{name}/model.onnx", "-o", "blocks.rml", *options)
        source = (folder / "blocks.rml").read_text()
        main = source[source.index("node main"):]
        expect(f"{name} {options}", source.count("\nnode block") == 1 and main.count("= block_2(") == 3, source)
        done = rmlc("run", "blocks.rml", "--cycles", "1", "--input", "x=x0.npy")
        found = np.array([float(word) for word in done.stdout.split("\n")[1].split(",")][:8]) if done.stdout else 0
        expect(f"{name} {options} computes", np.allclose(found, layers[3].ravel(), rtol=1e-4), done.stdout, done.stderr)

# Names of files are texts in the program.
for options in ([], ["--trainable", "*"]):
    odd = 'a"b\\c\td\n.rml'
    done = rmlc("import", "cases/blocks/model.onnx", "-o", odd, *options)
    expect("an odd name", done.returncode == 0 and rmlc("check", odd).returncode == 0, done.stderr)

# Omitted attributes have default values.
(folder / "defaults.rml").write_text("""node main(x: f32[1, 2, 7, 6]) -> (y: f32[1, 2, 3, 3], z: f32[1, 2, 2, 3], w: f32[2], s: f32[2, 7, 6])
  y = max_pool(x, 2);
  z = average_pool(x, [3, 2]);
  v = reshape([2, -1], x);
  w = var(v, axis=1) + log1p(max(v, axis=-1)) + norm(v, axis=1);
  s = cumsum(softmax(x[0], axis=0), axis=2) + flip(x[0], axis=[0, 2]);
""")
np.save(folder / "x.npy", numbers(3, 1, 2, 7, 6))
done = rmlc("export", "defaults.rml", "-o", "defaults.onnx")
expect("export of defaults", done.returncode == 0, done.stderr)
texts = [rmlc("run", f"defaults.{kind}", "--input", "x=x.npy").stdout for kind in ("rml", "onnx")]
expect("defaults", len(texts[0]) > 500 and np.allclose(*[np.array([[float(x) for x in line.split(",")] for line in
                                                                   text.split("\n")[1:-1]]) for text in texts],
                                                       rtol=1e-4), *texts)

# Learned parameters are exported.
(folder / "learn.rml").write_text("""import optim;
node line(x: f32) -> (y: f32)
  y = param(normal([])) * x + param(0.0);
node main(x: f32, t: f32) -> (loss: f32)
  y, _ = diff line(x, true, -0.1 * (y - t));
  loss = (y - t) * (y - t);
""")
rmlc("run", "learn.rml", "--save", "learned.safetensors", "--output", "loss.csv",
     text="x,t\n" + "".join(f"{x},{2 * x + 1}\n" for x in np.tile([0.5, -1.0, 1.5, 0.0], 100)))
done = rmlc("export", "learn.rml", "--node", "line", "-o", "line2.onnx")
expect("random parameters", done.returncode == 1 and "--load-params" in done.stderr, done.stderr)
done = rmlc("export", "learn.rml", "--node", "line", "-o", "line2.onnx", "--load-params", "learned.safetensors")
done = rmlc("run", "line2.onnx", text="x\n3\n")
expect("learned parameters", done.returncode == 0 and abs(float(done.stdout.split()[1]) - 7) < 1e-3, done.stdout,
       done.stderr)

# An imported model that was trained within another node is exported again. Its parameters have
# equal initial values.
(folder / "start.rml").write_text("""node main(x: f32[2]) -> (y: f32)
  w = param([0.0, 0.0]);
  v = param([0.0, 0.0]);
  b = param(0.0);
  y = sum(w * x) + sum(v * x * x) + b;
""")
(folder / "descend.rml").write_text("""import twin;
node criterion(x: f32[2], t: f32) -> (l: f32)
  y = twin.main(x);
  l = (y - t) * (y - t);
node main(x: f32[2], t: f32) -> (l: f32)
  l, _, _ = diff criterion(x, t, true, -0.05);
""")
rmlc("export", "start.rml", "-o", "twin.onnx")
rmlc("import", "twin.onnx", "-o", "twin.rml", "--trainable", "*")
pairs = [(np.float32([a, b]), np.float32(a - 2 * b + a * a + 0.5)) for a, b in np.random.default_rng(5).normal(size=(60, 2))]
done = rmlc("run", "descend.rml", "--strict-math", "--save", "descended", text='"x[0]","x[1]",t\n' + "".join(
    f"{float(x[0])},{float(x[1])},{float(t)}\n" for x, t in pairs))
w, v, b = np.zeros(2), np.zeros(2), 0.0
for x, t in pairs:
    by_y = -0.05 * 2 * (w @ x + v @ (x * x) + b - t)
    w, v, b = w + by_y * x, v + by_y * x * x, b + by_y
done = rmlc("export", "twin.rml", "-o", "never.onnx", "--load-params", "descended")
expect("names within another node", done.returncode == 1 and "--map 'criterion.main.*=*'" in done.stderr, done.stderr)
done = rmlc("export", "twin.rml", "-o", "descended.onnx", "--load-params", "descended", "--map", "criterion.main.*=*")
expect("export of what was trained", done.returncode == 0, done.stderr)
x = np.float32([0.75, -1.5])
wanted = w @ x + v @ (x * x) + b
done = rmlc("run", "descended.onnx", text='"x[0]","x[1]"\n0.75,-1.5\n')
expect("what was trained", abs(float(done.stdout.split()[1]) / wanted - 1) < 1e-4, done.stdout, done.stderr, wanted)
try:
    import onnxruntime
except ImportError:
    print("onnxruntime is not installed: it does not run what was trained")
else:
    found = onnxruntime.InferenceSession(str(folder / "descended.onnx")).run(None, {"x": x})
    expect("what was trained, by ONNX Runtime", abs(float(found[0]) / wanted - 1) < 1e-4, found, wanted)

# Damaged files beside a program.
(folder / "none.rml").write_text('const w = load("none.safetensors", "w");\nnode main() -> (y)\n  y = w;\n')
done = rmlc("check", "none.rml")
expect("a file that is not there", done.returncode == 1 and "error[E0801]" in done.stderr, done.stderr)
weights = (folder / "free.safetensors").read_bytes()
use = 'const w = load("w.safetensors", "w");\nnode main() -> (y)\n  y = w;\n'
(folder / "w.rml").write_text(use)
for name, data in {"empty": b"", "cut": weights[:20], "short": weights[:-1], "long": weights + b"x",
                   "header": b"\xff" * 8 + weights[8:], "text": b"w = 1\n" * 9}.items():
    (folder / "w.safetensors").write_bytes(data)
    done = rmlc("check", "w.rml")
    expect(f"weights: {name}", done.returncode == 1 and "error[E080" in done.stderr, done.stderr)
(folder / "w.safetensors").write_bytes(weights)
done = rmlc("check", "w.rml")
expect("weights: whole", done.returncode == 0, done.stderr)

if len(sys.argv) > 2:
    kept = pathlib.Path(sys.argv[2])
    kept.mkdir(parents=True, exist_ok=True)
    for path in [*(folder / "cases").glob("*/model.onnx"), *folder.glob("*.onnx")]:
        name = path.name if path.parent == folder else f"{path.parent.name}.onnx"
        (kept / name).write_bytes(path.read_bytes())
place.cleanup()
print("\n".join(failures) if failures else "every model computes what NumPy computes")
sys.exit(1 if failures else 0)
