"""Writes tests with the values of another package (the peer). A group is a program, its inputs
and the peer's values.

Each group gives NAME_f32.rml and NAME_f64.rml with their chronograms, whose first lines
describe them for the coverage lint. An entry is a call of the library and the peer's function
of PyTorch tensors. Gradients of the sum of the outputs are PyTorch's as well. The weights that
a layer draws are read with `rmlc trace` (RMLC in the environment, else build/dev/bin/rmlc)."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from typing import Callable

import numpy as np
import torch

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "figures"))
from chronogram import cell  # noqa: E402

INF, NAN = float("inf"), float("nan")
TOLERANCE = {"f32": "3e-6", "f64": "1e-12"}
# Numbers at which functions fail: zeros, ties, over- and underflow, NaN.
EDGES = [0.0, -0.0, 1e-30, -1e-30, 1.0, -1.0, 20.0, -20.0, 1e7, 1e30, -1e30]
NOT_FINITE = [INF, -INF, NAN]


@dataclass
class Entry:
    """`call` is the text in the program. With `gradient`, PyTorch's gradient of each float
    input that it names is a row as well. `scale` enlarges small numbers so that the tolerance
    applies to them."""

    name: str
    call: str
    peer: Callable
    gradient: bool = True
    scale: float = 1.0


@dataclass
class Series:
    """A call whose value at a cycle depends on earlier cycles: `peer` takes arrays with an
    axis of cycles, in NumPy's f64, and returns one for each of `names`."""

    names: str
    call: str
    peer: Callable


RATE = 0.1


@dataclass
class Layer:
    """A call that depends on a stream, on other cycles of its segment, and on drawn weights.
    `peer` takes the `weights`, by their paths below the call, and the inputs, with an axis of
    the segment's cycles. `segments` returns the ends of segments, from the inputs. With
    `gradient`, `diff` descends along RATE times the sum of the outputs; the change of the
    weights is visible in the next segment."""

    name: str
    call: str
    peer: Callable
    weights: tuple = ()
    segments: Callable = lambda given: given["end"]
    gradient: bool = True


def each_cycle(given):
    """Every cycle is a segment."""
    return np.ones(len(next(iter(given.values()))), bool)


def whole_run(given):
    return np.arange(len(next(iter(given.values())))) < 0


def values_only(entries):
    """Returns the entries without their gradients, for arguments that have none."""
    return [replace(entry, gradient=False) if hasattr(entry, "gradient") else entry for entry in entries]


@dataclass
class Group:
    """`arguments` is "ordinary", "edge" or both; `inputs` are name -> cells, all of one shape;
    `nodes` are the nodes that the calls need in addition to the library."""

    name: str
    arguments: str
    peer: str
    inputs: dict
    entries: list
    tolerance: dict = field(default_factory=lambda: dict(TOLERANCE))
    nodes: str = ""


def number_text(value):
    """A number as text; an f32 has the fewest digits that identify it."""
    if isinstance(value, np.float32):
        text = str(value)
        return text[:-2] if text.endswith(".0") else text
    return cell(value)


def cell_text(array):
    array = np.asarray(array)
    if array.ndim == 0:
        return number_text(array[()])
    if array.ndim == 2:
        return "[" + ";".join(",".join(number_text(x) for x in row) for row in array) + "]"
    return "[" + ",".join(cell_text(part) for part in array) + "]"


def rml_type(array, dtype):
    array = np.asarray(array)
    base = {"f": dtype, "i": "i32", "b": "bool"}[array.dtype.kind]
    return base + (str(list(array.shape)) if array.ndim else "")


def chronogram(path, rows):
    width = max(map(len, rows))
    path.write_text("".join(f"{n.ljust(width)} | {' '.join(cell_text(c) for c in cells)}\n" for n, cells in rows.items()))


