"""Models that are small, or ordinary except for one number, and would take unlimited time or
memory.

Run by ctest: hostile_models.py RMLC. Models that grow beyond the limits must be refused with one
message within 2 s and 2 GB. Models that are only large may take time in proportion. Time is
processor time, scaled to a processor on which an ordinary model of 20,000 nodes takes a second.
If a model takes too long, it is measured again between two runs of the ordinary model, because
other work on the machine may slow everything down.
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np
from model_writer import (BOOL, FLOAT, INT64, as_graph, as_tensor, attribute, field, function, graph, model, node,
                          tensor, value)

RMLC = os.path.abspath(sys.argv[1])
X, Y, C = value("x", FLOAT, [2, 3]), value("y", FLOAT, [2, 3]), value("c", BOOL, [])
failures = []


def check(data, files=(), options=()):
    """Runs rmlc check. Returns status, messages, seconds, KiB."""
    with tempfile.TemporaryDirectory() as place:
        (pathlib.Path(place) / "m.onnx").write_bytes(data)
        for name, content in dict(files).items():
            (pathlib.Path(place) / name).write_bytes(content)
        with open(os.path.join(place, "said"), "w+", encoding="utf-8", errors="replace") as said:
            process = subprocess.Popen([RMLC, "check", "m.onnx", *options], cwd=place, stdout=said, stderr=said,
                                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (30, 30)))
            _, status, usage = os.wait4(process.pid, 0)
            said.seek(0)
            text = said.read()
    return os.waitstatus_to_exitcode(status), text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def in_proportion(data, files, options, seconds):
    """True if, in one of three trials, it takes at most `seconds` times as long as the
    ordinary model."""
    for _ in range(3):
        before, (_, _, took, _), after = check(ORDINARY)[2], check(data, files, options), check(ORDINARY)[2]
        if took <= seconds * max(before, after):
            return True
    return False


def expect(name, data, wanted, seconds, said=(), files=(), options=()):
    status, text, took, kib = check(data, files, options)
    if took > seconds and in_proportion(data, files, options, seconds):
        took = seconds
    missing = [part for part in said if part not in text]
    if status != wanted or missing or took > seconds or kib > 2 << 20 or len(text) > 100_000:
        failures.append(f"{name}: status {status}, {took:.1f} s, {kib >> 10} MiB, not said: {missing}\n{text[:2000]}")


def refused(name, data, *said):
    expect(name, data, 1, 2, ("error[E0807]", *said))


def accepted(name, data, files=()):
    expect(name, data, 0, 8, files=files)


def one(nodes, inputs=(X,), outputs=(Y,), initializers=(), **options):
    return model([nodes] if isinstance(nodes, bytes) else nodes, inputs, outputs, initializers, **options)


def of_functions(nodes, functions):
    return one(nodes, functions=functions, domains=("f",))



def chain(count, make, first="x", last="y"):
    """A chain of nodes, each of which takes the output of the one before; make(k, in, out)
    makes node k."""
    return [make(k, f"v{k}" if k else first, f"v{k + 1}" if k + 1 < count else last) for k in range(count)]


def branch(nodes):
    return as_graph(graph(nodes, [], [value("t", FLOAT, [2, 3])]))


ORDINARY = one(chain(20_000, lambda k, x, y: node("Relu", [x], [y])))


# ---- functions
def doubling(first, times):
    calls = [function("f", f"f{k}", ["a"], ["b"], [node(f"f{k - 1}", ["a"], ["t"], domain="f"),
                                                   node(f"f{k - 1}", ["t"], ["b"], domain="f")])
             for k in range(1, times)]
    return of_functions(node(f"f{times - 1}", ["x"], ["y"], domain="f"), [first, *calls])


RELU = function("f", "f0", ["a"], ["b"], [node("Relu", ["a"], ["b"])])
refused("doubling", doubling(RELU, 64), "function 'f1'", "200000 nodes")
refused("doubling of nothing", doubling(function("f", "f0", ["a"], ["a"], []), 64), "function 'f0'", "200000 nodes")
accepted("a little doubling", doubling(RELU, 13))
expect("a bound that is set", doubling(RELU, 13), 1, 2, ("100 nodes", "--limit nodes=N"), options=("--limit", "nodes=100"))
refused("deep calls", of_functions(node("f99999", ["x"], ["y"], domain="f"), [RELU] + [
    function("f", f"f{k}", ["a"], ["b"], [node(f"f{k - 1}", ["a"], ["b"], domain="f")]) for k in range(1, 100_000)]),
        "function 'f99900'", "more than 100 deep")
accepted("many functions", of_functions(
    chain(10_000, lambda k, x, y: node(f"f{k}", [x], [y], domain="f")),
    [function("f", f"f{k}", ["a"], ["b"], [node("Relu", ["a"], ["b"])]) for k in range(10_000)]))


def often(*body):
    return of_functions(chain(5_000, lambda k, x, y: node("f0", [x], [y], domain="f")),
                        [function("f", "f0", ["a"], ["b"], [*body, node("Relu", ["a"], ["b"])])])


refused("a long list in a function", often(node("Constant", [], ["k"], value_floats=[1.0] * 1_000_000)),
        "200000 nodes")
accepted("a tensor in a function", often(node("Constant", [], ["k"], value=as_tensor(np.ones(1_000_000, "f4")))))

# ---- loops
def loop(body, trips, shape, first="x", k=0, **tensors):
    """A Loop with one state, `first`, which the body takes as s0 and returns as t0."""
    inside = graph([node("Identity", [f"cond{k}"], [f"co{k}"]), *body],
                   [value(f"i{k}", INT64, []), value(f"cond{k}", BOOL, []), value(f"s{k}", FLOAT, shape)],
                   [value(f"co{k}", BOOL, []), value(f"t{k}", FLOAT, shape)])
    return one([node("Loop", ["n", "", first], ["z"], body=as_graph(inside)), node("Add", ["z", "x"], ["y"])],
               (value("x", FLOAT, shape),), (value("y", FLOAT, shape),),
               [tensor(np.array(trips), "n"), *(tensor(t, name) for name, t in tensors.items())])


def nested(depth, op, k=1):
    if depth == 0:
        return [node(op, [f"s{k - 1}"], [f"t{k - 1}"])]
    inside = graph([node("Identity", [f"cond{k}"], [f"co{k}"]), *nested(depth - 1, op, k + 1)],
                   [value(f"i{k}", INT64, []), value(f"cond{k}", BOOL, []), value(f"s{k}", FLOAT, [2, 3])],
                   [value(f"co{k}", BOOL, []), value(f"t{k}", FLOAT, [2, 3])])
    return [node("Loop", ["n", "", f"s{k - 1}"], [f"t{k - 1}"], body=as_graph(inside))]


refused("loops in loops", loop(nested(5, "Relu"), 1000, [2, 3]), "node 1 (Loop), node 2 (Loop)", "200000 nodes")
refused("loops in loops of nothing", loop(nested(5, "Identity"), 1000, [2, 3]), "200000 nodes")
expect("a bound that is raised", loop(nested(1, "Identity"), 300, [2, 3]), 0, 8, options=("--limit", "nodes=1000000"))
refused("a loop of many nodes", loop(chain(500, lambda k, x, y: node("Relu", [x], [y]), "s0", "t0"), 1000, [2, 3]),
        "node 1 (Loop)", "200000 nodes")
accepted("a long loop", loop(nested(0, "Relu"), 2000, [2, 3]))
accepted("a tensor in a loop", loop([node("Add", ["s0", "w"], ["t0"])], 2000, [65536], w=np.ones(65536, "f4")))
refused("much that is known", loop(chain(100, lambda k, x, y: node("Sin", [x], [y]), "s0", "t0"), 1900, [65536],
                                   first="w", w=np.ones(65536, "f4")), "(Sin)", "computing the constants")
refused("products that are known", loop([node("MatMul", ["s0", "w"], ["t0"])], 2000, [256, 256], first="w",
                                        w=np.eye(256, dtype="f4")), "(MatMul)", "computing the constants")
refused("no number of rounds", loop(nested(0, "Relu"), np.zeros(0, "i8"), [2, 3]), "number of iterations")

# ---- graphs within graphs
ABS = branch([node("Abs", ["x"], ["t"])])
for depth in (40, 1000):
    inner = ABS
    for _ in range(depth):
        inner = branch([node("If", ["c"], ["t"], then_branch=inner, else_branch=ABS)])
    refused(f"graphs {depth} deep", one(node("If", ["c"], ["y"], then_branch=inner, else_branch=ABS), (X, C)),
            "graph 'g'", "more than 32 deep")


def if_else(k, x, y):
    return node("If", ["c"], [y], then_branch=branch([node("Relu", [x], ["t"])]),
                else_branch=branch([node("Abs", [x], ["t"])]))


accepted("If after If, known", one(chain(20_000, if_else), initializers=[tensor(np.array(True), "c")]))
accepted("If after If in a function", one(
    node("f", ["x", "c"], ["y"], domain="f"), (X, C), domains=("f",),
    functions=[function("f", "f", ["x", "c"], ["y"], chain(9_000, if_else))]))
accepted("If, each its own", one(chain(8_000, lambda k, x, y: node(
    "If", ["c"], [y], then_branch=branch([node("Add", [x, f"w{k}"], ["t"])]), else_branch=ABS)), (X, C),
    initializers=[tensor(np.full(1, k, "f4"), f"w{k}") for k in range(8_000)]))
accepted("If that takes much", one(
    [node("Relu", ["x"], [f"v{k}"]) for k in range(20_000)] +
    [node("If", ["c"], ["y"], then_branch=branch([node("Sum", [f"v{k}" for k in range(20_000)], ["t"])]),
          else_branch=ABS)], (X, C)))


def many(op, count):
    return as_graph(graph([node(op, ["x"], [f"t{k}"]) for k in range(count)], [],
                          [value(f"t{k}", FLOAT, [2, 3]) for k in range(count)]))


accepted("If that gives much", one(
    [node("If", ["c"], [f"o{k}" for k in range(15_000)], then_branch=many("Relu", 15_000),
          else_branch=many("Abs", 15_000)), node("Sum", [f"o{k}" for k in range(15_000)], ["y"])], (X, C)))


# ---- lists
def with_attributes(made, count):
    return made + b"".join(field(5, attribute(f"a{k}", k)) for k in range(count))


refused("attributes", one(with_attributes(node("Relu", ["x"], ["y"]), 100_000)), "'a0'")
accepted("attributes of a call", of_functions(with_attributes(node("f0", ["x"], ["y"], domain="f"), 100_000), [RELU]))
accepted("defaults of a function", of_functions(node("f0", ["x"], ["y"], domain="f"), [
    RELU + b"".join(field(11, attribute(f"a{k}", k)) for k in range(100_000))]))
refused("references to attributes", of_functions(
    with_attributes(node("f", ["x"], ["y"], domain="f"), 100_000),
    [function("f", "f", ["a"], ["b"], [node("Relu", ["a"], ["b"]) + b"".join(
        field(5, field(1, f"r{k}") + field(21, f"a{k}") + field(20, 2)) for k in range(100_000))])]), "'r0'")
N = 100_000
accepted("operands of Concat", one(node("Concat", ["x"] * N, ["y"], axis=0), outputs=(value("y", FLOAT, [2 * N, 3]),)))
for op in ("Sum", "Max"):
    accepted(f"operands of {op}", one(node(op, ["x"] * N, ["y"])))
accepted("parts of Split", one(
    [node("Split", ["x"], [f"o{k}" for k in range(20_000)], axis=0),
     node("Concat", [f"o{k}" for k in range(20_000)], ["y"], axis=0)], (value("x", FLOAT, [20_000]),),
    (value("y", FLOAT, [20_000]),), opset=13))
accepted("inputs", one(node("Relu", ["x"], ["y"]), [X] + [value(f"x{k}", FLOAT, [2, 3]) for k in range(50_000)]))
accepted("outputs", one([node("Relu", ["x"], ["y"])] + [node("Identity", ["y"], [f"y{k}"]) for k in range(30_000)],
                        outputs=[Y] + [value(f"y{k}", FLOAT, [2, 3]) for k in range(30_000)]))
refused("one output, often", one(node("Relu", ["x"], ["y"]), outputs=[Y] * N), "'y'", "99899 more errors")
weights = [tensor(np.full(1, k, "f4"), f"w{k}") for k in range(20_000)]
accepted("initializers", one(chain(20_000, lambda k, x, y: node("Add", [x, f"w{k}"], [y])), initializers=weights))
accepted("initializers that are inputs", field(1, 3) + field(7, graph(
    [node("Relu", ["x"], ["y"])], [X] + [value(f"w{k}", FLOAT, [1]) for k in range(20_000)], [Y], weights)) +
    field(8, field(1, "") + field(2, 9)))
accepted("nodes side by side", one([node("Relu", ["x"], [f"v{k}"]) for k in range(20_000)] +
                                   [node("Sum", [f"v{k}" for k in range(20_000)], ["y"])]))
refused("many faults", one([node("Frob", ["x"], [f"v{k}"]) for k in range(N)] + [node("Relu", ["x"], ["y"])]),
        "node 1 (Frob)", "99900 more errors")
refused("many axes", one(node("Unsqueeze", ["x", "s"], ["y"]), initializers=[tensor(np.arange(N), "s")]), "axes")

# ---- numbers
FOUR = (value("x", FLOAT, [1, 4, 2, 2]),)
for op in ("DepthToSpace", "SpaceToDepth"):
    refused(f"blocks of {op}", one(node(op, ["x"], ["y"], blocksize=1 << 32), FOUR), "blocks of 4294967296")
refused("a large triangle", one(node("Trilu", ["x"], ["y"]), (value("x", FLOAT, [65536, 65536]),)), "(Trilu)")
refused("no diagonal", one(node("Trilu", ["x", "k"], ["y"]), initializers=[tensor(np.zeros(0, "i8"), "k")]),
        "the diagonal")

# ---- tensors in one file
MIB = 1 << 20


def external(name, offset):
    entries = (("location", "w.bin"), ("offset", str(offset)), ("length", str(4 * MIB)))
    return (field(1, MIB) + field(2, FLOAT) + field(8, name) + field(14, 1) +
            b"".join(field(13, field(1, key) + field(2, text)) for key, text in entries))


def weighted(offset):
    shape = [MIB]
    return one(chain(200, lambda k, x, y: node("Add", [x, f"w{k}"], [y])), (value("x", FLOAT, shape),),
               (value("y", FLOAT, shape),), [external(f"w{k}", offset(k)) for k in range(200)])


accepted("200 tensors that are one", weighted(lambda k: 0), {"w.bin": bytes(4 * MIB)})
expect("200 tensors that overlap", weighted(lambda k: 4 * k), 1, 2, ("initializer 'w4'", "'w.bin'", "overlap"),
       {"w.bin": bytes(4 * MIB + 800)})

# ---- names of a megabyte
LONG = "n" * 1_000_000


def long_chain(x, y):
    return chain(20_000, lambda k, a, b: node("Relu", [a], [b]), x, y)


accepted("a long name of a value", one([node("Identity", ["x"], [LONG]), *long_chain(LONG, "y")]))
accepted("a long name of a call", of_functions(node("f", ["x"], ["y"], name=LONG, domain="f"),
                                               [function("f", "f", ["a"], ["b"], long_chain("a", "b"))]))
accepted("a long name of a function", of_functions(node(LONG, ["x"], ["y"], domain="f"),
                                                   [function("f", LONG, ["a"], ["b"], long_chain("a", "b"))]))
accepted("a long name of an argument", of_functions(
    [node("Identity", ["x"], [LONG]), node("f", [LONG], ["y"], domain="f")],
    [function("f", "f", ["a"], ["b"], [node("Add", ["a", f"v{k}" if k else "a"], [f"v{k + 1}" if k < 999 else "b"])
                                       for k in range(1_000)])]))
FROBS = chain(20_000, lambda k, x, y: node("Frob", [x], [y]), "x", "t")
refused("faults with a long name", one(node("If", ["c"], ["y"], name=LONG, then_branch=branch(FROBS),
                                            else_branch=branch(FROBS)), (X, C)), "node 1 'nnn", "n…' (If)")

print("\n".join(failures) if failures else "every hostile model is refused or taken in time")
sys.exit(1 if failures else 0)
