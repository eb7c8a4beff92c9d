"""Layers that draw their weights: the weights have the stated distribution, stay constant, and
are those that the layer uses. Each instance draws its own.

Run by ctest: drawn_test.py RMLC. The weights are watched in a trace, and the outputs are computed
from them here.
"""

import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

RMLC = sys.argv[1]
INPUTS = {"end": ["F", "F", "T", "F", "T"], "x": [[0.5, -1], [0.25, 2], [-1.5, 0.75], [1, 1], [-0.5, 0]]}


def value(text):
    """A cell of a chronogram: nested lists of a tensor, or a scalar."""
    if text in ("T", "F"):
        return text == "T"
    rows = r"\[([^][]*;[^][]*)\]"  # the innermost two axes: [1,2;3,4]
    return json.loads(re.sub(rows, lambda m: "[[" + m[1].replace(";", "],[") + "]]", text))


def trace(program, watched):
    """Returns {name: values at the cycles of INPUTS}."""
    with tempfile.TemporaryDirectory() as folder:
        source, rows = pathlib.Path(folder) / "p.rml", pathlib.Path(folder) / "p.chron"
        source.write_text("import nn;\nimport recurrent;\n" + program)
        text = {"end": INPUTS["end"], "x": ["[" + ",".join(map(str, x)) + "]" for x in INPUTS["x"]]}
        rows.write_text("".join(f"{name} | {' '.join(cells)}\n" for name, cells in text.items()))
        watches = [argument for name in watched for argument in ("--watch", name)]
        done = subprocess.run([RMLC, "trace", source, "--input", rows, *watches], capture_output=True, text=True, check=True)
    found = {}
    for line in done.stdout.split("\n"):
        if line:
            name, cells = line.split("|")
            found[name.strip()] = [value(cell) for cell in cells.split()]
    return found


def weights(found, name):
    """A drawn weight, which must be the same at every cycle."""
    assert all(v == found[name][0] for v in found[name]), f"{name} changes"
    return found[name][0]


def close(a, b, what):
    for x, y in zip(a, b, strict=True):
        assert abs(x - y) <= 1e-12, f"{what}: {a} is not {b}"


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def product(m, v):
    return [sum(a * b for a, b in zip(row, v, strict=True)) for row in m]


def total(*vectors):
    return [sum(values) for values in zip(*vectors, strict=True)]


def parts(v, n):
    size = len(v) // n
    return [v[k * size : (k + 1) * size] for k in range(n)]


def rnn(w, h, c, x):
    return [math.tanh(z) for z in total(product(w["kernel"], x), product(w["recurrent"], h), w["bias"])], c


def gru(w, h, c, x):
    gx = parts(total(product(w["kernel"], x), w["bias"]), 3)
    gh = parts(total(product(w["recurrent"], h), w["recurrent_bias"]), 3)
    next_h = []
    for k, before in enumerate(h):
        r, z = sigmoid(gx[0][k] + gh[0][k]), sigmoid(gx[1][k] + gh[1][k])
        next_h.append((1 - z) * math.tanh(gx[2][k] + r * gh[2][k]) + z * before)
    return next_h, c


def lstm(w, h, c, x):
    i, f, g, o = parts(total(product(w["kernel"], x), product(w["recurrent"], h), w["bias"]), 4)
    c = [sigmoid(f[k]) * c[k] + sigmoid(i[k]) * math.tanh(g[k]) for k in range(len(h))]
    return [sigmoid(o[k]) * math.tanh(c[k]) for k in range(len(h))], c


def check_uniform(m, limit):
    values = [v for row in m for v in row]
    assert len(set(values)) == len(values), "weights repeat"
    assert all(abs(v) <= limit for v in values) and max(map(abs, values)) > limit / 2, "not uniform within the limit"


def check_orthogonal(m):
    for a in zip(*m):
        for b in zip(*m):
            expected = 1.0 if a == b else 0.0
            assert abs(sum(p * q for p, q in zip(a, b)) - expected) < 1e-12, "columns are not orthonormal"


