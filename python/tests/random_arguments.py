"""Random arguments for `step` and `run`, each with its expected effect. They depend only on the number of the case.

The rules of legal arguments are written here a second time, independently of the package. Each kind of value states
whether an input of a given type accepts it, with which numbers, or with which exceptions it is refused. `Bench.check`
makes a call, and returns a description of a wrong effect.
"""

from __future__ import annotations

import array
import collections
import math
import random
import struct
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from random_numbers import (DTYPES, NAME, BadRepr, Given, Oops, WildAttributes, random_float, result_of, round_bf16,
                            scalar_value)

import rmlc

SHAPES: list[tuple[int, ...]] = [(), (3,), (2, 3), (1, 2, 2), (0, 2)]


# ---- arrays ------------------------------------------------------------------------------------


class Subclass(np.ndarray[Any, Any]):
    pass


class WithArray:
    def __init__(self, result: Any) -> None:
        self.result = result

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return result_of(self.result)


def random_array(source: random.Random, shape: tuple[int, ...], name: str) -> Any:
    count = math.prod(shape)
    if name == "bool":
        values: Any = [source.random() < 0.5 for _ in range(count)]
    elif np.dtype(name).kind in "iu":
        info = np.iinfo(name)
        values = [source.choice([info.min, info.max, source.randint(info.min, info.max)]) for _ in range(count)]
    else:
        values = [random_float(source) for _ in range(count)]
    with np.errstate(over="ignore"):
        return np.array(values, name).reshape(shape)


