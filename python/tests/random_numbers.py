"""Random numbers as arguments, each with the value that the program gets, or its refusal. See random_arguments.py."""

from __future__ import annotations

import array
import dataclasses
import decimal
import fractions
import math
import random
import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import rmlc

if TYPE_CHECKING:
    from random_arguments import Bench

NAME = "quantity"
DTYPES = {"bool": "bool", "i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16", "i32": "int32",
          "u32": "uint32", "i64": "int64", "u64": "uint64", "f16": "float16", "bf16": "float32", "f32": "float32",
          "f64": "float64"}


@dataclasses.dataclass
class Given:
    """A value, and the value that the program gets for it, or the exceptions by which it is refused."""

    what: str
    value: Any
    taken: Any = None  # the value that the program gets, an array
    errors: tuple[type[BaseException], ...] = ()
    named: bool = True  # whether the message contains the name of the input
    copy: bool = False


class Oops(Exception):
    """An exception that is raised by a value with user-defined methods."""


# ---- single values -----------------------------------------------------------------------------


def result_of(result: Any) -> Any:
    """Returns the result of a user-defined method. An exception is raised, and a function is called."""
    if isinstance(result, BaseException):
        raise type(result)(*result.args)
    return result() if callable(result) else result


class HasFloat:
    def __init__(self, result: Any) -> None:
        self.result = result

    def __float__(self) -> Any:
        return result_of(self.result)


class HasIndex:
    def __init__(self, result: Any) -> None:
        self.result = result

    def __index__(self) -> Any:
        return result_of(self.result)


class BadRepr:
    def __repr__(self) -> str:
        raise Oops("repr")


class WildAttributes:
    def __getattr__(self, name: str) -> Any:
        raise Oops(name)


class MyInt(int):
    pass


class MyFloat(float):
    pass


