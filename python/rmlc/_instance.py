"""A running node with its state, as `Instance`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping

from . import _core
from ._arrays import as_float32, numpy, tensor, whole
from ._errors import RunError
from ._files import path_of, read_bytes, write_whole
from ._inputs import columns, gather
from ._rows import Rows
from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ._node import Node, Path


class UndeterminedWarning(UserWarning):
    """Some rows were still unknown when an instance was finished."""


class Instance(_core.Instance):
    """A running node with its own state. `step` computes one cycle, and `run` computes many.

    Only one thread may use an instance at a time. A cycle that fails raises RunError. After a failure, the instance
    computes no further cycles until `reset`, or `load` of a state.
    """

    node: Node

    def __init__(self, node: Node, *, seed: int = 0, load: Path | bytes | None = None,
                 params: Path | Mapping[str, Any] | None = None, map: Iterable[str] = (), partial: bool = False,
                 cast_params: bool = False, horizon: int = 0) -> None:
        super().__init__(node._core, whole(seed, "seed", 0, 2**64 - 1), whole(horizon, "horizon", 0, 2**63 - 1),
                         node._row_type)
        self.node = node
        self._horizon = horizon
        self.told: list[str] = []  # messages about the loaded parameters
        if load is not None and params is not None:
            raise ValueError("load and params: a state already contains all parameters; give only one of the two")
        if load is not None:
            self.load(load, map=map)
        elif isinstance(params, Mapping):
            self.params.update(params)
        elif params is not None:
            self.told = self._load_parameters(path_of(params, "params"), list(map), partial, cast_params)

    def run(self, inputs: Any = None, /, *, cycles: int | None = None, copy: bool = False, missing: str = "error",
            progress: bool = False, monitor: Iterable[str] = (), **named: Any) -> Rows:
        """Computes a cycle for each element of the inputs' first axis, and returns the rows that became known.

        Inputs are arrays by name, with the types of the node and C-contiguous. They are read without a copy. Other
        arrays are refused, unless `copy=True`. A scalar has the same value in every cycle. An input that is absent in
        some cycles is a `Sampled`, a masked array, or a list with None.

        inputs: the inputs as a mapping by name, or as a pandas or PyArrow table with a column for each.
        cycles: the number of cycles, if no input determines it.
        copy: whether to copy arrays that cannot be read directly, and to convert them by NumPy's `same_kind` casting.
        missing: the meaning of a missing value: NA, None, NaT or null in a table, a masked element, or None in a list.
        With "error", only an input that may be absent may lack values. With "absent", a flag that is not given is true
        where its input has a value: `c` of `x: f64 when c`. NaN is then missing as well. With "nan", a missing value of
        a float is NaN.
        progress: whether to show a line with the progress.
        monitor: outputs to plot during the run, in a notebook.

        If a cycle fails, or Ctrl-C stops the run between two cycles, `rows` of the exception has the rows known so far.
        """
        if progress or monitor:
            from .progress import run_watched

            return run_watched(self, inputs, cycles, copy, missing, progress, monitor, named)
        return self._run_columns(*gather(self.node, columns(self.node, inputs, named, missing), cycles, copy, missing))

    def _run_columns(self, values: list[Any], present: list[Any], count: int) -> Rows:
        try:
            _, taken, error = self._run(values, present, count)
        except MemoryError:
            raise MemoryError(f"the rows of {count} cycles do not fit into memory: run them in parts") from None
        try:
            rows = self._rows(taken)
        except KeyboardInterrupt as late:  # the cycles have been computed, so their rows must not be lost
            error = error or late
            rows = self._rows(taken)
        if error is not None:
            error.rows = rows
            raise error
        return rows

    def _rows(self, taken: tuple[int, int, list[tuple[Any, Any]]]) -> Rows:
        return Rows(taken[0], taken[1], self.node.outputs, taken[2])

    def finish(self) -> Rows:
        """Ends the input, and returns the remaining rows that are known. Warns if some rows stay unknown."""
        taken, unknown, why = self._finish()
        if unknown:
            warnings.warn(why, UndeterminedWarning, stacklevel=2)
        return self._rows(taken)

    def stream(self, reader: Iterable[Any], block: int = 256, *, copy: bool = False,
               missing: str = "error") -> Iterator[Rows]:
        """Runs over an iterator of inputs, and yields the rows as they become known. The rows of `finish` come last.

        reader: an iterator of blocks (mappings or tables), or of single rows. A row is a mapping of values by name, or
        a tuple in the order of the inputs.
        block: the number of single rows that are computed together.
        copy: as in `run`.
        missing: as in `run`.
        """
        from ._blocks import blocks_of

        for inputs in blocks_of(reader, self.node.inputs, block, missing):
            rows = self.run(inputs, copy=copy, missing=missing)
            if len(rows):
                yield rows
        rows = self.finish()
        if len(rows):
            yield rows

    def save(self, file: Path | None = None) -> bytes:
        """Returns the state as bytes, and writes it to `file` if one is given.

        The format is safetensors, as `--save` writes it. A program that loads the state continues with the same bits.
        An existing file is replaced in one step.
        """
        state: bytes = self._save()
        if file is not None:
            write_whole(file, state)
        return state

    def load(self, state: Path | bytes, *, map: Iterable[str] = ()) -> None:
        """Continues from a saved state, a file or bytes. `map` is like `--map`.

        If it is not a state of this program, RunError says why, and the instance stays as it is.
        """
        if isinstance(state, (bytes, bytearray, memoryview)):
            self._load("the state", bytes(state), list(map))
        else:
            file = path_of(state, "load")
            self._load(file, read_bytes(file), list(map))

    def copy(self) -> Instance:
        """Returns another instance with the same state."""
        other = Instance(self.node, seed=self.seed, horizon=self._horizon)
        other._load("the copy", self._save(), [])
        return other

    def reset(self) -> None:
        """Returns to cycle 0, with the initial parameters of the program."""
        self._reset()

    @property
    def params(self) -> Parameters:
        """The parameters by path, to read and to set."""
        return Parameters(self)

    @property
    def state(self) -> State:
        """All values that are kept from cycle to cycle, by path.

        A value that is stored in one place is a writable view. Other values are read-only copies.
        """
        return State(self)

    def __reduce__(self) -> Any:
        return _restore, (self.node, self._save(), self._horizon)

    def __copy__(self) -> Instance:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Instance:
        return self.copy()

    def __repr__(self) -> str:
        return f"<rmlc.Instance of {self.node.name} at cycle {self.cycle}>"


def _restore(node: Node, state: bytes, horizon: int) -> Instance:
    return Instance(node, load=state, horizon=horizon)


class Parameters(Mapping[str, "Any"]):
    """The parameters of an instance by path."""

    def __init__(self, instance: Instance) -> None:
        self._instance, self._ports = instance, instance.node.params

    def __getitem__(self, path: str) -> Any:
        port = self._ports[path]
        numpy()
        value: Any = self._instance._get_parameter(path)
        if value is None:
            from . import _safetensors

            saved = _safetensors.read(self._instance._save())
            value = saved.get(path, saved.get("given " + path))
        if value is None:
            from ._tools import first_parameters

            value = first_parameters(self._instance.node, self._instance.seed).get(path)
        if value is None:
            raise RunError(f"{path}: the parameter has no value yet; it starts in a later cycle, so run more cycles")
        return as_float32(value) if port.dtype == "bf16" and value.dtype.name == "uint16" else numpy().asarray(value)

    def __setitem__(self, path: str, value: Any) -> None:
        port = self._ports[path]
        array = tensor(value, path, port.dtype, port.shape)
        if not self._instance._set_parameter(path, array):
            raise RunError(f"{path}: this parameter is now stored in several places, so it cannot be set; "
                           "set it before the first cycle, or save, change and load the state")

    def update(self, values: Mapping[str, Any]) -> None:
        """Sets several parameters. An unknown name raises KeyError before any parameter is set."""
        unknown = [path for path in values if path not in self._ports]
        if unknown:
            raise KeyError(f"no parameter '{unknown[0]}'; the parameters are: {', '.join(self._ports)}")
        arrays = {path: tensor(values[path], path, self._ports[path].dtype, self._ports[path].shape)
                  for path in values}
        for path, array in arrays.items():
            self[path] = array

    def __iter__(self) -> Iterator[str]:
        return iter(self._ports)

    def __len__(self) -> int:
        return len(self._ports)

    def __repr__(self) -> str:
        return f"Parameters({', '.join(f'{path}: {port.type}' for path, port in self._ports.items())})"


class State(Mapping[str, "Any"]):
    """All values that an instance keeps from cycle to cycle, by path."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        numpy()
        views: dict[str, Any] = instance._cells()
        if instance.node.immediate:
            begun = {path: instance._get_parameter(path) for path in instance.node.params}
            self._values = {name: view for name, view in views.items() if begun.get(name, view) is not None}
            return
        # Other programs save their memories at an earlier cycle, and the inputs since then. Both are left out here.
        from . import _safetensors

        saved = _safetensors.read(instance._save(at_anchor=True))
        self._values = {name: views.get(name, value) for name, value in saved.items()
                        if name != "cycles" and not name.startswith(("input ", "before "))}

    def __getitem__(self, path: str) -> Any:
        return self._values[path]

    def __setitem__(self, path: str, value: Any) -> None:
        if path in self._instance.node.params:
            self._instance.params[path] = value
            return
        view = self[path]
        if not view.flags.writeable:
            raise RunError(f"{path}: this value is stored in several places, so it cannot be set; "
                           "save, change and load the state instead")
        view[...] = value

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"State({', '.join(self)})"
