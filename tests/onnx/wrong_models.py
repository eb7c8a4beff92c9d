"""Wrong models must be refused: one line for each error, exit status 1, and no file is written.

Run by ctest: wrong_models.py RMLC. Each case is a model with the texts that the messages must
contain.
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np
from model_writer import (BOOL, FLOAT, INT64, STRING, as_graph, as_tensor, attribute, field, function, graph, model,
                          node, tensor, value, varint)

RMLC = sys.argv[1]
X, Y = value("x", FLOAT, [2, 3]), value("y", FLOAT, [2, 3])
failures = []


def rmlc(folder, *arguments):
    return subprocess.run([RMLC, *arguments], cwd=folder, capture_output=True, text=True, timeout=60)


def refused(name, data, *said, before=None, arguments=(), code="E0807"):
    """The model's bytes are refused with every text of `said`."""
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "inner").mkdir()
        (folder / "inner" / "model.onnx").write_bytes(data)
        if before:
            before(folder)
        done = rmlc(folder / "inner", "import", "model.onnx", *arguments)
        missing = [text for text in (f"error[{code}]", *said) if text not in done.stderr]
        left = [p.name for p in (folder / "inner").iterdir() if p.suffix in (".rml", ".safetensors")]
        if done.returncode != 1 or missing or left:
            failures.append(f"{name}: status {done.returncode}, not said: {missing}, written: {left}\n{done.stderr}")
        same = rmlc(folder / "inner", "check", "model.onnx", *arguments)
        if same.returncode != 1:
            failures.append(f"{name}: rmlc check: status {same.returncode}\n{same.stderr}")


def one(n, inputs=(X,), outputs=(Y,), initializers=(), **options):
    return model([n] if isinstance(n, bytes) else n, inputs, outputs, initializers, **options)


RELU = node("Relu", ["x"], ["y"])

# ---- the file
refused("an empty file", b"")
refused("zeros", bytes(1000))
refused("text", b"this is no model\n" * 10)
refused("cut short", one(RELU)[:-7])
refused("a length beyond the end", field(1, 8) + varint(7 << 3 | 2) + varint(1 << 40) + b"x")
refused("no graph", field(1, 8) + field(8, field(2, 17)), "graph")

# ---- operators and versions
refused("an unknown operator", one(node("Frobnicate", ["x"], ["y"], name="f1")), "Frobnicate", "f1")
refused("two unknown operators at once", one([node("Foo", ["x"], ["t"]), node("Bar", ["t"], ["y"])]), "Foo", "Bar")
refused("an unknown domain", one(node("Relu", ["x"], ["y"], domain="com.example")), "com.example")
refused("operator set 99", one(RELU, opset=99), "99", "27")
refused("operator set 0", one(RELU, opset=0), "operator set")
refused("no operator set", field(1, 8) + field(7, graph([RELU], [X], [Y])), "operator set")
refused("an operator before its time", one(node("Einsum", ["x"], ["y"], equation="ij->ij"), opset=9), "Einsum", "12")

# ---- names and order
refused("a circle", one([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]), node("Relu", ["b"], ["y"])]),
        "'b'")
refused("a value twice", one([RELU, node("Abs", ["x"], ["y"])]), "'y'")
refused("an input twice", one(RELU, inputs=(X, X)), "'x'")
refused("an input that is computed", one([node("Relu", ["x"], ["x"]), RELU]), "'x'")
refused("an initializer twice", one(RELU, initializers=(tensor(np.zeros(2, "f4"), "w"),) * 2), "'w'")
refused("nothing of this name", one(node("Add", ["x", "nothing"], ["y"])), "'nothing'")
refused("an output that nothing computes", one(node("Relu", ["x"], ["z"])), "'y'")
refused("used before it is computed", one([node("Relu", ["t"], ["y"]), node("Abs", ["x"], ["t"])]), "'t'")

# ---- types and shapes
refused("too few inputs", one(node("Add", ["x"], ["y"])), "Add")
refused("too many inputs", one(node("Relu", ["x", "x"], ["y"])), "Relu")
refused("too many outputs", one(node("Relu", ["x"], ["y", "z"])), "Relu")
refused("inner extents differ", one(node("MatMul", ["x", "x"], ["y"])), "matmul", "[2, 3]")
refused("no broadcast", one(node("Add", ["x", "w"], ["y"]), initializers=(tensor(np.zeros((2, 4), "f4"), "w"),)), "add")
refused("mixed types", one(node("Add", ["x", "w"], ["y"]), initializers=(tensor(np.zeros(3, "i8"), "w"),)), "add")
refused("another type than it says", one(RELU, outputs=(value("y", INT64, [2, 3]),)), "'y'", "INT64")
refused("another shape than it says", one(RELU, outputs=(value("y", FLOAT, [2, 4]),)), "'y'", "[2, 3]")
refused("texts", one(node("Identity", ["x"], ["y"]), inputs=(value("x", STRING, [2]),),
                     outputs=(value("y", STRING, [2]),)), "STRING")