def array_value(source: random.Random, dtype: str, shape: tuple[int, ...], bench: Bench | None,
                copy: bool = False) -> Given:
    """Returns a random value for an input that expects exactly this type and shape."""
    name = DTYPES[dtype]
    kind = np.dtype(name).kind
    right = random_array(source, shape, name)
    taken = round_bf16(right) if dtype == "bf16" else right
    size = right.size
    # A copy accepts any layout. Values of bf16 are always copied.
    lies = () if copy or dtype == "bf16" else (ValueError,)

    def exact() -> Given:
        return Given("the array", right, taken)

    def read_only() -> Given:
        right.flags.writeable = False
        return Given("read-only", right, taken)

    def subclass() -> Given:
        value = right.view(Subclass) if source.random() < 0.7 or right.ndim != 2 else np.asmatrix(right)
        return Given("a subclass", value, taken)

    def view_of_more() -> Given:
        more = np.concatenate([right[None], right[None]])
        return Given("a contiguous part", more[1], taken)

    def other_order() -> Given:
        value = np.asfortranarray(right)
        return Given("Fortran order", value, taken, () if value.flags.c_contiguous else lies)

    def strided() -> Given:
        if not right.ndim:
            return exact()
        axis = source.randrange(right.ndim)
        value = np.repeat(right, 2, axis)[tuple(slice(None, None, 2 if k == axis else None)
                                                for k in range(right.ndim))]
        return Given("strides", value, taken, () if value.flags.c_contiguous else lies)

    def reverse() -> Given:
        value = np.flip(np.flip(right).copy())
        return Given("negative strides", value, taken, () if value.flags.c_contiguous else lies)

    def misaligned() -> Given:
        data = bytearray(right.nbytes + 1)
        data[1:] = right.tobytes()
        value = np.frombuffer(memoryview(data)[1:], name, size).reshape(shape) if size else right
        # A step copies its arrays in any case, so they may be misaligned.
        return Given("misaligned", value, taken, () if value.flags.aligned or bench is not None else lies)

    def repeated() -> Given:
        if not size or not shape:
            return exact()
        value = np.broadcast_to(right.flat[0], shape)
        of = np.ascontiguousarray(value)
        return Given("stride 0", value, round_bf16(of) if dtype == "bf16" else of,
                     () if value.flags.c_contiguous else lies)

    def byte_order() -> Given:
        value = right.astype(right.dtype.newbyteorder())
        same = value.dtype == right.dtype
        # Another byte order loses nothing, so a copy may convert it.
        return Given("byte order", value, taken, () if same or copy else (TypeError,))

    def other_type() -> Given:
        other = source.choice([each for each in DTYPES.values() if each != name])
        value = random_array(source, shape, other)
        if dtype == "bf16" and other == "uint16":
            return Given("bits of bf16", value, (value.astype(np.uint32) << 16).view(np.float32))
        if copy and np.can_cast(value.dtype, name, "same_kind"):
            with np.errstate(over="ignore"):
                of = round_bf16(value.astype(np.float32)) if dtype == "bf16" else value.astype(name)
            large = kind == "f" and bool((np.isinf(of) & ~np.isinf(value)).any())
            return Given("another type, copied", value, of, (ValueError,) if large else ())
        return Given("another type", value, errors=(TypeError,))

    def no_type() -> Given:
        value = source.choice([right.astype(object), np.zeros(shape, "S3"), np.zeros(shape, "U3"),
                               np.zeros(shape, "i4,f8"), np.zeros(shape, "M8[s]"), np.zeros(shape, "m8[s]"),
                               np.zeros(shape, complex), np.zeros(shape, "V4"), np.zeros(shape, np.longdouble)])
        legal = copy and np.can_cast(value.dtype, name, "same_kind")
        return Given("no type for it", value, taken if not legal else np.zeros(shape, name),
                     () if legal else (TypeError,))

    def other_shape() -> Given:
        wrong = source.choice([(*shape, 1), (1, *shape), (*shape[:-1], (shape or (0,))[-1] + 1), (7,), (0, 5, 5),
                               (1,) * 9])
        return Given("another shape", random_array(source, wrong, name), errors=(ValueError,))

    def huge() -> Given:
        wrong = source.choice([(10**12,), (10**12, *shape), (*shape, 2**40)])
        value = np.broadcast_to(np.zeros((), name), wrong)
        return Given("huge", value, taken, (ValueError,) if value.size else (ValueError,))

    def masked() -> Given:
        mask = np.zeros(shape, bool)
        if size and source.random() < 0.7:
            mask.flat[source.randrange(size)] = True
        return Given("a masked array", np.ma.MaskedArray(right, mask), taken, (ValueError,) if mask.any() else ())

    def with_array() -> Given:
        return Given("__array__", WithArray(right), taken)

    def bad_array() -> Given:
        error = source.choice([TypeError("no"), ValueError("no"), Oops("no"), MemoryError("no")])
        value = source.choice([error, 5, "nonsense", [1], None])
        return Given("__array__ of nonsense", WithArray(value), errors=(TypeError, ValueError, MemoryError))

    def reentrant() -> Given:
        if bench is None:
            return exact()
        return Given("uses the instance", WithArray(bench.instance.save), errors=(TypeError, RuntimeError), named=False)

    def lists() -> Given:
        value = right.tolist()
        if not size and len(shape) > 1:  # a list has no further axes there
            return exact()
        if dtype == "f16":
            value = right.astype(float).tolist()
        return Given("lists", value, taken)

    def wrong_lists() -> Given:
        if not size or not shape:
            return exact()
        deep = right.tolist()
        inner = deep
        while isinstance(inner[0], list):
            inner = inner[0]
        what = source.choice(["longer", "None", "text", "list", "empty", "beyond", "kind"])
        if what == "longer":
            inner.append(inner[0])
        elif what == "empty":
            deep = []
        elif what == "beyond":
            if kind == "f":
                inner[0] = 10**400
            else:
                inner[0] = 2**70
        elif what == "kind":
            inner[0] = {"b": 1, "i": 1.5, "u": 1.5, "f": 1j}[kind]
        else:
            inner[0] = {"None": None, "text": "1", "list": [[1]]}[what]
        if what == "kind" and kind == "b" and any(isinstance(each, bool) for each in np.ravel(right).tolist()[1:]):
            pass  # NumPy converts both to integers
        return Given("wrong lists: " + what, deep, errors=(TypeError, ValueError))

    def bool_in_list() -> Given:
        if not shape or not size or kind == "b":
            return exact()
        value = right.astype(float).tolist() if kind == "f" else right.tolist()
        inner = value
        while isinstance(inner[0], list):
            inner = inner[0]
        inner[0] = True
        return Given("a Boolean in a list", value, errors=(TypeError,))

    def no_array() -> Given:
        value = source.choice([
            None, "abc", b"abc", bytearray(b"abc"), 1, 2.5, True, {}, {"a": 1}, set(), object(), BadRepr(),
            (k for k in [1]), range(3), len, Ellipsis, collections.deque([1.0]), memoryview(b"123"), 10**400,
            array.array("d", [1.0]), struct.Struct("d"), rmlc, np.float32(1.0), np.array(1.0), [object()], [[], [1]]])
        return Given("no array", value, errors=(TypeError, ValueError))

    def wild() -> Given:
        return Given("attributes that raise", WildAttributes(), errors=(TypeError, Oops), named=False)

    def locked() -> Given:
        """An array over a buffer that does not belong to NumPy."""
        value = np.frombuffer(right.tobytes(), name).reshape(shape) if size else right
        return Given("over bytes", value, taken)

    return source.choices(
        [exact, read_only, subclass, view_of_more, other_order, strided, reverse, misaligned, repeated, byte_order,
         other_type, no_type, other_shape, huge, masked, with_array, bad_array, reentrant, lists, wrong_lists,
         bool_in_list, no_array, wild, locked],
        [8, 2, 3, 3, 4, 4, 4, 4, 3, 3, 8, 3, 6, 2, 4, 2, 3, 1, 6, 6, 2, 8, 1, 2])[0]()


