"""A running node with an instance for each key."""

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
    """The seed of a key, as `rmlc run --key-seed` makes it of a key's text and `--seed`: see docs/manual/keys.md."""
    return _core.key_seed(key_text(key), seed)


def key_text(key: Any) -> str:
    """What a key is called: a Boolean `true` or `false`, an integer in decimal."""
    return str(key).lower() if isinstance(key, bool) else str(key)


def refuse_key(node: Node, key: str) -> None:
    """Raises TypeError or ValueError unless a column of this name can be that of the keys."""
    if not isinstance(key, str) or not key:
        raise TypeError("key: the name of the column of the keys, a str")
    for word, ports in (("input", node.inputs), ("output", node.outputs)):
        if any(port.name == key for port in ports):
            raise ValueError(f"key: the node has an {word} '{key}'; the keys are a column of their own")


class KeyedRows(Rows):
    """Rows of many keys, in the order in which they became known: beside the outputs there is the column of the keys.

    `cycles` counts the rows of all keys, from the first one of the instance on.
    """

    def __init__(self, name: str, keys: Any, taken: tuple[int, int, list[tuple[Any, Any]]], ports: list[Any]) -> None:
        super().__init__(taken[0], taken[1], ports, taken[2])
        self._columns = {name: keys, **self._columns}

    def to_pandas(self) -> Any:
        """A DataFrame whose first column is that of the keys."""
        frame = super().to_pandas()
        name = next(iter(self._columns))
        frame.insert(0, name, self._columns[name])
        return frame


# What keys can be, as Python and as NumPy have it; a bool is an int as well.
_KINDS: tuple[tuple[type, str], ...] = ((bool, "Booleans"), (int, "integers"), (str, "texts"))
_KIND_OF_DTYPE = {"i": "integers", "u": "integers", "b": "Booleans", "U": "texts", "T": "texts"}


def _kind_of(key: Any) -> str | None:
    """What kind of key it is; None: of none."""
    kind = next((kind for types, kind in _KINDS if isinstance(key, types)), None)
    if kind is None and getattr(key, "shape", None) == ():  # of NumPy
        return _KIND_OF_DTYPE.get(key.dtype.kind)
    return kind


def _is_of_kind(text: str, kind: str) -> bool:
    if kind == "texts":
        return True
    return text in ("true", "false") if kind == "Booleans" else re.fullmatch("0|-?[1-9][0-9]*", text) is not None