def narrowed(number: Any, dtype: str) -> Any:
    """Returns the number of the type that is nearest to a Python number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if dtype == "bf16":
            return round_bf16(np.array(float(number)))
        if dtype == "f16":
            return np.array(float(number)).astype(np.float16)
        return np.array(number).astype(DTYPES[dtype])


def round_bf16(values: Any) -> Any:
    """Rounds to the nearer neighbour in bf16, computed in float64, with ties to the even one."""
    with np.errstate(all="ignore"):
        single = np.asarray(values, np.float64)
        below = (single.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        above = (below.view(np.uint32) + np.uint32(0x10000)).view(np.float32)
        up, down = np.abs(above.astype(np.float64) - single), np.abs(single - below.astype(np.float64))
        odd = (below.view(np.uint32) >> 16) & 1 == 1
        overflow = np.where(np.isinf(above), np.abs(single) >= 2.0**128 - 2.0**119, False)
        nearer = np.where(np.isinf(above), overflow, (up < down) | ((up == down) & odd))
        rounded = np.where(nearer, above, below)
        rounded = np.where(np.isinf(single), single.astype(np.float32), rounded)
        return np.where(np.isnan(single), np.float32(np.nan), rounded).astype(np.float32)


def float_verdict(number: float, dtype: str) -> tuple[Any, tuple[type[BaseException], ...]]:
    """Returns the rounded number, or the refusal of a finite number that would become infinite."""
    if np.dtype(DTYPES[dtype]).kind != "f":
        return None, (TypeError,)
    taken = narrowed(number, dtype)
    return (taken, ()) if math.isinf(number) or not np.isinf(taken) else (None, (ValueError,))


def number_verdict(number: Any, dtype: str) -> tuple[Any, tuple[type[BaseException], ...]]:
    """Returns the value for a Python number, or its refusal."""
    kind = np.dtype(DTYPES[dtype]).kind
    if isinstance(number, (bool, np.bool_)):
        return (np.array(bool(number)), ()) if kind == "b" else (None, (TypeError,))
    if isinstance(number, (int, np.integer)):
        number = int(number)
        if kind == "b":
            return None, (TypeError,)
        if kind in "iu":
            info = np.iinfo(DTYPES[dtype])
            return (np.array(number, DTYPES[dtype]), ()) if info.min <= number <= info.max else (None, (ValueError,))
        try:
            return float_verdict(float(number), dtype)
        except OverflowError:
            return None, (ValueError,)
    if isinstance(number, (float, np.floating)):
        return float_verdict(float(number), dtype)
    raise AssertionError(number)


def random_float(source: random.Random) -> float:
    return source.choice([0.0, -0.0, 1.5, -2.25, 1e-8, 6.1e-5, 65504.0, 3.3895e38, 1e39, math.inf, -math.inf, math.nan,
                          source.gauss(0, 1), source.uniform(-1e4, 1e4), 2.0 ** source.randint(-140, 120)])


def random_int(source: random.Random) -> int:
    bits = source.choice([3, 7, 8, 15, 16, 31, 32, 53, 63, 64])
    most: int = 2**bits
    return source.choice([0, 1, -1, source.randint(-100, 100), most, most - 1, -most, -most - 1,
                          source.randint(-most, most)])


def scalar_value(source: random.Random, dtype: str, bench: Bench | None) -> Given:
    """Returns a random value for a scalar input in one cycle."""
    kind = np.dtype(DTYPES[dtype]).kind

    def of_number(what: str, value: Any, number: Any) -> Given:
        taken, errors = number_verdict(number, dtype)
        return Given(what, value, taken, errors)

    def python_number() -> Given:
        choice: list[Any] = [source.random() < 0.5, random_int(source), random_float(source)]
        number = source.choice([*choice, choice["biuf".replace("u", "").index(kind.replace("u", "i"))]])
        return of_number("a number", number, number)

    def huge_int() -> Given:
        number = 10 ** source.choice([30, 400]) * source.choice([1, -1])
        return of_number("a huge integer", number, number)

    def numpy_number() -> Given:
        name = source.choice(list(DTYPES.values()))
        if name == "bool":
            value: Any = np.bool_(source.random() < 0.5)
        elif np.dtype(name).kind in "iu":
            info = np.iinfo(name)
            value = np.dtype(name).type(source.choice([info.min, info.max, 1, source.randint(info.min, info.max)]))
        else:
            with np.errstate(over="ignore"):
                value = np.dtype(name).type(random_float(source))
        number = value.item()
        if source.random() < 0.4:
            value = np.array(value)
            if source.random() < 0.3:
                value = value.astype(value.dtype.newbyteorder())
        return of_number("a NumPy number", value, number)

    def subclass() -> Given:
        number = source.choice([MyInt(random_int(source)), MyFloat(random_float(source))])
        return of_number("a subclass", number, number)

    def complex_number() -> Given:
        return Given("complex", source.choice([1j, complex(2, 0), np.complex64(1)]), errors=(TypeError,))

    def has_float() -> Given:
        number = random_float(source)
        return Given("__float__", HasFloat(number), *float_verdict(number, dtype))

    def has_index() -> Given:
        number = source.randint(0, 100)
        taken, errors = number_verdict(number, dtype)
        return Given("__index__", HasIndex(number), taken, errors)

    def raises() -> Given:
        error = source.choice([TypeError("no"), ValueError("no"), ZeroDivisionError("no"), Oops("no")])
        value = source.choice([HasFloat, HasIndex])(error)
        asked = kind == "f" or (kind in "iu" and isinstance(value, HasIndex))
        return Given("raises", value, errors=(TypeError, type(error)) if asked else (TypeError,),
                     named=not asked or isinstance(error, TypeError))

    def nonsense() -> Given:
        value = source.choice([HasFloat, HasIndex])("nonsense")
        return Given("gives nonsense", value, errors=(TypeError,))

    def exact() -> Given:
        value: Any = source.choice([fractions.Fraction(1, 3), decimal.Decimal("0.1"), decimal.Decimal("NaN")])
        return Given("exact", value, *float_verdict(float(value), dtype))

    def no_number() -> Given:
        value = source.choice([
            "1", b"1", bytearray(b"1"), "", None, np.str_("1"), np.bytes_(b"1"), object(), BadRepr(), [], {}, set(),
            (1,), [1.0], {"a": 1}, iter([1]), (k for k in [1]), range(3), len, int, Ellipsis, NotImplemented, slice(1),
            np.datetime64("2020-01-01"), np.timedelta64(3, "s"), memoryview(b"1"), array.array("d", [1.0]),
            np.void(b"12"), np.array("1"), np.array([(1, 2.0)], "i4,f4")[0], rmlc, sys.stdout,
            rmlc.Sampled([1], [0])])
        return Given("no number", value, errors=(TypeError, ValueError))

    def wild() -> Given:
        return Given("attributes that raise", WildAttributes(), errors=(TypeError, Oops), named=False)

    def masked() -> Given:
        return Given("masked", np.ma.masked, errors=(TypeError, ValueError))

    def array_of_one() -> Given:
        value = np.ones(source.choice([(1,), (1, 1), (2,), (0,), (2, 0)]), DTYPES[dtype])
        return Given("an array", value, errors=(TypeError, ValueError))

    def reentrant() -> Given:
        if bench is None or kind == "b":
            return python_number()
        use = source.choice(["step", "run", "save", "reset", "finish"])
        instance = bench.instance
        calls: dict[str, Callable[[], Any]] = {
            "step": lambda: instance.step(1), "run": lambda: instance.run({NAME: [1]}), "save": instance.save,
            "reset": instance.reset, "finish": instance.finish}
        value = HasIndex(calls[use]) if kind in "iu" or source.random() < 0.5 else HasFloat(calls[use])
        return Given("uses the instance: " + use, value, errors=(RuntimeError,), named=False)

    def harmless_use() -> Given:
        if bench is None or kind == "b":
            return python_number()
        other = bench.other
        value = HasIndex(lambda: (other.step(bench.zero()), bench.instance.cycle, repr(bench.instance)) and 7)
        return Given("uses another instance", value, *number_verdict(7, dtype))

    return source.choices(
        [python_number, numpy_number, huge_int, subclass, complex_number, has_float, has_index, raises, nonsense,
         exact, no_number, masked, array_of_one, reentrant, harmless_use, wild],
        [12, 12, 2, 2, 1, 2, 2, 2, 1, 2, 10, 1, 3, 2, 1, 1])[0]()