def check_dense():
    found = trace(
        "node main(end: bool, x: f64[2]) -> (a: f64[30], b: f64[30])\n  a = nn.dense(30, x);\n  b = nn.dense_end(30, end, x);\n",
        ["dense.kernel", "dense.bias", "dense_end.kernel", "dense_end.bias"],
    )
    for name, output in (("dense", "a"), ("dense_end", "b")):
        kernel, bias = weights(found, name + ".kernel"), weights(found, name + ".bias")
        check_uniform(kernel, math.sqrt(6 / 32))
        assert bias == [0] * 30
        for x, y in zip(INPUTS["x"], found[output], strict=True):
            close(y, product(kernel, x), name)
    assert found["dense.kernel"] != found["dense_end.kernel"], "two layers draw the same"


def check_mixture(node, arguments):
    found = trace(
        "node main(end: bool, x: f64[2]) -> (y: f64[3], chosen: i32, gates: f64[2])\n"
        f"  y, chosen, gates = nn.{node}({arguments});\n",
        [node + ".router", node + ".kernel", node + ".bias"],
    )
    router, kernel, bias = (weights(found, f"{node}.{name}") for name in ("router", "kernel", "bias"))
    check_uniform(router, math.sqrt(6 / 4))
    for expert in kernel:
        check_uniform(expert, math.sqrt(6 / 5))
    assert bias == [[0] * 3] * 2
    for x, y, chosen, gates in zip(INPUTS["x"], found["y"], found["chosen"], found["gates"], strict=True):
        scores = [math.exp(s) for s in product(router, x)]
        close(gates, [s / sum(scores) for s in scores], "gates")
        assert gates[chosen] == max(gates)
        close(y, [gates[chosen] * v for v in product(kernel[chosen], x)], "mixture")
    assert set(found["chosen"]) == {0, 1}, "one expert is never chosen: change the inputs"


def check_recurrent(kind, step, gates):
    layer = f"{kind}_bi"
    names = ["kernel", "recurrent", "bias"] + (["recurrent_bias"] if kind == "gru" else [])
    paths = {side: f"{layer}.{kind}_{side}." for side in ("end", "back")} | {"": f"{kind}."}
    found = trace(
        f"node main(end: bool, x: f64[2]) -> (y: f64[8], h: f64[4])\n"
        f"  y = recurrent.{layer}(4, end, x);\n  h = recurrent.{kind}(4, x);\n",
        [path + name for path in paths.values() for name in names],
    )
    cycles = range(len(INPUTS["x"]))
    outputs = {"end": [y[:4] for y in found["y"]], "back": [y[4:] for y in found["y"]], "": found["h"]}
    for side, path in paths.items():
        w = {name: weights(found, path + name) for name in names}
        check_uniform(w["kernel"], math.sqrt(6 / (2 + 4 * gates)))
        check_orthogonal(w["recurrent"])
        biases = [[0.0] * 4, [1.0] * 4, [0.0] * 8] if kind == "lstm" else [[0.0] * 4 * gates]
        assert w["bias"] == [b for part in biases for b in part]
        h = c = [0.0] * 4
        for n in reversed(cycles) if side == "back" else cycles:
            if side == "back" and INPUTS["end"][n] == "T":
                h = c = [0.0] * 4
            h, c = step(w, h, c, INPUTS["x"][n])
            close(outputs[side][n], h, f"{path} at cycle {n}")
            if side == "end" and INPUTS["end"][n] == "T":
                h = c = [0.0] * 4


check_dense()
check_mixture("mixture", "2, 3, x")
check_mixture("mixture_end", "2, 3, end, x")
check_recurrent("rnn", rnn, 1)
check_recurrent("gru", gru, 3)
check_recurrent("lstm", lstm, 4)
print("6 passed, 0 failed")