class Keyed(_core.Keyed):
    """A node that runs with a state for each key, made when the key is first seen; used by one thread at a time.

    A key has the rows, to the bit, that `rmlc run --key-seed KEY` gives of its rows alone. A cycle that fails raises
    RunError, which has the rows before it as `rows`, and so does every call after it until `load`.
    """

    def __init__(self, node: Node, key: str, *, share: Iterable[str] = (), seed: int = 0,
                 load: Path | bytes | None = None, params: Path | None = None, map: Iterable[str] = (),
                 partial: bool = False, horizon: int = 0) -> None:
        refuse_key(node, key)
        if isinstance(share, str):
            raise TypeError("share: a list of patterns, not a str")
        super().__init__(node._core, whole(seed, "seed", 0, 2**64 - 1), whole(horizon, "horizon", 0, 2**63 - 1), list(share),
                         node._row_type)
        self.node, self.key = node, key
        self._beginning: dict[str, Any] = {"share": list(share), "seed": seed, "horizon": horizon}
        if params is not None:  # with which keys begin that are not there yet
            self._beginning |= {"params": params, "map": list(map), "partial": partial}
        self._kind = ""  # of the keys' type, as NumPy says it, once there are any
        self.told: list[str] = []  # of parameters that were loaded
        if isinstance(params, Mapping):
            raise TypeError("params: a file; keys have no mapping of parameters")
        if load is not None and params is not None:
            raise ValueError("load and params: a state holds all parameters; give one of both")
        if load is not None:
            self.load(load, map=map)
        elif params is not None:
            self.told = self._load_parameters(path_of(params, "params"), list(map), partial)

    def __len__(self) -> int:
        """How many keys there are."""
        return self._size

    @property
    def keys(self) -> list[Any]:
        """The keys, in the order in which they were first seen; of a state that was loaded texts, until more come."""
        return self._of_numbers(range(self._size))

    def run(self, inputs: Any = None, /, *, copy: bool = False, **named: Any) -> KeyedRows:
        """Computes a cycle of its key for each element of the inputs' first axis; returns the rows that became known.

        Inputs are those of `Instance.run`, and one more by the name of the keys: texts, integers or Booleans. A table has
        a column of this name, unless the keys are named.
        """
        given = columns(self.node, inputs, named)
        if inputs is not None and not isinstance(inputs, Mapping) and self.key not in named:
            from .tables import keys_of

            given[self.key] = keys_of(inputs, self.key)
        if given.get(self.key) is None:
            raise TypeError(f"{self.key}: missing; every row belongs to a key")
        texts, places = self._texts(given.pop(self.key))
        values, present, count = gather(self.node, given, len(places), copy)
        _, taken, error = self._run(values, present, texts, places, count)
        rows = self._rows(taken)
        if error is not None:
            error.rows = rows
            raise error
        return rows

    def step(self, *values: Any, **named: Any) -> Any:
        """Computes one cycle of a key, which is an argument by the name of the keys; inputs are those of `Instance.step`.

        Returns what `Instance.step` would of the key's rows alone: the row, or the list of those that this cycle made
        known. Tensors are copies. A cycle that fails raises RunError.
        """
        if self.key not in named:
            raise TypeError(f"{self.key}: missing; every row belongs to a key")
        key = named.pop(self.key)
        kind = _kind_of(key)
        if kind is None:
            raise TypeError(f"{self.key}: {describe(key)} is no key; texts, integers and Booleans are")
        text = self._written(key, kind)
        if not text:
            raise ValueError(f"{self.key}: it is empty, and no key")
        self._be_of_kind(kind)
        return self._step(text, *values, **named)

    def save(self, file: Path | None = None) -> bytes:
        """The states of all keys, from which this program goes on to the bit: as `rmlc run --key … --save` writes them.

        Returns the bytes. A file is replaced as a whole.
        """
        states: bytes = self._save()
        if file is not None:
            write_whole(file, states)
        return states

    def load(self, states: Path | bytes, *, map: Iterable[str] = ()) -> None:
        """Goes on from saved states of all keys, those of the command among them; they take the place of what there is.

        If they are none of this program, all stays as it is and RunError says why.
        """
        if isinstance(states, (bytes, bytearray, memoryview)):
            self._load("the states", bytes(states), list(map))
        else:
            file = path_of(states, "load")
            self._load(file, read_bytes(file), list(map))
        self._kind = ""

    def copy(self) -> Keyed:
        """Others, which go on from here: the states of all keys. A file of `params` is read again, as new keys begin with it."""
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
        """The rows that no further cycle can change, at the end of the input; warns of those that stay unknown."""
        taken, unknown, why = self._finish()
        if unknown:
            warnings.warn(why, UndeterminedWarning, stacklevel=2)
        return self._rows(taken)

    def _texts(self, keys: Any) -> tuple[list[str], Any]:
        """Each key once, as text, and for each row which of them is its."""
        np = numpy()
        if isinstance(keys, (list, tuple)):
            self._check_list(keys)
        if np.ma.is_masked(keys):
            raise ValueError(f"{self.key}: row {int(np.ma.getmaskarray(keys).argmax())} is masked, and no key")
        array = np.asarray(keys)
        if array.ndim != 1:
            raise TypeError(f"{self.key}: one key for each row, not an array of shape {array.shape}")
        kind = _KIND_OF_DTYPE.get(array.dtype.kind)
        if array.dtype.kind == "O":
            wrong = next((k for k, key in enumerate(array) if not isinstance(key, str)), None)
            if wrong is not None:
                raise TypeError(f"{self.key}: row {wrong} is {array[wrong]!r}, which is no key; a text is one")
            kind = "texts"
        if len(array) == 0:
            return [], np.zeros(0, np.int64)
        if kind is None:
            raise TypeError(f"{self.key}: {array.dtype} is no type of keys; texts, integers and Booleans are")
        unique, places = np.unique(array, return_inverse=True)
        texts = [self._written(key, kind) for key in unique.tolist()]
        if "" in texts:
            raise ValueError(f"{self.key}: row {int(np.flatnonzero(places == texts.index(''))[0])} is empty, and no key")
        self._be_of_kind(kind)
        return texts, np.ascontiguousarray(places, np.int64)

    def _check_list(self, keys: Any) -> None:
        """NumPy would make texts of all keys as soon as one is a text: NaN, say, would be the key 'nan'."""
        if len({*map(type, keys)} - {str}) == 0:
            return
        kinds = [_kind_of(key) for key in keys]
        for row, (key, kind) in enumerate(zip(keys, kinds)):
            if kind is None and isinstance(key, (list, tuple)):
                raise TypeError(f"{self.key}: one key for each row; row {row} is {describe(key)}")
            if kind is None:
                raise TypeError(f"{self.key}: row {row} is {key!r}, which is no key; texts, integers and Booleans are")
            if kind != kinds[0]:
                raise TypeError(f"{self.key}: row {row} is {key!r}, but the keys before it are {kinds[0]}")

    def _written(self, key: Any, kind: str) -> str:
        """As the command has it."""
        if kind == "texts" and not isinstance(key, str):  # what stands for a missing text in an array of texts
            raise TypeError(f"{self.key}: {key!r} is no key; texts, integers and Booleans are")
        text = key_text(bool(key) if kind == "Booleans" else key)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{self.key}: {text!a} is no text that can be written as UTF-8") from None
        return text

    def _be_of_kind(self, kind: str) -> None:
        """Keys are of one kind. A file of states says of none which it is: there, the first one that comes does."""
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
