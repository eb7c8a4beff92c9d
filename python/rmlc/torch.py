"""Nodes as layers of PyTorch: `Module` runs a node forward, and what `diff` makes of it backward. On the CPU."""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ._arrays import describe
from ._errors import RunError
from ._instance import Instance, UndeterminedWarning
from ._node import Module as Source
from ._node import Node, Request
from ._ports import Port

try:
    import torch
except ImportError as error:
    raise ImportError("rmlc.torch needs PyTorch: `pip install torch`") from error

_FLOATS = ("f32", "f64")


# ---- the derivative as a program -----------------------------------------------------------------

# Each parameter has an instance of this optimiser, which adds its gradients up and moves it by nothing. That the step
# is computed from both keeps the sum in the loops of the gradients, where outer products of all cycles are one product.
_GATHER = """
node rmlc_torch_gather(_rate, act, g, p) -> (step)
  _sum = param(zeros(shape(p)), act, g);
  step = 0.0 * g + 0.0 * _sum when act;
"""


def _zeros(port: Port) -> str:
    return f"zeros([{', '.join(map(str, port.shape))}])" if port.shape else "0.0"


def _derivative_text(node: Node, end: str | None, with_inputs: bool) -> str:
    """Nodes behind those of the source: `rmlc_torch_model` calls the node, `rmlc_torch_backward` differentiates it."""
    names = {port.name: f"x{k}" for k, port in enumerate(node.inputs)}
    typed = [f"{names[port.name]}: {port.type}" for port in node.inputs]
    outputs = [f"y{k}" for k in range(len(node.outputs))]
    adjoints = [f"g{k}: {port.type}" for k, port in enumerate(node.outputs) if port.dtype in _FLOATS]
    moved = [f"d{k}: {port.type}" for k, port in enumerate(node.inputs) if port.dtype in _FLOATS and with_inputs]
    given = []
    shifts = []
    for port in node.inputs:
        name = names[port.name]
        # The gradient of an input is computed in the loops of the parameters' if it moves one as well.
        if with_inputs and end is not None and port.dtype in _FLOATS:
            shifts.append(f"  s{name} = param_end({names[end]}, param({_zeros(port)}));\n")
            given.append(f"{name} + s{name}")
        else:
            given.append(name)
    found = [each.split(":")[0] for each in moved] or ["_"] * sum(port.dtype in _FLOATS for port in node.inputs)
    arguments = [*names.values(), "true", *(each.split(":")[0] for each in adjoints)]
    typed_outputs = [f"{name}: {port.type}" for name, port in zip(outputs, node.outputs)]
    return (_GATHER
            + f"node rmlc_torch_model({', '.join(typed)}) -> ({', '.join(typed_outputs)})\n"
            + "".join(shifts)
            + f"  {', '.join(outputs)} = {node.name}({', '.join(given)});\n"
            + f"node rmlc_torch_backward({', '.join(typed + adjoints)}) -> ({', '.join(typed_outputs + moved)})\n"
            + f"  {', '.join(outputs + found)} =\n"
            + f"      diff[rmlc_torch_gather(1.0)] rmlc_torch_model({', '.join(arguments)});\n")


def _derivative(node: Node, source: str, end: str | None, with_inputs: bool) -> Node:
    text = source.rstrip("\n") + "\n" + _derivative_text(node, end, with_inputs)
    request: Request = node._request
    return Node(dataclasses.replace(
        request, text=text, node="rmlc_torch_backward", parameters=("", (), False),
        frozen=tuple(f"rmlc_torch_model.{node.name}.{pattern}" for pattern in request.frozen)))


def _gathered(node: Node) -> dict[str, str]:
    """Of the derivative: for each parameter that has gradients, the one that adds them up.

    What belongs to what is read from the program's core, where the optimiser's `p` is the parameter, or samples it.
    """
    from ._tools import _checked, _Files

    with _Files(node._request) as files:
        core = _checked(files, "show", "--after", "instantiate")
    parameters = {value: path for path, value in re.findall(r"^parameter (\S+) = (%\d+)", core, re.MULTILINE)}
    sampled = dict(re.findall(r"^(%\d+): .*? = when (%\d+) ", core, re.MULTILINE))
    found = {}
    for optimiser, value in re.findall(r"^watch (\S*\brmlc_torch_gather\d*)\.p = (%\d+)", core, re.MULTILINE):
        while value not in parameters and value in sampled:
            value = sampled[value]
        found[parameters[value]] = optimiser + "._sum"
    missing = [path for path in node.params if path.endswith("._sum") and "rmlc_torch_gather" in path
               and path not in found.values()]
    if missing:
        raise RuntimeError(f"internal error: which parameter's gradient is {missing[0]}?")
    return found


