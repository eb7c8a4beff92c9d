"""How tests with a peer's values are written: a group is a program, its inputs and what a peer gives.

For f32 and f64 each group gives NAME_f32.rml and its chronograms, whose first lines tell the lint of coverage
what they hold. An entry is a call of the library and the function that another package has for it, of PyTorch's
tensors; gradients, of the sum of the outputs, are PyTorch's as well."""

import pathlib
import re
import sys
from dataclasses import dataclass, field, replace
from typing import Callable

import numpy as np
import torch

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "figures"))
from chronogram import cell  # noqa: E402

INF, NAN = float("inf"), float("nan")
TOLERANCE = {"f32": "3e-6", "f64": "1e-12"}
# Numbers at which functions break: zeros, ties, what over- and underflows, what is no number.
EDGES = [0.0, -0.0, 1e-30, -1e-30, 1.0, -1.0, 20.0, -20.0, 1e7, 1e30, -1e30]
NOT_FINITE = [INF, -INF, NAN]


@dataclass
class Entry:
    """`call` is what the program writes; with `gradient`, PyTorch's gradient of each float input it names
    is a row as well. `scale` brings small numbers to where a tolerance sees them."""

    name: str
    call: str
    peer: Callable
    gradient: bool = True
    scale: float = 1.0


@dataclass
class Series:
    """A call whose value of a cycle is of those before as well: `peer` takes arrays with an axis of cycles,
    in NumPy's f64, and gives one for each of `names`."""

    names: str
    call: str
    peer: Callable


def values_only(entries):
    """The same entries without their gradients, for arguments that have none."""
    return [replace(entry, gradient=False) for entry in entries]


@dataclass
class Group:
    """`arguments` is "ordinary", "edge" or both; `inputs` are name -> cells, all of one shape; `nodes`
    are what the calls need beside the library."""

    name: str
    arguments: str
    peer: str
    inputs: dict
    entries: list
    tolerance: dict = field(default_factory=lambda: dict(TOLERANCE))
    nodes: str = ""


def number_text(value):
    """f32 in as few digits as tell it apart."""
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
    """What the peer gives for one cycle's inputs, and the gradients; worked in f64 of what f32 can hold."""
    tensors = {n: torch.tensor(widened(a), requires_grad=entry.gradient and a.dtype.kind == "f") for n, a in given.items()}
    y = entry.peer(*tensors.values())
    gradients = []
    if entry.gradient:
        (entry.scale * y).sum().backward()
        gradients = [(torch.zeros_like(t) if t.grad is None else t.grad).numpy() for t in tensors.values() if t.requires_grad]
    return [(entry.scale * y.detach()).numpy()] + gradients


def series(entry, inputs, dtype):
    used = [n for n in inputs if re.search(rf"\b{n}\b", entry.call)]
    rows = entry.peer(*[widened(np.stack(inputs[n])) for n in used])
    return [convert(list(row), dtype) for row in (rows if isinstance(rows, tuple) else (rows,))]


def write_group(group, dtype):
    inputs = {n: convert(cells, dtype) for n, cells in group.inputs.items()}
    nodes, outputs, equations = [], {}, []
    for entry in group.entries:
        if isinstance(entry, Series):
            outputs.update(zip(entry.names.split(", "), series(entry, inputs, dtype)))
            equations.append(f"  {entry.names} = {entry.call};")
            continue
        used = [n for n in inputs if re.search(rf"\b{n}\b", entry.call)]
        columns = [at_cycle(entry, dict(zip(used, cells))) for cells in zip(*[inputs[n] for n in used])]
        rows = [entry.name] + [f"d{entry.name}_{n}" for n in used if inputs[n][0].dtype.kind == "f"] * entry.gradient
        assert len(rows) == len(columns[0]), (entry.name, rows)
        outputs.update(zip(rows, [convert(c, dtype) for c in zip(*columns)]))
        scaled = entry.call if entry.scale == 1.0 else f"{entry.scale!r} * {entry.call}"
        if entry.gradient:
            shape = list(columns[0][0].shape)
            flow = "1.0" if not shape else f"ones({shape})"
            nodes.append(f"node the_{entry.name}({', '.join(used)}) -> (y)\n  y = {scaled};\n")
            equations.append(f"  {', '.join(rows)} = diff the_{entry.name}({', '.join(used)}, true, {flow});")
        else:
            equations.append(f"  {entry.name} = {scaled};")
    text = f"-- Values of {group.peer}; by make.py.\n--\n-- arguments: {group.arguments}\n"
    text += f"-- tolerance: {group.tolerance[dtype]}\n-- run: main\n"
    calls = group.nodes + " ".join(e.call for e in group.entries)
    text += "".join(f"import {m};\n" for m in sorted(set(re.findall(r"\b([a-z]\w*)\.\w+\(", calls)))) + "\n"
    nodes += [group.nodes] * bool(group.nodes)
    text += "\n".join(nodes) + "\n" * bool(nodes)
    text += "node main(" + ", ".join(f"{n}: {rml_type(c[0], dtype)}" for n, c in inputs.items()) + ")\n    -> ("
    text += ",\n        ".join(f"{n}: {rml_type(c[0], dtype)}" for n, c in outputs.items()) + ")\n"
    base = HERE / f"{group.name}_{dtype}"
    base.with_suffix(".rml").write_text(text + "\n".join(equations) + "\n")
    chronogram(base.with_suffix(".in.chron"), inputs)
    chronogram(base.with_suffix(".out.chron"), outputs)


def write_groups(groups):
    for group in groups:
        for dtype in ("f32", "f64"):
            write_group(group, dtype)