def convert(cells, dtype):
    """Cells of one element type: floats of `dtype`, i32 or bool."""
    kind = {"f32": np.float32, "f64": np.float64}[dtype]
    arrays = [np.asarray(c) for c in cells]
    floats = any(a.dtype.kind == "f" for a in arrays)
    with np.errstate(over="ignore"):
        return [a.astype(kind) if floats else a if a.dtype.kind == "b" else a.astype(np.int32) for a in arrays]


def widened(array):
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def at_cycle(entry, given):
    """The peer's values for the inputs of one cycle, and the gradients; computed in f64 from
    numbers that f32 can represent."""
    tensors = {n: torch.tensor(widened(a), requires_grad=entry.gradient and a.dtype.kind == "f") for n, a in given.items()}
    y = entry.peer(*tensors.values())
    gradients = []
    if entry.gradient:
        (entry.scale * y).sum().backward()
        gradients = [(torch.zeros_like(t) if t.grad is None else t.grad).numpy() for t in tensors.values() if t.requires_grad]
    y = y.detach()
    return [(y if entry.scale == 1.0 else entry.scale * y).numpy()] + gradients


def uses(entry, inputs):
    return [n for n in inputs if re.search(rf"\b{n}\b", entry.call)]


def floats(names, inputs):
    return [n for n in names if inputs[n][0].dtype.kind == "f"]


def layer_node(entry, inputs):
    return f"node the_{entry.name}({', '.join(uses(entry, inputs))}) -> (y)\n  y = {entry.call};\n"


def drawn_by(layers, group, inputs, dtype):
    """The weights that the layers of a group draw at the first cycle, as `rmlc trace` shows
    them for a program of these layers."""
    paths = {f"the_{entry.name}.{w}": (entry.name, w) for entry in layers for w in entry.weights}
    if not paths:
        return {}
    types = {n: rml_type(c[0], dtype) for n, c in inputs.items()}
    equations = [f"  {e.name} = the_{e.name}({', '.join(uses(e, inputs))});" for e in layers]
    text = program(group, types, [layer_node(e, inputs) for e in layers], {e.name: "" for e in layers}, equations)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "drawn.rml"
        path.write_text(text)
        chronogram(path.with_suffix(".chron"), inputs)
        watches = [a for name in paths for a in ("--watch", name)]
        rmlc = os.environ.get("RMLC", HERE.parents[2] / "build/dev/bin/rmlc")
        command = [rmlc, "trace", path, "--input", path.with_suffix(".chron"), *watches]
        rows = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    found = dict(re.split(r" *\| *", line, maxsplit=1) for line in rows.splitlines())
    drawn = {entry.name: {} for entry in layers}
    for name, (layer, weight) in paths.items():
        matrices = re.sub(r"\[([^][]*;[^][]*)\]", lambda m: "[[" + m[1].replace(";", "],[") + "]]", found[name].split()[0])
        drawn[layer][weight] = np.array(json.loads(matrices), float)
    return drawn


def write_layer(entry, inputs, dtype, drawn):
    """The rows of a layer: its outputs and the gradients of its float inputs."""
    weights = {w: torch.tensor(v, requires_grad=True) for w, v in drawn.get(entry.name, {}).items()}
    given = {n: np.stack([widened(c) for c in inputs[n]]) for n in uses(entry, inputs)}
    ends = entry.segments(given)
    first, columns = 0, []
    for last in range(len(ends)):
        if not ends[last] and last + 1 < len(ends):
            continue
        part = {n: torch.tensor(v[first:last + 1], requires_grad=v.dtype.kind == "f") for n, v in given.items()}
        y = entry.peer(weights, *part.values())
        if entry.gradient:
            (RATE * y).sum().backward()
            for w in weights.values():
                w.data += 0 if w.grad is None else w.grad
                w.grad = None
        rows = [y.detach()] + [torch.zeros_like(p) if p.grad is None else p.grad
                               for p in part.values() if entry.gradient and p.requires_grad]
        columns += zip(*[row.numpy() for row in rows])
        first = last + 1
    names = [entry.name] + [f"d{entry.name}_{n}" for n in floats(given, inputs)] * entry.gradient
    shape = list(columns[0][0].shape)
    flow = f"{RATE} * ones({shape})" if shape else str(RATE)
    call = f"the_{entry.name}({', '.join(given)}"
    call = f"diff {call}, true, {flow})" if entry.gradient else call + ")"
    outputs = dict(zip(names, [convert(c, dtype) for c in zip(*columns)]))
    return [layer_node(entry, inputs)], outputs, f"  {', '.join(names)} = {call};"


