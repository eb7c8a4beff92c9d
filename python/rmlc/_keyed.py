"""A running node with a separate state for each key, as `Keyed`."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _core
from ._arrays import describe, numpy, whole
from ._files import path_of, read_bytes, write_whole
from ._inputs import columns, gather
from ._instance import UndeterminedWarning
from ._rows import Rows

if TYPE_CHECKING:
    from ._node import Node, Path


def key_seed(key: Any, seed: int) -> int:
    """Returns the seed of a key from its text and `seed`, as `rmlc run --key-seed` computes it (docs/manual/keys.md)."""
    return _core.key_seed(key_text(key), seed)


def key_text(key: Any) -> str:
    """Returns the text of a key: `true` or `false` for a Boolean, the decimal digits of an integer."""
    return str(key).lower() if isinstance(key, bool) else str(key)


def refuse_key(node: Node, key: str) -> None:
    """Raises TypeError or ValueError if a column of this name cannot be the column of the keys."""
    if not isinstance(key, str) or not key:
        raise TypeError(f"key: the name of the column of the keys must be a non-empty str, got {describe(key)}")
    for word, ports in (("input", node.inputs), ("output", node.outputs)):
        if any(port.name == key for port in ports):
            raise ValueError(f"key: the node has an {word} '{key}'; use a column with another name for the keys")


class KeyedRows(Rows):
    """The rows of many keys, in the order in which they became known. The first column contains the keys.

    `cycles` counts the rows of all keys, starting with the first row of the instance.
    """

    def __init__(self, name: str, keys: Any, taken: tuple[int, int, list[tuple[Any, Any]]], ports: list[Any]) -> None:
        super().__init__(taken[0], taken[1], ports, taken[2])
        self._columns = {name: keys, **self._columns}

    def to_pandas(self) -> Any:
        """Returns a pandas DataFrame whose first column contains the keys."""
        frame = super().to_pandas()
        name = next(iter(self._columns))
        frame.insert(0, name, self._columns[name])
        return frame


# The types of keys in Python and in NumPy. bool comes before int, because a bool is also an int.
_KINDS: tuple[tuple[type, str], ...] = ((bool, "Booleans"), (int, "integers"), (str, "texts"))
_KIND_OF_DTYPE = {"i": "integers", "u": "integers", "b": "Booleans", "U": "texts", "T": "texts"}


def _kind_of(key: Any) -> str | None:
    """Returns the kind of a key, or None if the value cannot be a key."""
    kind = next((kind for types, kind in _KINDS if isinstance(key, types)), None)
    if kind is None and getattr(key, "shape", None) == ():  # the key is a NumPy scalar
        return _KIND_OF_DTYPE.get(key.dtype.kind)
    return kind


def _is_of_kind(text: str, kind: str) -> bool:
    if kind == "texts":
        return True
    return text in ("true", "false") if kind == "Booleans" else re.fullmatch("0|-?[1-9][0-9]*", text) is not None


class Keyed(_core.Keyed):
    """A running node with a separate state for each key. The state of a key is created when the key first occurs.

    Only one thread may use it at a time. The output rows of a key have the same bits as those of
    `rmlc run --key-seed KEY` over the rows of this key alone. A cycle that fails raises RunError, whose `rows` are the
    rows before it. Every later call raises the same error, until `load`.
    """

    def __init__(self, node: Node, key: str, *, share: Iterable[str] = (), seed: int = 0,
                 load: Path | bytes | None = None, params: Path | None = None, map: Iterable[str] = (),
                 partial: bool = False, cast_params: bool = False, horizon: int = 0) -> None:
        refuse_key(node, key)
        if isinstance(share, str):
            raise TypeError(f"share: expected a list of patterns, got a str; write [{share!r}]")
        super().__init__(node._core, whole(seed, "seed", 0, 2**64 - 1), whole(horizon, "horizon", 0, 2**63 - 1), list(share),
                         node._row_type)
        self.node, self.key = node, key
        self._beginning: dict[str, Any] = {"share": list(share), "seed": seed, "horizon": horizon}
        if params is not None:  # params are the initial parameters of new keys
            self._beginning |= {"params": params, "map": list(map), "partial": partial, "cast_params": cast_params}
        self._kind = ""  # the kind of the keys, once there are any
        self.told: list[str] = []  # messages about the loaded parameters
        if isinstance(params, Mapping):
            raise TypeError("params: expected a file, got a mapping; with keys, save the parameters to a file")
        if load is not None and params is not None:
            raise ValueError("load and params: a state already contains all parameters; give only one of the two")
        if load is not None:
            self.load(load, map=map)
        elif params is not None:
            self.told = self._load_parameters(path_of(params, "params"), list(map), partial, cast_params)

    def __len__(self) -> int:
        """The number of keys."""
        return self._size

    @property
    def keys(self) -> list[Any]:
        """The keys, in the order of their first rows. After `load` they are texts until a new row gives their type."""
        return self._of_numbers(range(self._size))

    def run(self, inputs: Any = None, /, *, copy: bool = False, missing: str = "error", **named: Any) -> KeyedRows:
        """Computes one cycle of a key for each element of the inputs' first axis. Returns the rows that became known.

        The inputs are those of `Instance.run`, and additionally the keys, by the name of their column. Keys are texts,
        integers or Booleans. A table contains this column, unless the keys are a named argument. `copy` and `missing`
        are those of `Instance.run`.
        """
        given = columns(self.node, inputs, named, missing)
        if inputs is not None and not isinstance(inputs, Mapping) and self.key not in named:
            from .tables import keys_of

            given[self.key] = keys_of(inputs, self.key)
        if given.get(self.key) is None:
            raise TypeError(f"{self.key}: missing; give the key of every row")
        texts, places = self._texts(given.pop(self.key))
        values, present, count = gather(self.node, given, len(places), copy, missing)
        _, taken, error = self._run(values, present, texts, places, count)
        rows = self._rows(taken)
        if error is not None:
            error.rows = rows
            raise error
        return rows

    def step(self, *values: Any, **named: Any) -> Any:
        """Computes one cycle of a key. The key is a named argument, and the inputs are those of `Instance.step`.

        Returns the same as `Instance.step` for the rows of this key alone: the row, or the list of the rows that this
        cycle made known. Tensors are copies. A cycle that fails raises RunError.
        """
        if self.key not in named:
            raise TypeError(f"{self.key}: missing; give the key of the row")
        key = named.pop(self.key)
        kind = _kind_of(key)
        if kind is None:
            raise TypeError(f"{self.key}: {describe(key)} is not a key; a key is a text, an integer or a Boolean")
        text = self._written(key, kind)
        if not text:
            raise ValueError(f"{self.key}: the key is empty; expected a text with at least one character")
        self._be_of_kind(kind)
        return self._step(text, *values, **named)

    def save(self, file: Path | None = None) -> bytes:
        """Returns the states of all keys as bytes, and writes them to `file` if one is given.

        The format is that of `rmlc run --key … --save`. A program that loads the states continues with the same bits.
        An existing file is replaced in one step.
        """
        states: bytes = self._save()
        if file is not None:
            write_whole(file, states)
        return states

    def load(self, states: Path | bytes, *, map: Iterable[str] = ()) -> None:
        """Continues from saved states of all keys, which replace the present ones. States of the command fit as well.

        If they are not states of this program, RunError says why, and nothing changes.
        """
        if isinstance(states, (bytes, bytearray, memoryview)):
            self._load("the states", bytes(states), list(map))
        else:
            file = path_of(states, "load")
            self._load(file, read_bytes(file), list(map))
        self._kind = ""

    def copy(self) -> Keyed:
        """Returns a copy with the states of all keys.

        The file `params` is read again, because new keys of the copy start with its parameters.
        """
        return _restore(*self._parts())

    def __copy__(self) -> Keyed:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Keyed:
        return self.copy()

    def __reduce__(self) -> Any:
        return _restore, self._parts()

    def _parts(self) -> tuple[Node, str, dict[str, Any], bytes, str]:
        return self.node, self.key, self._beginning, self._save(), self._kind

    def finish(self) -> KeyedRows:
        """Ends the input, and returns the remaining rows that are known. Warns if some rows stay unknown."""
        taken, unknown, why = self._finish()
        if unknown:
            warnings.warn(why, UndeterminedWarning, stacklevel=2)
        return self._rows(taken)

    def _texts(self, keys: Any) -> tuple[list[str], Any]:
        """Returns the distinct keys as texts, and for each row the index of its key."""
        np = numpy()
        if isinstance(keys, (list, tuple)):
            self._check_list(keys)
        if np.ma.is_masked(keys):
            row = int(np.ma.getmaskarray(keys).argmax())
            raise ValueError(f"{self.key}: row {row} is masked; give a key for every row")
        array = np.asarray(keys)
        if array.ndim != 1:
            raise TypeError(f"{self.key}: expected one key for each row, got an array of shape {array.shape}")
        kind = _KIND_OF_DTYPE.get(array.dtype.kind)
        if array.dtype.kind == "O":
            wrong = next((k for k, key in enumerate(array) if not isinstance(key, str)), None)
            if wrong is not None:
                raise TypeError(f"{self.key}: row {wrong} is {array[wrong]!r}, which is not a key; expected a text")
            kind = "texts"
        if len(array) == 0:
            return [], np.zeros(0, np.int64)
        if kind is None:
            raise TypeError(f"{self.key}: {array.dtype} is not a type of keys; a key is a text, an integer or a "
                            "Boolean")
        unique, places = np.unique(array, return_inverse=True)
        texts = [self._written(key, kind) for key in unique.tolist()]
        if "" in texts:
            row = int(np.flatnonzero(places == texts.index(""))[0])
            raise ValueError(f"{self.key}: row {row} is empty; give a key for every row")
        self._be_of_kind(kind)
        return texts, np.ascontiguousarray(places, np.int64)

    def _check_list(self, keys: Any) -> None:
        """Checks the types of keys in a list.

        NumPy would convert all keys to texts if one of them is a text. Then NaN, for instance, would be the key 'nan'.
        """
        if len({*map(type, keys)} - {str}) == 0:
            return
        kinds = [_kind_of(key) for key in keys]
        for row, (key, kind) in enumerate(zip(keys, kinds)):
            if kind is None and isinstance(key, (list, tuple)):
                raise TypeError(f"{self.key}: expected one key for each row; row {row} is {describe(key)}")
            if kind is None:
                raise TypeError(f"{self.key}: row {row} is {key!r}, which is not a key; a key is a text, an integer or a "
                                "Boolean")
            if kind != kinds[0]:
                raise TypeError(f"{self.key}: row {row} is {key!r}, but the keys before it are {kinds[0]}")

    def _written(self, key: Any, kind: str) -> str:
        """Returns the text of a key as the command writes it."""
        if kind == "texts" and not isinstance(key, str):  # the key is the marker of a missing text in an array of
                                                          # texts
            raise TypeError(f"{self.key}: {key!r} is not a key; a key is a text, an integer or a Boolean")
        text = key_text(bool(key) if kind == "Booleans" else key)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{self.key}: {text!a} cannot be written as UTF-8; remove its lone surrogates") from None
        return text

    def _be_of_kind(self, kind: str) -> None:
        """Checks that the keys are of one kind.

        Saved states do not contain the kind of their keys, so the first key after `load` determines it.
        """
        if self._kind == kind:
            return
        if self._kind:
            raise TypeError(f"{self.key}: {kind}, but the keys so far are {self._kind}")
        for number in range(self._size):
            if not _is_of_kind(text := self._text(number), kind):
                raise TypeError(f"{self.key}: {kind}, but one of the loaded keys is {text!r}")
        self._kind = kind

    def _of_numbers(self, numbers: Iterable[int]) -> list[Any]:
        texts = [self._text(int(number)) for number in numbers]
        if self._kind == "integers":
            return [int(text) for text in texts]
        return [text == "true" for text in texts] if self._kind == "Booleans" else texts

    def _rows(self, taken: tuple[Any, Any]) -> KeyedRows:
        np = numpy()
        rows, numbers = taken
        unique, places = np.unique(numbers, return_inverse=True)
        known = self._of_numbers(unique)
        dtype = {"integers": None, "Booleans": np.bool_}.get(self._kind, np.object_)
        keys = np.array(known, dtype)[places] if known else np.zeros(0, dtype or np.int64)
        return KeyedRows(self.key, keys, rows, self.node.outputs)


def _restore(node: Node, key: str, beginning: dict[str, Any], states: bytes, kind: str) -> Keyed:
    again = Keyed(node, key, **beginning)
    again.load(states)
    again._kind = kind
    return again