# ---- running -------------------------------------------------------------------------------------


def _run(node: Node, columns: Mapping[str, Any], parameters: Mapping[str, Any], seed: int,
         wanted: Iterable[str]) -> tuple[dict[str, Any], Instance]:
    """A sequence from cycle 0: all rows of outputs, as arrays, and the instance behind them."""
    instance = node.start(seed=seed, params=parameters)
    cycles = len(next(iter(columns.values())))
    parts = [instance.run(columns)]
    if len(parts[0]) < cycles:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndeterminedWarning)
            parts.append(instance.finish())
    known = sum(map(len, parts))
    if known < cycles:
        raise RunError(f"{node.name}: only {known} of {cycles} rows are known at the end of the sequence: it looks "
                       "ahead, so let `end` be true at the last cycle")
    if len(parts) == 1:
        return {name: parts[0][name] for name in wanted}, instance
    return {name: np.concatenate([part[name] for part in parts]) for name in wanted}, instance


def _array(tensor: torch.Tensor) -> Any:
    return tensor.detach().contiguous().numpy()


class _Run(torch.autograd.Function):
    """Inputs are (B, T, …), in the order of the node's, then its parameters, then what it keeps besides."""

    @staticmethod
    def forward(ctx: Any, layer: Module, *tensors: torch.Tensor) -> Any:
        node = layer.node
        inputs = tensors[: len(node.inputs)]
        values = dict(zip(layer._paths, map(_array, tensors[len(node.inputs) :])))
        ctx.layer, ctx.seed = layer, layer.seed
        kept = {path: values[path].copy() for path in layer._buffer_paths}
        ctx.kept = []
        arrays = [_array(each) for each in inputs]
        outputs: list[list[Any]] = [[] for _ in node.outputs]
        for b in range(len(arrays[0])):
            ctx.kept.append(kept)
            columns = {port.name: array[b] for port, array in zip(node.inputs, arrays)}
            rows, instance = _run(node, columns, {**values, **kept}, layer.seed, [port.name for port in node.outputs])
            for column, port in zip(outputs, node.outputs):
                column.append(rows[port.name])
            if kept:
                kept = {path: np.array(instance.params[path]) for path in kept}
        for path, value in kept.items():
            holder, name = layer._places[path]
            getattr(holder, name).copy_(torch.from_numpy(value))
        ctx.save_for_backward(*tensors[: len(node.inputs) + len(layer._parameter_paths)])
        made = tuple(torch.from_numpy(column[0][None] if len(column) == 1 else np.stack(column)) for column in outputs)
        ctx.mark_non_differentiable(*(each for each, port in zip(made, node.outputs) if port.dtype not in _FLOATS))
        return made

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator, unused-ignore]
    def backward(ctx: Any, *adjoints: torch.Tensor) -> Any:
        layer: Module = ctx.layer
        node = layer.node
        inputs = ctx.saved_tensors[: len(node.inputs)]
        prefix = f"rmlc_torch_model.{node.name}."
        values = {prefix + path: _array(each)
                  for path, each in zip(layer._parameter_paths, ctx.saved_tensors[len(inputs) :])}
        of_inputs = [k for k, port in enumerate(node.inputs) if port.dtype in _FLOATS]
        with_inputs = any(ctx.needs_input_grad[1 + k] for k in of_inputs)
        derivative, sums = layer._derivative(with_inputs)
        names = {f"x{k}": _array(each) for k, each in enumerate(inputs)}
        names |= {f"g{k}": _array(each) for k, each in enumerate(adjoints) if node.outputs[k].dtype in _FLOATS}
        moved = {k: np.empty(names[f"x{k}"].shape, names[f"x{k}"].dtype) for k in of_inputs if with_inputs}
        gradients: dict[str, Any] = {}
        for b, kept in enumerate(ctx.kept):
            columns = {name: array[b] for name, array in names.items()}
            begin = {**values, **{prefix + path: value for path, value in kept.items()}}
            rows, instance = _run(derivative, columns, begin, ctx.seed, [f"d{k}" for k in moved])
            for k, array in moved.items():
                array[b] = rows[f"d{k}"]
            for path in layer._parameter_paths:
                found = instance.params[sums[prefix + path]]
                gradients[path] = gradients[path] + found if path in gradients else np.array(found)
        return (None, *(torch.from_numpy(moved[k]) if k in moved else None for k in range(len(inputs))),
                *(torch.from_numpy(gradients[path]) for path in layer._parameter_paths),
                *(None for _ in layer._buffer_paths))