def write_series(entry, inputs, dtype):
    rows = entry.peer(*[widened(np.stack(inputs[n])) for n in uses(entry, inputs)])
    rows = [convert(list(row), dtype) for row in (rows if isinstance(rows, tuple) else (rows,))]
    return [], dict(zip(entry.names.split(", "), rows)), f"  {entry.names} = {entry.call};"


def write_entry(entry, inputs, dtype):
    used = uses(entry, inputs)
    columns = [at_cycle(entry, dict(zip(used, cells))) for cells in zip(*[inputs[n] for n in used])]
    rows = [entry.name] + [f"d{entry.name}_{n}" for n in floats(used, inputs)] * entry.gradient
    assert len(rows) == len(columns[0]), (entry.name, rows)
    outputs = dict(zip(rows, [convert(c, dtype) for c in zip(*columns)]))
    scaled = entry.call if entry.scale == 1.0 else f"{entry.scale!r} * {entry.call}"
    if not entry.gradient:
        return [], outputs, f"  {entry.name} = {scaled};"
    shape = list(columns[0][0].shape)
    flow = "1.0" if not shape else f"ones({shape})"
    node = f"node the_{entry.name}({', '.join(used)}) -> (y)\n  y = {scaled};\n"
    return [node], outputs, f"  {', '.join(rows)} = diff the_{entry.name}({', '.join(used)}, true, {flow});"


def program(group, inputs, nodes, outputs, equations):
    """The text of a program; `inputs` and `outputs` are name -> type, or no type."""
    calls = group.nodes + " ".join(e.call for e in group.entries)
    text = "".join(f"import {m};\n" for m in sorted(set(re.findall(r"\b([a-z]\w*)\.\w+\(", calls)))) + "\n"
    nodes = nodes + [group.nodes] * bool(group.nodes)
    text += "\n".join(nodes) + "\n" * bool(nodes)
    ports = [", ".join(f"{n}: {t}" for n, t in inputs.items()), ",\n        ".join(f"{n}: {t}" if t else n for n, t in outputs.items())]
    return text + f"node main({ports[0]})\n    -> ({ports[1]})\n" + "\n".join(equations) + "\n"


def write_group(group, dtype):
    inputs = {n: convert(cells, dtype) for n, cells in group.inputs.items()}
    layers = [entry for entry in group.entries if isinstance(entry, Layer)]
    drawn = drawn_by(layers, group, inputs, dtype)
    nodes, outputs, equations = [], {}, []
    for entry in group.entries:
        if isinstance(entry, Layer):
            more, rows, equation = write_layer(entry, inputs, dtype, drawn)
        else:
            more, rows, equation = (write_series if isinstance(entry, Series) else write_entry)(entry, inputs, dtype)
        nodes, outputs, equations = nodes + more, outputs | rows, equations + [equation]
    types = [{n: rml_type(c[0], dtype) for n, c in ports.items()} for ports in (inputs, outputs)]
    head = f"-- Values of {group.peer}; by make.py.\n--\n-- arguments: {group.arguments}\n"
    head += f"-- tolerance: {group.tolerance[dtype]}\n-- run: main\n"
    path = HERE / f"{group.name}_{dtype}.rml"
    path.write_text(head + program(group, types[0], nodes, types[1], equations))
    chronogram(path.with_suffix(".in.chron"), inputs)
    chronogram(path.with_suffix(".out.chron"), outputs)


def write_groups(groups):
    for group in groups:
        for dtype in ("f32", "f64"):
            write_group(group, dtype)