refused("a reshape that does not fit", one(node("Reshape", ["x", "s"], ["y"]),
                                           initializers=(tensor(np.array([4, 5], "i8"), "s"),)), "Reshape")
refused("a wrong axis", one(node("Softmax", ["x"], ["y"], axis=7)), "axis")
refused("a wrong permutation", one(node("Transpose", ["x"], ["y"], perm=[0, 0])), "Transpose")
refused("a window larger than what it slides over",
        one(node("MaxPool", ["x"], ["y"], kernel_shape=[9, 9]), inputs=(value("x", FLOAT, [1, 1, 4, 4]),)), "MaxPool")
refused("a rank that is wrong", one(node("Conv", ["x", "x"], ["y"])), "Conv")
refused("a shape that follows from an input", one(node("Reshape", ["x", "s"], ["y"]),
                                                  inputs=(X, value("s", INT64, [2]))), "--fix s=")
refused("a free dimension", one(RELU, inputs=(value("x", FLOAT, ["batch", 3]),)), "--dim batch=1")
refused("no shape", one(RELU, inputs=(value("x", FLOAT, None),)), "'x'")
refused("a huge dimension", one(RELU, inputs=(value("x", FLOAT, [1 << 40, 1 << 40]),)), "too large")
refused("a negative dimension", one(RELU, inputs=(value("x", FLOAT, [-3, 3]),)), "'x'")

# ---- attributes
refused("an attribute of another type", one(node("Softmax", ["x"], ["y"], axis=1.5)), "'axis'")
refused("an attribute of an unknown kind", one(node("Softmax", ["x"], ["y"]) + field(5, field(1, "axis") + field(20, 35))),
        "'axis'")
for what, (limit, delta) in {"limit": (np.nan, 1), "delta": (3, np.nan)}.items():
    refused(f"a range whose {what} is NaN", one([node("Range", ["z", "l", "d"], ["r"]), node("ReduceSum", ["r"], ["s"]),
                                                 node("Add", ["x", "s"], ["y"])],
                                                initializers=(tensor(np.float32(0), "z"), tensor(np.float32(limit), "l"),
                                                              tensor(np.float32(delta), "d"))), "a number of elements")
refused("an attribute that there is none", one(node("Relu", ["x"], ["y"], alpha=1.5)), "'alpha'")
refused("an attribute missing", one(node("Cast", ["x"], ["y"])), "'to'")
refused("a cast to what there is none", one(node("Cast", ["x"], ["y"], to=99)), "99")
refused("an attribute twice", one(RELU[:-0 or None] + field(5, attribute("axis", 1)) + field(5, attribute("axis", 2))),
        "'axis'")


# ---- tensors
def weight(message):
    return one(node("Add", ["x", "w"], ["y"]), initializers=(message,))


refused("too few bytes", weight(field(1, 3) + field(2, FLOAT) + field(8, "w") + field(9, bytes(11))), "'w'")
refused("too many bytes", weight(field(1, 3) + field(2, FLOAT) + field(8, "w") + field(9, bytes(16))), "'w'")
refused("too few numbers", weight(field(1, 3) + field(2, FLOAT) + field(8, "w") + field(4, 1.0)), "'w'")
refused("extents that overflow", weight(b"".join(field(1, 1 << 33) for _ in range(4)) + field(2, FLOAT) +
                                        field(8, "w") + field(9, bytes(4))), "'w'")
refused("a negative extent", weight(field(1, -3) + field(2, FLOAT) + field(8, "w") + field(9, bytes(12))), "'w'")
refused("a bomb", weight(field(1, 1 << 40) + field(2, FLOAT) + field(8, "w") + field(9, b"")), "'w'")
refused("elements of an unknown type", weight(field(1, 3) + field(2, 77) + field(8, "w") + field(9, bytes(12))), "77")
refused("nine axes", weight(b"".join(field(1, 1) for _ in range(9)) + field(2, FLOAT) + field(8, "w") +
                            field(9, bytes(4))), "'w'")


