"""Nodes as layers of PyTorch. `Module` runs a node forward, and its derivative by `diff` backward, on the CPU."""

from __future__ import annotations

import contextlib
import pathlib
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from . import _safetensors
from ._arrays import describe
from ._errors import RunError
from ._instance import Instance, UndeterminedWarning
from ._node import Module as Source
from ._node import Node, Request
from ._ports import Port
from ._rows import Rows
from ._sampled import Sampled

try:
    import torch
except ImportError as error:
    raise ImportError("rmlc.torch needs PyTorch: `pip install torch`") from error

_FLOATS = ("f32", "f64")


# ---- the programs of a layer ---------------------------------------------------------------------

def _program(node: Node, source: str, name: str, text: str, first: Mapping[str, Any],
             gathered: Iterable[str] = ()) -> Node:
    """Compiles a node that calls the given one, with its text appended to the source.

    The parameters start with constants from a file. Every run sets them, and the program's own initial values may take
    long to compute.
    """
    prefix = node.name + "."
    request: Request = node._request
    constants = {prefix + path: value for path, value in first.items() if node.params[path].dtype in _FLOATS}
    with tempfile.TemporaryDirectory(prefix="rmlc-") as folder:
        file = pathlib.Path(folder, "first.safetensors")
        file.write_bytes(_safetensors.write(constants))
        return Node(request._replace(
            text=source.rstrip("\n") + "\n" + text, node=name,
            parameters=(str(file), (), True, False) if constants else ("", (), False, False),
            gathered=tuple(prefix + path for path in gathered),
            frozen=tuple(prefix + pattern for pattern in request.frozen)))


def _derivative(node: Node, source: str, first: Mapping[str, Any], gathered: Iterable[str], with_inputs: bool) -> Node:
    """Compiles the node `rmlc_torch_backward`, which differentiates the node.

    Its inputs are those of the node, x0, x1, …, and the adjoints of the outputs, g0, …. Its outputs are those of the
    node and the gradients of the inputs, d0, …. The gradients of parameters are summed under their paths, prefixed by
    the name of the node.
    """
    floats = [k for k, port in enumerate(node.inputs) if port.dtype in _FLOATS]
    typed = [f"x{k}: {port.type}" for k, port in enumerate(node.inputs)]
    adjoints = [k for k, port in enumerate(node.outputs) if port.dtype in _FLOATS]
    typed += [f"g{k}: {node.outputs[k].type}" for k in adjoints]
    outputs = [f"y{k}" for k in range(len(node.outputs))]
    typed_outputs = [f"y{k}: {port.type}" for k, port in enumerate(node.outputs)]
    if with_inputs:
        typed_outputs += [f"d{k}: {node.inputs[k].type}" for k in floats]
    found = [f"d{k}" if with_inputs else "_" for k in floats]
    arguments = [f"x{k}" for k in range(len(node.inputs))] + ["true"] + [f"g{k}" for k in adjoints]
    text = (f"node rmlc_torch_backward({', '.join(typed)}) -> ({', '.join(typed_outputs)})\n"
            f"  {', '.join(outputs + found)} = diff {node.name}({', '.join(arguments)});\n")
    return _program(node, source, "rmlc_torch_backward", text, first, gathered)


def _forward(node: Node, source: str, first: Mapping[str, Any]) -> Node:
    """Compiles the node `rmlc_torch_forward`, which calls the node.

    The call has the same path as in the derivative, because random numbers depend on paths.
    """
    typed = ", ".join(f"x{k}: {port.type}" for k, port in enumerate(node.inputs))
    typed_outputs = ", ".join(f"y{k}: {port.type}" for k, port in enumerate(node.outputs))
    text = (f"node rmlc_torch_forward({typed}) -> ({typed_outputs})\n"
            f"  {', '.join(f'y{k}' for k in range(len(node.outputs)))} = "
            f"{node.name}({', '.join(f'x{k}' for k in range(len(node.inputs)))});\n")
    return _program(node, source, "rmlc_torch_forward", text, first)


def _still(node: Node) -> list[str]:
    """Returns the paths of the parameters that the program itself does not change."""
    if not node.params:
        return []
    moving = Node(node._request._replace(gathered=("*",), parameters=("", (), False, False))).params
    return [path for path in node.params if "d " + path not in moving]