class Module(torch.nn.Module):
    """A layer that runs a node over sequences: forward as it is compiled, backward as `diff` makes it. CPU only.

        layer = rmlc.torch.Module(rmlc.load("model.rml").node("model"))
        y = layer(x)              # x: (T, …), or (B, T, …) for B sequences; y alike

    `node` is a compiled node, or a module, of which `name` says the node and `options` are those of `rmlc.Module.node`.
    Each sequence begins at cycle 0, with the memories that the program begins with, and the random numbers of `seed`.
    `end` names the input that is true at the last cycle of a sequence; it is made where the call does not give it.

    Parameters of the node that a gradient reaches are parameters of this module, and keys of its `state_dict`, by their
    paths; they begin as the program says. Those that move by themselves (running averages), and those that are frozen,
    are buffers; after a call they are what the last sequence has left.

    Element types are the node's: f32 or f64 for what has gradients, integers and booleans besides. Ports that are not
    present at every cycle are refused (ValueError). Recurrences have a gradient only over segments that end: with
    `fby_end`, and with parameters held by `param_end` (CompileError says so).
    """

    def __init__(self, node: Node | Source, name: str = "", *, end: str = "end", seed: int = 0, **options: Any) -> None:
        super().__init__()
        if isinstance(node, Source):
            node = node.node(name, **options)
        elif name or options:
            raise TypeError(f"{name or next(iter(options))}: given for a module, not for a node that is compiled")
        elif not isinstance(node, Node):
            raise TypeError(f"node: expected a rmlc.Node or a rmlc.Module, got {describe(node)}")
        request = node._request
        if request.watches or request.opened:
            raise ValueError("node: compile it without `watch` and `open_params`")
        if not request.text and request.file.endswith(".onnx"):
            raise ValueError("node: an ONNX model has no source: write it by `rmlc import`, and load that")
        for port in (*node.inputs, *node.outputs):
            if not port.always:
                raise ValueError(f"{port.name}: it is not present at every cycle; give it a value where it is absent")
            if port.dtype in ("f16", "bf16"):
                raise ValueError(f"{port.name}: {port.dtype} has no gradients; cast it within the program")
        if not node.inputs:
            raise ValueError("the node has no inputs, so how long is a sequence?")
        self.node = node
        self.seed = seed
        self._end = next((port.name for port in node.inputs if port.name == end and port.type == "bool"), None)
        self._source = Source(request).source if not request.text else request.text
        self._programs: dict[bool, tuple[Node, dict[str, str]]] = {}
        _, sums = self._derivative(False)
        prefix = f"rmlc_torch_model.{node.name}."
        self._parameter_paths = [path for path in node.params if prefix + path in sums]
        self._buffer_paths = [path for path in node.params if prefix + path not in sums]
        self._paths = self._parameter_paths + self._buffer_paths
        first = node.start(seed=seed).params
        self._places: dict[str, tuple[torch.nn.Module, str]] = {}
        for path in self._paths:
            value = torch.from_numpy(np.array(first[path]))
            self._places[path] = self._register(path, value, path in self._parameter_paths)

    def _register(self, path: str, value: torch.Tensor, learns: bool) -> tuple[torch.nn.Module, str]:
        """Under the names that the path consists of; those that PyTorch uses itself get a `_` behind."""
        holder: torch.nn.Module = self
        *outer, name = path.split(".")
        for each in outer:
            while each not in holder._modules and hasattr(holder, each):
                each += "_"
            if each not in holder._modules:
                holder.add_module(each, torch.nn.Module())
            holder = holder.get_submodule(each)
        while hasattr(holder, name):
            name += "_"
        if learns:
            holder.register_parameter(name, torch.nn.Parameter(value))
        else:
            holder.register_buffer(name, value)
        return holder, name

    def _derivative(self, with_inputs: bool) -> tuple[Node, dict[str, str]]:
        if with_inputs not in self._programs:
            program = _derivative(self.node, self._source, self._end, with_inputs)
            self._programs[with_inputs] = program, _gathered(program)
        return self._programs[with_inputs]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_programs": {}}  # compiled again when it is used

    def _inputs(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[list[torch.Tensor], bool]:
        """Every input as (B, T, …), and whether that first axis was given."""
        ports = self.node.inputs
        free = [port for port in ports if port.name != self._end]
        if len(given) > len(free):
            raise TypeError(f"{len(given)} inputs, but there are {len(free)}: "
                            + ", ".join(port.name for port in free) + (f"; `{self._end}=`" if self._end else ""))
        values = {port.name: value for port, value in zip(free, given)}
        for name, value in named.items():
            if all(name != port.name for port in ports):
                raise TypeError(f"no input '{name}'; the inputs are: {', '.join(port.name for port in ports)}")
            if name in values:
                raise TypeError(f"{name}: given twice")
            values[name] = value
        axes: tuple[str, tuple[int, ...]] | None = None
        for port in ports:
            value = values.get(port.name)
            if value is None:
                if port.name == self._end:
                    continue
                raise TypeError(f"{port.name}: missing")
            if not isinstance(value, torch.Tensor):
                raise TypeError(f"{port.name}: expected a tensor, got {describe(value)}")
            if value.device.type != "cpu":
                raise ValueError(f"{port.name}: it is on {value.device}, but nodes run on the CPU: `.cpu()`")
            wanted = torch.from_numpy(np.empty(0, port.numpy_dtype)).dtype
            if value.dtype != wanted:
                raise TypeError(f"{port.name}: expected {wanted}, got {value.dtype}; `.to({wanted})` converts it")
            before = value.dim() - len(port.shape)
            if before not in (1, 2) or tuple(value.shape[before:]) != port.shape:
                raise ValueError(f"{port.name}: expected {port.type} behind (T,) or (B, T), got {tuple(value.shape)}")
            if axes is not None and axes[1] != tuple(value.shape[:before]):
                raise ValueError(f"{port.name}: sequences are {tuple(value.shape[:before])}, "
                                 f"but those of {axes[0]} are {axes[1]}")
            axes = port.name, tuple(value.shape[:before])
        if axes is None:
            raise TypeError(f"{self._end}: missing, as there is no other input that says how long a sequence is")
        if 0 in axes[1]:
            raise ValueError(f"{axes[0]}: no cycles, or no sequences: {axes[1]}")
        if self._end is not None and self._end not in values:
            values[self._end] = torch.zeros(axes[1], dtype=torch.bool)
            values[self._end][..., -1] = True
        batched = len(axes[1]) == 2
        return [values[port.name] if batched else values[port.name][None] for port in ports], batched

    def forward(self, *inputs: torch.Tensor, **named: torch.Tensor) -> Any:
        """Inputs in the node's order without `end`, or by name: (T, …) or (B, T, …) each.

        Returns the output alike, or a named tuple of them if there are several.
        """
        tensors, batched = self._inputs(inputs, named)
        held = [getattr(holder, name) for holder, name in self._places.values()]
        for path, value in zip(self._paths, held):
            if value.device.type != "cpu":
                raise ValueError(f"{path}: it is on {value.device}, but nodes run on the CPU: `module.cpu()`")
        outputs = _Run.apply(self, *tensors, *held)  # type: ignore[no-untyped-call, unused-ignore]
        shaped = outputs if batched else [each[0] for each in outputs]
        return shaped[0] if len(shaped) == 1 else self.node._row_type(*shaped)

    def extra_repr(self) -> str:
        return str(self.node)