# ---- tensors in other files
def external(*entries):
    pairs = b"".join(field(13, field(1, k) + field(2, v)) for k, v in entries)
    return weight(field(1, 3) + field(2, FLOAT) + field(8, "w") + pairs + field(14, 1))


def beside(folder):
    (folder / "inner" / "w.bin").write_bytes(np.arange(3, dtype="f4").tobytes())
    (folder / "secret.bin").write_bytes(bytes(12))


def link(folder):
    beside(folder)
    os.symlink(folder / "secret.bin", folder / "inner" / "link.bin")


def hard_link(folder):
    beside(folder)
    os.link(folder / "secret.bin", folder / "inner" / "hard.bin")


refused("outside of the folder", external(("location", "../secret.bin")), "'w'", before=beside)
refused("outside by a detour", external(("location", "a/../../secret.bin")), "'w'", before=beside)
refused("an absolute place", external(("location", "/etc/passwd")), "'w'", before=beside)
refused("a link", external(("location", "link.bin")), "'w'", before=link)
refused("a hard link", external(("location", "hard.bin")), "'w'", before=hard_link)
refused("a file that is not there", external(("location", "none.bin")), "none.bin", before=beside)
refused("no location", external(("offset", "0")), "'w'", before=beside)
refused("an offset beyond the end", external(("location", "w.bin"), ("offset", "4")), "'w'", before=beside)
refused("an offset that is no number", external(("location", "w.bin"), ("offset", "-1")), "'w'", before=beside)
refused("a length that does not fit", external(("location", "w.bin"), ("length", "8")), "'w'", before=beside)
refused("a folder", external(("location", ".")), "'w'", before=beside)

# ---- the import does not overwrite its inputs
with tempfile.TemporaryDirectory() as place:
    own = pathlib.Path(place)
    (own / "m.onnx").write_bytes(external(("location", "m.safetensors")))
    (own / "m.safetensors").write_bytes(np.arange(3, dtype="f4").tobytes())
    done = rmlc(own, "import", "m.onnx")
    if done.returncode != 1 or "E0804" not in done.stderr or len((own / "m.safetensors").read_bytes()) != 12:
        failures.append(f"over the model's own tensors: status {done.returncode}\n{done.stderr}")
    done = rmlc(own, "import", "m.onnx", "-o", "n.rml")
    if done.returncode != 0 or not (own / "n.rml").exists():
        failures.append(f"beside the model's own tensors: status {done.returncode}\n{done.stderr}")
    # The source and its weights are both written, or neither is.
    wide = [node("MatMul", ["x", "w"], ["y"])], [X], [value("y", FLOAT, [2, 500])], [tensor(np.ones((3, 500), "f4"), "w")]
    (own / "m.onnx").write_bytes(model(*wide))
    for folder, source in (("f.rml", "f.rml"), ("g.safetensors", "g.rml")):
        (own / folder).mkdir()
        before = sorted(p.name for p in own.iterdir())
        done = rmlc(own, "import", "m.onnx", "-o", source)
        if done.returncode != 1 or f"'{folder}': Is a directory" not in done.stderr:
            failures.append(f"over a folder: status {done.returncode}\n{done.stderr}")
        if sorted(p.name for p in own.iterdir()) != before:
            failures.append(f"over a folder: something was written beside {folder}")
    # The weights have 6000 bytes.
    before = sorted(p.name for p in own.iterdir())
    done = subprocess.run([RMLC, "import", "m.onnx", "-o", "h.rml"], cwd=own, capture_output=True, text=True, timeout=60,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)))
    if done.returncode != 1 or "cannot write 'h.safetensors': File too large" not in done.stderr:
        failures.append(f"weights that do not fit: status {done.returncode}\n{done.stderr}")
    if sorted(p.name for p in own.iterdir()) != before:
        failures.append("weights that do not fit: something was written")

# ---- graphs within graphs, functions
BRANCH = graph([node("Relu", ["x"], ["t"])], [], [value("t", FLOAT, [2, 3])])
SHORT = graph([node("Identity", ["none"], ["t"])], [], [value("t", FLOAT, [2, 3])])
CONDITION = tensor(np.array(True), "c")
refused("a branch that uses nothing", one(node("If", ["c"], ["y"], then_branch=as_graph(BRANCH),
                                              else_branch=as_graph(SHORT)), initializers=(CONDITION,)), "'none'")