def _first_values(node: Node, seed: int) -> dict[str, Any]:
    """Returns the initial values of the parameters.

    They are the values after one cycle of the program with all parameters frozen. Boolean inputs are true, so that
    segments end. If a parameter has no value for inputs of zeros, ones are tried, and then minus ones.
    """
    still = Node(node._request._replace(frozen=("*",))) if node.params else node
    found: dict[str, Any] = {}
    for number in (0, 1, -1):
        missing = [path for path in node.params if path not in found]
        if not missing:
            break
        instance = still.start(seed=seed)
        columns = {port.name: np.full((1, *port.shape), _filled(port, number), port.numpy_dtype) for port in node.inputs}
        with contextlib.suppress(RunError), warnings.catch_warnings():  # the program may fail for this number
            warnings.simplefilter("ignore", UndeterminedWarning)
            instance.run(columns)
            instance.finish()
        for path in missing:
            with contextlib.suppress(RunError):  # the parameter starts in a later cycle
                found[path] = np.array(instance.params[path])
    for path in node.params:
        if path not in found:
            raise ValueError(f"{path}: the initial value of this parameter is unknown, because it has none in cycle 0 "
                             "for inputs of zeros or ones; let it start in cycle 0")
    return found


def _filled(port: Port, number: int) -> Any:
    return True if port.dtype == "bool" else abs(number) if port.dtype.startswith("u") else number


# ---- running -------------------------------------------------------------------------------------


def _run(instance: Instance, columns: Mapping[str, Any], parameters: Mapping[str, Any], cycles: int) -> list[Rows]:
    """Runs a sequence from cycle 0, and returns all its rows in one or two parts."""
    instance.params.update(parameters)
    parts = [instance.run(columns)]
    if len(parts[0]) < cycles:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndeterminedWarning)
            parts.append(instance.finish())
    known = sum(map(len, parts))
    if known < cycles:
        raise RunError(f"{instance.node.name}: only {known} of {cycles} rows are known at the end of the sequence, "
                       "because the node looks ahead; let `end` be true in the last cycle")
    return parts


def _column(parts: list[Rows], name: str) -> Any:
    """Returns the values of an output in all parts, in the cycles where it is present."""
    values = [part[name].values if isinstance(part[name], Sampled) else part[name] for part in parts]
    return values[0] if len(values) == 1 else np.concatenate(values)


def _array(tensor: torch.Tensor) -> Any:
    return tensor.detach().contiguous().numpy()


class _Run(torch.autograd.Function):
    """The function of a layer for autograd.

    Its arguments are the inputs of the node in their order, (B, T, …) each, then the parameters, then the buffers.
    """

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
            columns = {f"x{k}": array[b] for k, array in enumerate(arrays)}
            begin = {f"{node.name}.{path}": value for path, value in {**values, **kept}.items()}
            with layer._instance(layer._forward_program(), layer.seed) as instance:
                parts = _run(instance, columns, begin, arrays[0].shape[1])
                for k, column in enumerate(outputs):
                    column.append(_column(parts, f"y{k}"))
                kept = kept | {path: np.array(instance.params[f"{node.name}.{path}"]) for path in layer._moving_paths}
        for path in layer._moving_paths:
            value = kept[path]
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
        values = dict(zip(layer._parameter_paths, map(_array, ctx.saved_tensors[len(inputs) :])))
        of_inputs = [k for k, port in enumerate(node.inputs) if port.dtype in _FLOATS]
        with_inputs = any(ctx.needs_input_grad[1 + k] for k in of_inputs)
        derivative = layer._derivative(with_inputs)
        names = {f"x{k}": _array(each) for k, each in enumerate(inputs)}
        names |= {f"g{k}": _array(each) for k, each in enumerate(adjoints) if node.outputs[k].dtype in _FLOATS}
        moved = {k: np.empty(names[f"x{k}"].shape, names[f"x{k}"].dtype) for k in of_inputs if with_inputs}
        gradients: dict[str, Any] = {}
        cycles = names["x0"].shape[1]
        prefix = node.name + "."
        constant = {prefix + path: value for path, value in values.items()}
        for b, kept in enumerate(ctx.kept):
            columns = {name: array[b] for name, array in names.items()}
            begin = constant | {prefix + path: value for path, value in kept.items()}
            with layer._instance(derivative, ctx.seed) as instance:
                parts = _run(instance, columns, begin, cycles)
                if not instance.settled:
                    raise RunError(f"{node.name}: the gradients need cycles after the end of the sequence; let `end` "
                                   "be true in the last cycle")
                for k, array in moved.items():
                    array[b] = _column(parts, f"d{k}")
                found = instance.params
                for path in layer._parameter_paths:
                    gradient = found[f"d {prefix}{path}"]
                    gradients[path] = gradients[path] + gradient if path in gradients else np.array(gradient)
        return (None, *(torch.from_numpy(moved[k]) if k in moved else None for k in range(len(inputs))),
                *(torch.from_numpy(gradients[path]) for path in layer._parameter_paths),
                *(None for _ in layer._buffer_paths))