# ---- calls -------------------------------------------------------------------------------------


def source_text(dtype: str, shape: tuple[int, ...]) -> str:
    """Returns a program that doubles its input, if its type has arithmetic, and counts cycles."""
    size = f"[{', '.join(map(str, shape))}]" if shape else ""
    value = f"{NAME} + {NAME}" if dtype not in ("bool", "f16", "bf16") else f"0 fby {NAME}"
    value = NAME if "fby" in value else value
    return (f"node main({NAME}: {dtype}{size}) -> (o: {dtype}{size}, count: i32)\n"
            f"  o = {value};\n  count = (0 fby count) + 1;\n")


def outcome(taken: Any, dtype: str) -> Any:
    """Returns the output of the program, computed by NumPy."""
    if dtype in ("bool", "f16", "bf16"):
        return taken
    with np.errstate(all="ignore"):
        return (taken + taken).astype(DTYPES[dtype])


def same(found: Any, expected: Any) -> bool:
    """Compares the bits, except the payloads of NaN."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    if found.dtype.kind == "f":
        nan = np.isnan(expected)
        return bool((np.isnan(found) == nan).all()) and np.where(nan, 0, found).tobytes() == np.where(
            nan, 0, expected).tobytes()
    return bool(found.tobytes() == expected.tobytes())


class Bench:
    """A running program that doubles and counts, and its expected cycle."""

    def __init__(self, dtype: str, shape: tuple[int, ...]) -> None:
        self.dtype, self.shape = dtype, shape
        self.node = rmlc.compile(source_text(dtype, shape)).node()
        self.instance, self.other = self.node.start(), self.node.start()
        self.cycle = 0

    def zero(self) -> Any:
        value = np.zeros(self.shape, DTYPES[self.dtype])
        return value if self.shape else value.item()

    def _count(self, cycles: int) -> Any:
        self.cycle += cycles
        return np.arange(self.cycle - cycles + 1, self.cycle + 1, dtype=np.int32)

    def check(self, case: int) -> str:
        """Makes a call. Returns an empty text if it was right, and otherwise what was wrong."""
        source = random.Random(f"{self.dtype}{self.shape}{case}")
        kind = source.choices(["step", "run", "call"], [10, 10, 2])[0]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message=".*matrix subclass.*")
            warnings.filterwarnings("ignore", message="overflow encountered in cast")  # this warning occurs in copies
            said = {"step": self._step, "run": self._run, "call": self._call}[kind](source)
        if not said and self.instance.cycle != self.cycle:
            said = f"the instance is at cycle {self.instance.cycle}, not {self.cycle}"
        return f"{kind} of {self.dtype}{list(self.shape)}: {said}" if said else ""

    def _try(self, given: Given, call: Callable[[], Any], judge: Callable[[Any], str]) -> str:
        before = sys.getrefcount(given.value)
        said = ""
        try:
            result = call()
        except Exception as error:
            if not given.errors:
                said = f"{given.what} was refused: {error!r}"
            elif not isinstance(error, given.errors):
                said = f"{given.what}: {error!r} instead of {[each.__name__ for each in given.errors]}"
            elif given.named and NAME not in str(error):
                said = f"{given.what}: the name is not in {error!r}"
            del error
        else:
            said = f"{given.what} was taken: {result!r}" if given.errors else judge(result)
            if said:
                self.cycle = self.instance.cycle
            del result
        shared = isinstance(given.value, (str, bytes, int, float, tuple, type, type(None), type(sys), type(len)))
        if not shared and sys.getrefcount(given.value) != before:
            said += f" {given.what}: {sys.getrefcount(given.value) - before} references more to {given.value!r}"
        return said

    def _step(self, source: random.Random) -> str:
        given = array_value(source, self.dtype, self.shape, self) if self.shape else scalar_value(
            source, self.dtype, self)

        def judge(row: Any) -> str:
            count = int(self._count(1)[0])
            expected = outcome(given.taken, self.dtype)
            found = row.o
            if not self.shape:
                if type(found) is not {"b": bool, "i": int, "u": int, "f": float}[expected.dtype.kind]:
                    return f"a {type(found).__name__} came out"
                found = np.array(found, expected.dtype)
            elif self.dtype == "bf16":
                found = (np.asarray(found).astype(np.uint32) << 16).view(np.float32) if (
                    found.dtype == np.uint16) else found
            if not same(found, expected) or row.count != count:
                return f"{given.what}: {given.value!r} gives {row.o!r}, {row.count}, not {expected!r}, {count}"
            return ""

        if source.random() < 0.5:
            return self._try(given, lambda: self.instance.step(given.value), judge)
        return self._try(given, lambda: self.instance.step(quantity=given.value), judge)

    def _run(self, source: random.Random) -> str:
        cycles = source.choice([0, 1, 2, 3, 5, 70])
        copy = source.random() < 0.3
        given = array_value(source, self.dtype, (cycles, *self.shape), None, copy)
        if given.value is None or given.what == "huge":
            given.errors = (TypeError, ValueError, MemoryError)
            given.named = False
            if given.what == "huge" and copy:
                return ""  # may be legal, and would take long
        # A value with another number of cycles gives another run, which is not an error.
        if not given.what.startswith(("another shape", "wrong lists")):
            extent: dict[str, Any] = source.choice([{}, {"cycles": cycles}])
        else:
            extent = {"cycles": cycles}
        if given.what in ("no array", "wrong lists: empty", "lists") and not extent:
            extent = {"cycles": cycles}
        single = not self.shape and np.ndim(0 if not isinstance(given.value, (int, float)) else given.value) == 0
        if given.what == "no array" and (single or cycles == 0):
            return ""
        if given.what.startswith(("masked", "a masked")) and isinstance(given.value, np.ma.MaskedArray):
            given.named = True

        def judge(rows: Any) -> str:
            count = self._count(cycles)
            expected = outcome(given.taken, self.dtype)
            if not same(rows.o, expected) or not same(rows["count"], count):
                return f"{given.what}: {given.value!r} gives {rows.o!r}, {rows['count']!r}, not {expected!r}, {count!r}"
            return ""

        if source.random() < 0.5:
            return self._try(given, lambda: self.instance.run({NAME: given.value}, copy=copy, **extent), judge)
        return self._try(given, lambda: self.instance.run(quantity=given.value, copy=copy, **extent), judge)

    def _call(self, source: random.Random) -> str:
        """Makes a call that is wrong independently of its values."""
        zero = self.zero()
        many = np.zeros((2, *self.shape), DTYPES[self.dtype])
        instance: Any = self.instance  # without types, so that wrong calls are possible
        calls: list[tuple[str, Callable[[], Any], tuple[type[BaseException], ...], str]] = [
            ("no argument", lambda: instance.step(), (TypeError,), NAME),
            ("too many", lambda: instance.step(zero, zero), (TypeError,), "1"),
            ("twice", lambda: instance.step(zero, quantity=zero), (TypeError,), NAME),
            ("another name", lambda: instance.step(quality=zero), (TypeError,), "quality"),
            ("one name more", lambda: instance.step(quantity=zero, quality=zero), (TypeError,), "quality"),
            ("a name as surrogates", lambda: instance.step(**{"\ud800": zero}), (TypeError, ValueError), ""),
            ("a name with a zero", lambda: instance.step(**{NAME + "\0": zero}), (TypeError,), NAME),
            ("None", lambda: instance.step(None), (TypeError,), NAME),
            ("run of nothing", lambda: instance.run(), (TypeError,), NAME),
            ("run by another name", lambda: instance.run(quantity=many, quality=many), (TypeError,), "quality"),
            ("run, twice", lambda: instance.run({NAME: many}, quantity=many), (TypeError,), NAME),
            ("run, no mapping", lambda: instance.run(5), (TypeError,), ""),
            ("run, two mappings", lambda: instance.run({}, {}), (TypeError,), ""),
            ("run, a key that is no text", lambda: instance.run({5: many}), (TypeError,), "5"),
            ("too many cycles", lambda: instance.run(quantity=many, cycles=3), (ValueError,), NAME),
            ("cycles below 0", lambda: instance.run(quantity=many, cycles=-1), (ValueError,), "cycles"),
            ("cycles of floats", lambda: instance.run(quantity=many, cycles=2.0), (TypeError,), "cycles"),
            ("cycles as text", lambda: instance.run(quantity=many, cycles="2"), (TypeError,), "cycles"),
            ("cycles beyond", lambda: instance.run(quantity=many, cycles=2**64), (ValueError,), "cycles"),
            ("a seed below 0", lambda: self.node.start(seed=-1), (ValueError, TypeError), "seed"),
            ("a seed beyond", lambda: self.node.start(seed=2**64), (ValueError, TypeError), "seed"),
            ("a horizon below 0", lambda: self.node.start(horizon=-1), (ValueError, TypeError), "horizon"),
            ("load of no state", lambda: instance.load(source.randbytes(source.randint(0, 99))), (rmlc.RunError,), ""),
            ("load of a number", lambda: instance.load(5), (TypeError,), ""),
            ("no parameter", lambda: instance.params["w"], (KeyError,), "w"),
            ("an instance of nothing", lambda: type(instance)(None), (TypeError, AttributeError), ""),
            ("an output that is none", lambda: instance.run(quantity=many[:0]).output, (AttributeError,), "output"),
        ]
        what, call, errors, words = source.choice(calls)
        try:
            result = call()
        except errors as error:
            return "" if words in str(error) else f"{what}: {words!r} is not in {error!r}"
        except Exception as error:
            return f"{what}: {error!r} instead of {[each.__name__ for each in errors]}"
        return f"{what} was taken: {result!r}"


def benches() -> list[Bench]:
    return [Bench(dtype, shape) for dtype in DTYPES for shape in SHAPES]