TAKES = graph([node("Relu", ["i"], ["t"])], [value("i", FLOAT, [2, 3])], [value("t", FLOAT, [2, 3])])
for name, inputs, initializers in (("that is known", (X,), (CONDITION,)), ("", (X, value("c", BOOL, [])), ())):
    refused(f"a branch with an input, a condition {name}", one(node("If", ["c"], ["y"], then_branch=as_graph(
        TAKES), else_branch=as_graph(TAKES)), inputs, initializers=initializers), "node 1 (If)", "1 inputs, but 0")
deep = BRANCH
for _ in range(40):
    deep = graph([node("If", ["c"], ["t"], then_branch=as_graph(deep), else_branch=as_graph(BRANCH))], [],
                 [value("t", FLOAT, [2, 3])])
refused("graphs 40 deep", one(node("If", ["c"], ["y"], then_branch=as_graph(deep), else_branch=as_graph(BRANCH)),
                              initializers=(CONDITION,)))
refused("a graph where a tensor is", one(node("Constant", [], ["y"], value=as_graph(BRANCH))), "'value'")
refused("a tensor where a graph is", one(node("If", ["c"], ["y"], then_branch=as_tensor(np.zeros(1, "f4")),
                                              else_branch=as_graph(BRANCH)), initializers=(CONDITION,)),
        "'then_branch'")
SELF = function("f", "again", ["a"], ["b"], [node("again", ["a"], ["b"], domain="f")])
refused("a function of itself", one(node("again", ["x"], ["y"], domain="f"), functions=(SELF,), domains=("f",)),
        "again")
TWICE = function("f", "two", ["a"], ["b"], [node("Add", ["a", "a"], ["t"]), node("Add", ["t", "t"], ["b"])])
bomb = [TWICE]
for k in range(40):
    bomb.append(function("f", f"two{k}", ["a"], ["b"],
                         [node(f"two{k - 1}" if k else "two", ["a"], ["t"], domain="f"),
                          node(f"two{k - 1}" if k else "two", ["t"], ["b"], domain="f")]))
refused("functions that double 40 times", one(node("two39", ["x"], ["y"], domain="f"), functions=bomb, domains=("f",)))

# ---- options
FREE = one(RELU, inputs=(value("x", FLOAT, ["n", 3]),), outputs=(value("y", FLOAT, ["n", 3]),))
refused("no extent", FREE, "--dim", arguments=("--dim", "n=many"), code="E0902")
refused("no equals sign", FREE, "--dim", arguments=("--dim", "n"), code="E0902")
refused("fixed to no value", FREE, "--fix", arguments=("--dim", "n=2", "--fix", "x=hello"), code="E0902")
refused("fixed to another shape", FREE, "--fix", arguments=("--fix", "x=[1, 2]"), code="E0902")
refused("fixed to rows of two lengths", FREE, "--fix", arguments=("--fix", "x=[[1, 2, 3], [1, 2]]"), code="E0902")
refused("no such input to fix", FREE, "'z'", arguments=("--dim", "n=2", "--fix", "z=1"), code="E0902")
refused("no such state", FREE, "'h'", arguments=("--dim", "n=2", "--state", "h=y"))
refused("a state of another shape",
        one([RELU, node("ReduceSum", ["x"], ["s"])], outputs=(Y, value("s", FLOAT, [1, 1]))), "state x=s",
        arguments=("--state", "x=s"))

# ---- files of test sets
NUMBERS = tensor(np.ones(3, "f4"))
for name, data, said in (("a sequence", field(1, "x") + field(2, 1) + field(3, NUMBERS) + field(3, NUMBERS), "holds a sequence"),
                         ("a sequence without a name", field(2, 1) + field(3, NUMBERS), "holds a sequence"),
                         ("an optional value of a long name", field(1, "optional" * 9) + field(2, 1) + field(3, NUMBERS),
                          "or an optional value"),
                         ("an empty sequence", field(1, "x") + field(2, 1), "an empty sequence"),
                         ("nothing", b"", "an empty sequence")):
    with tempfile.TemporaryDirectory() as place:
        given = pathlib.Path(place) / "test_data_set_0"
        given.mkdir()
        (pathlib.Path(place) / "model.onnx").write_bytes(one(RELU))
        (given / "input_0.pb").write_bytes(data)
        (given / "output_0.pb").write_bytes(tensor(np.ones((2, 3), "f4")))
        done = rmlc(place, "test", ".")
        if done.returncode != 1 or said not in done.stdout + done.stderr or "shape" in done.stdout + done.stderr:
            failures.append(f"{name} as an input: status {done.returncode}\n{done.stdout}{done.stderr}")

print("\n".join(failures) if failures else "every wrong model is refused")
sys.exit(1 if failures else 0)