class Module(torch.nn.Module):
    """A layer that runs a node over sequences. The backward pass runs the derivative that `diff` creates. CPU only.

        layer = rmlc.torch.Module(rmlc.load("model.rml").node("model"))
        y = layer(x)              # x: (T, …), or (B, T, …) for B sequences; y alike

    `node` is a compiled node, or a module. For a module, `name` is the name of the node, and `options` are those of
    `rmlc.Module.node`. `end` is the name of the input that is true in the last cycle of a sequence. If a call does not
    give this input, the layer creates it. Each sequence starts at cycle 0, with the initial memories of the program,
    and with the random numbers of `seed` (those of a program that calls the node).

    The parameters of the node that have a gradient are parameters of this module, and keys of its `state_dict`, by
    their paths. They start with the initial values of the program. Parameters that the program itself changes (running
    averages) and frozen parameters are buffers. After a call, they have the values after the last sequence.

    The element types are those of the node: f32 or f64 for values with gradients, and also integers and Booleans. A
    port that is absent in some cycles is refused (ValueError). A recurrence has a gradient only over segments that end,
    so it must use `fby_end`; otherwise CompileError is raised. Parameters need not be held by `param_end`, but
    gradients take less time if they are.
    """

    def __init__(self, node: Node | Source, name: str = "", *, end: str = "end", seed: int = 0, **options: Any) -> None:
        super().__init__()
        if isinstance(node, Source):
            node = node.node(name, **options)
        elif name or options:
            raise TypeError(f"{name or next(iter(options))}: possible only if `node` is a module, not a compiled node")
        elif not isinstance(node, Node):
            raise TypeError(f"node: expected a rmlc.Node or a rmlc.Module, got {describe(node)}")
        request = node._request
        if request.watches or request.gathered:
            raise ValueError("node: it has `watch` or `gradients`; compile it without them")
        if not request.text and request.file.endswith(".onnx"):
            raise ValueError("node: an ONNX model has no source; write it by `rmlc import`, and load the source")
        for port in (*node.inputs, *node.outputs):
            if not port.always:
                raise ValueError(f"{port.name}: it is absent in some cycles; give it a value there, as `merge` does")
            if port.dtype in ("f16", "bf16"):
                raise ValueError(f"{port.name}: {port.dtype} has no gradients; cast it within the program")
        if not node.inputs:
            raise ValueError("node: it has no inputs, so the length of a sequence is unknown; add an input")
        self.node = node
        self.seed = seed
        self._end = next((port.name for port in node.inputs if port.name == end and port.type == "bool"), None)
        self._source = Source(request).source if not request.text else request.text
        self._programs: dict[str, Node] = {}
        self._idle: dict[Node, list[Instance]] = {}
        self._first = _first_values(node, seed)
        self._still = _still(node)
        gathered = self._derivative(False).params
        self._parameter_paths = [path for path in self._still if f"d {node.name}.{path}" in gathered]
        self._buffer_paths = [path for path in node.params if path not in self._parameter_paths]
        self._moving_paths = [path for path in self._buffer_paths if path not in self._still]
        self._paths = self._parameter_paths + self._buffer_paths
        self._places: dict[str, tuple[torch.nn.Module, str]] = {}
        for path in self._paths:
            value = torch.from_numpy(self._first[path].copy())
            self._places[path] = self._register(path, value, path in self._parameter_paths)

    def _register(self, path: str, value: torch.Tensor, learns: bool) -> tuple[torch.nn.Module, str]:
        """Registers a parameter or buffer under the names of its path. Names used by PyTorch itself get a final `_`."""
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

    def _derivative(self, with_inputs: bool) -> Node:
        key = "backward to inputs" if with_inputs else "backward"
        if key not in self._programs:
            self._programs[key] = _derivative(self.node, self._source, self._first, self._still, with_inputs)
        return self._programs[key]

    def _forward_program(self) -> Node:
        if "forward" not in self._programs:
            self._programs["forward"] = _forward(self.node, self._source, self._first)
        return self._programs["forward"]

    @contextlib.contextmanager
    def _instance(self, node: Node, seed: int) -> Iterator[Instance]:
        """Yields an instance at cycle 0. Used instances are reused, because they keep the memory for a sequence."""
        idle = self._idle.setdefault(node, [])
        instance: Instance | None = None
        with contextlib.suppress(IndexError):
            instance = idle.pop()  # `pop` is one atomic operation, which matters because threads may share a layer
        if instance is not None and instance.seed == seed:
            instance.reset()
        else:
            instance = node.start(seed=seed)
        yield instance
        idle.append(instance)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_programs": {}, "_idle": {}}  # leaves the programs out, which are compiled again at
                                                                # the first use

    def _inputs(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[list[torch.Tensor], bool]:
        """Returns every input as (B, T, …), and whether the caller gave the axis B."""
        ports = self.node.inputs
        free = [port for port in ports if port.name != self._end]
        if len(given) > len(free):
            raise TypeError(f"inputs: expected at most {len(free)} ({', '.join(port.name for port in free)}), got "
                            f"{len(given)}" + (f"; give `{self._end}` by name" if self._end else ""))
        values = {port.name: value for port, value in zip(free, given)}
        for name, value in named.items():
            if all(name != port.name for port in ports):
                raise TypeError(f"no input '{name}'; the inputs are: {', '.join(port.name for port in ports)}")
            if name in values:
                raise TypeError(f"{name}: given twice, by position and by name; remove one of the two")
            values[name] = value
        axes: tuple[str, tuple[int, ...]] | None = None
        for port in ports:
            value = values.get(port.name)
            if value is None:
                if port.name == self._end:
                    continue
                raise TypeError(f"{port.name}: missing; give a tensor for this input")
            if not isinstance(value, torch.Tensor):
                raise TypeError(f"{port.name}: expected a tensor, got {describe(value)}")
            if value.device.type != "cpu":
                raise ValueError(f"{port.name}: it is on {value.device}, but nodes run on the CPU; move it by `.cpu()`")
            wanted = torch.from_numpy(np.empty(0, port.numpy_dtype)).dtype
            if value.dtype != wanted:
                raise TypeError(f"{port.name}: expected {wanted}, got {value.dtype}; `.to({wanted})` converts it")
            before = value.dim() - len(port.shape)
            if before not in (1, 2) or tuple(value.shape[before:]) != port.shape:
                raise ValueError(f"{port.name}: expected {port.type} after the axes (T,) or (B, T), got "
                                 f"{tuple(value.shape)}")
            if axes is not None and axes[1] != tuple(value.shape[:before]):
                raise ValueError(f"{port.name}: its sequences have the axes {tuple(value.shape[:before])}, "
                                 f"but those of {axes[0]} have {axes[1]}")
            axes = port.name, tuple(value.shape[:before])
        if axes is None:
            raise TypeError(f"{self._end}: missing; no other input determines the length of a sequence")
        if 0 in axes[1]:
            raise ValueError(f"{axes[0]}: no cycles or no sequences, its axes are {axes[1]}; give at least one of each")
        if self._end is not None and self._end not in values:
            values[self._end] = torch.zeros(axes[1], dtype=torch.bool)
            values[self._end][..., -1] = True
        batched = len(axes[1]) == 2
        return [values[port.name] if batched else values[port.name][None] for port in ports], batched

    def forward(self, *inputs: torch.Tensor, **named: torch.Tensor) -> Any:
        """Runs the node over sequences. The inputs are in the node's order without `end`, or given by name.

        Each input is (T, …), or (B, T, …) for B sequences. Returns the output in the same form, or a named tuple if
        there are several outputs.
        """
        tensors, batched = self._inputs(inputs, named)
        held = [getattr(holder, name) for holder, name in self._places.values()]
        for path, value in zip(self._paths, held):
            if value.device.type != "cpu":
                raise ValueError(f"{path}: it is on {value.device}, but nodes run on the CPU; use `module.cpu()`")
        outputs = _Run.apply(self, *tensors, *held)  # type: ignore[no-untyped-call, unused-ignore]
        shaped = outputs if batched else [each[0] for each in outputs]
        return shaped[0] if len(shaped) == 1 else self.node._row_type(*shaped)

    def extra_repr(self) -> str:
        return str(self.node)
