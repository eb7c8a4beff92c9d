"""Checks and converts arguments for the compiled code: the type and range of numbers, the type and layout of arrays.

A conversion that would lose information or hide a mistake is refused. A wrong argument raises a TypeError or ValueError
that names the argument, the expected value and the given one. `copy=True` allows the conversions of NumPy's `same_kind`
casting, and arrays that are not contiguous. Floats are rounded to the type of the node. A finite number that would be
rounded to infinity is refused.
"""

from __future__ import annotations

import math
import operator

from . import _core
from ._ports import NUMPY_NAMES, Port
from ._sampled import Sampled
from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


def numpy() -> Any:
    """Returns the module NumPy, which is imported for the first array."""
    import numpy as module

    _core.set_array(module.ndarray)
    return module


def _type(dtype: str, shape: tuple[int, ...]) -> str:
    return dtype + ("[" + ", ".join(map(str, shape)) + "]" if shape else "")


def describe(value: Any) -> str:
    """Describes a value for messages: "float64[3, 4]", "str 'abc'"."""
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return _type(str(value.dtype), tuple(value.shape))
    try:
        text = repr(value)
    except Exception:  # a `repr` that fails must not replace the message
        return type(value).__name__
    return type(value).__name__ + " " + (text if len(text) < 40 else text[:37] + "...")


# The least numbers that are rounded to infinity: halfway between the largest number of a type and the next power of 2.
_TOO_LARGE = {"f16": 2.0**16 - 2.0**4, "bf16": 2.0**128 - 2.0**119, "f32": 2.0**128 - 2.0**103}


def check_finite(values: Any, name: str, dtype: str) -> None:
    """Raises ValueError if rounding an array to the type would make a finite number infinite."""
    np = numpy()
    if dtype in _TOO_LARGE and values.dtype.kind in "iuf" and values.size:
        with np.errstate(all="ignore"):
            wide = np.abs(values.astype(np.float64))
        large = (wide >= _TOO_LARGE[dtype]) & ~np.isinf(values)
        if large.any():
            raise ValueError(f"{name}: {values[large].flat[0]} is larger than any {dtype}")


def int_range(dtype: str) -> tuple[int, int]:
    """Returns the least and the largest number of an integer type."""
    bits = int(dtype[1:])
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if dtype[0] == "i" else (0, (1 << bits) - 1)


def whole(value: Any, name: str, least: int, most: int) -> int:
    """Returns an integer argument. Raises TypeError for other types, and ValueError if it is out of range."""
    if isinstance(value, bool):
        raise TypeError(f"{name}: expected an integer, got {describe(value)}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {describe(value)}") from None
    if not least <= number <= most:
        raise ValueError(f"{name}: {number} is not in the range {least} to {most}")
    return number


def scalar(value: Any, name: str, dtype: str) -> bool | int | float:
    def wrong() -> TypeError:
        return TypeError(f"{name}: expected {dtype}, got {describe(value)}")

    if isinstance(value, (str, bytes, bytearray)) or value is None:
        raise wrong()
    if getattr(value, "ndim", 0) != 0:
        raise ValueError(f"{name}: expected a scalar of {dtype}, got {describe(value)}")
    if getattr(value, "mask", False) is not False and bool(value.mask):
        raise ValueError(f"{name}: expected {dtype}, got a masked value")
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    is_bool = isinstance(value, bool) or kind == "b"
    if dtype == "bool":
        if not is_bool:
            raise wrong()
        return bool(value)
    if is_bool or kind not in (None, "i", "u", "f") or isinstance(value, complex):
        raise wrong()
    if dtype[0] in "iu":
        try:
            number = operator.index(value)
        except TypeError:
            raise wrong() from None
        least, most = int_range(dtype)
        if not least <= number <= most:
            raise ValueError(f"{name}: {number} is not in the range of {dtype}, {least} to {most}")
        return number
    if not hasattr(type(value), "__float__") and not hasattr(type(value), "__index__"):
        raise wrong()  # refuses a buffer, because float() would parse the digits in it
    try:
        wide = float(value)
    except OverflowError:
        wide = math.nan
    except (TypeError, ValueError):
        raise wrong() from None
    else:
        if math.isinf(wide) or not abs(wide) >= _TOO_LARGE.get(dtype, math.inf):
            return wide
    raise ValueError(f"{name}: {describe(value)} is larger than any {dtype}")


def _bits_of_bf16(values: Any) -> Any:
    """Rounds to the nearest bf16, ties to even, and returns the bits. NaNs stay NaNs."""
    np = numpy()
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = ((bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), ((bits >> 16) | 0x40).astype(np.uint16), rounded)


def as_float32(bits: Any) -> Any:
    """Converts the bits of bf16 values to float32."""
    np = numpy()
    return (np.asarray(bits).astype(np.uint32) << 16).view(np.float32)


def tensor(value: Any, name: str, dtype: str, shape: tuple[int, ...], copy: bool = False) -> Any:
    """Returns an array of exactly this type and shape, C-contiguous and aligned. It is `value` itself if possible."""
    np = numpy()
    expected = _type(dtype, shape)
    wanted = np.dtype(NUMPY_NAMES[dtype])
    array: Any
    if value is None or isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f"{name}: expected {expected}, got {describe(value)}")
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.is_masked(value):
            raise ValueError(f"{name}: some elements of the masked array are masked; fill them first")
        value = value.data
    if isinstance(value, (list, tuple, int, float, bool)):
        array = _from_list(value, name, expected, wanted, dtype)
    else:
        array = as_array(value, name, expected)
    if tuple(array.shape) != tuple(shape):
        raise ValueError(f"{name}: expected {expected}, got {describe(array)}")
    if dtype == "bf16":
        if array.dtype == np.uint16:
            return np.ascontiguousarray(array)
        if array.dtype != wanted and not (copy and np.can_cast(array.dtype, wanted, "same_kind")):
            raise TypeError(f"{name}: expected {expected} as float32, got {describe(array)}")
        check_finite(array, name, dtype)
        return _bits_of_bf16(array)
    if array.dtype != wanted:
        if not copy or not np.can_cast(array.dtype, wanted, "same_kind"):
            raise TypeError(f"{name}: expected {expected}, got {describe(array)}; `astype(numpy.{wanted})` converts it")
        check_finite(array, name, dtype)
        array = array.astype(wanted)
    if not array.flags.c_contiguous or not array.flags.aligned:
        if not copy:
            raise ValueError(f"{name}: the array is not contiguous in C order, or not aligned; "
                             "copy it by `copy=True` or `numpy.ascontiguousarray`")
        array = np.array(array, order="C")
    if dtype == "bool" and array.size and array.view(np.uint8).max() > 1:  # like NumPy, take any byte but 0 as true
        array = array.view(np.uint8) != 0
    return array


def as_array(value: Any, name: str, expected: str) -> Any:
    """Returns an array for a value that is an array or supports NumPy's protocols or DLPack. TypeError for others."""
    np = numpy()
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if not any(hasattr(value, way) for way in ("__array__", "__array_interface__", "__dlpack__")):
        raise TypeError(f"{name}: expected {expected}, got {describe(value)}")
    try:
        array = np.asarray(value) if not hasattr(value, "__dlpack__") or hasattr(value, "__array__") else \
            np.from_dlpack(value)
    except Exception as error:
        raise TypeError(f"{name}: {type(value).__name__} cannot be converted to an array: {error}") from error
    return array


def _from_list(value: Any, name: str, expected: str, wanted: Any, dtype: str) -> Any:
    """Converts a list or a Python number. Python's numbers have no width, so only their kind and range are checked."""
    np = numpy()
    try:
        array = np.asarray(value)
        # NumPy converts integers that exceed its integer types to floats.
        if wanted.kind in "iu" and array.dtype.kind in "fO":
            array = np.asarray(value, object)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name}: expected {expected}: {error}") from None
    if array.size == 0:
        return array.astype(wanted)
    if array.dtype == object or (array.dtype.kind != "b" and _has_bool(value)):
        flat = [scalar(each, name, dtype) for each in _flatten(value)]
        if len(flat) != array.size:
            raise ValueError(f"{name}: expected {expected}, got lists of several lengths")
        return np.array(flat, wanted).reshape(array.shape)
    if array.dtype.kind not in {"b": "b", "i": "iu", "u": "iu", "f": "fiu"}[wanted.kind]:
        raise TypeError(f"{name}: expected {expected}, got {describe(value)}")
    if wanted.kind in "iu":
        info = np.iinfo(wanted)
        if array.min() < info.min or array.max() > info.max:
            raise ValueError(f"{name}: a number is not in the range of {wanted}, {info.min} to {info.max}")
    check_finite(array, name, dtype)
    return array.astype(wanted)


def _flatten(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _flatten(each)
    else:
        yield value


def _has_bool(value: Any) -> bool:
    return any(isinstance(each, bool) for each in _flatten(value))


def convert(value: Any, name: str, dtype: str, shape: tuple[int, ...]) -> Any:
    """Converts the value of an input for one cycle. The extension calls it for values that it cannot read directly."""
    if not shape:
        return scalar(value, name, dtype)
    np = numpy()
    # The extension itself accepts misaligned arrays, but only after NumPy is imported, so the first array comes here.
    if type(value) is np.ndarray and value.flags.c_contiguous and not value.flags.aligned:
        value = value.copy()
    return tensor(value, name, dtype, shape)


def has_cycles(value: Any) -> bool:
    """Returns whether a value determines the number of cycles: a list or an array does, a single value does not."""
    return isinstance(value, (list, tuple)) or getattr(value, "shape", ()) != ()


def column(value: Any, port: Port, cycles: int | None, copy: bool) -> tuple[Any, Any]:
    """Returns an input over cycles: an array of its values, and where they are present (None: in every cycle)."""
    np = numpy()
    if isinstance(value, Sampled):
        if cycles is None:
            raise ValueError(f"{port.name}: the number of cycles is unknown; give another input as an array, or "
                             "`cycles=`")
        return spread(value, port, cycles, copy)
    if not port.always and isinstance(value, (list, tuple)) and any(each is None for each in value):
        at = [k for k, each in enumerate(value) if each is not None]
        return spread(Sampled([value[k] for k in at], at), port, len(value), copy)
    if isinstance(value, np.ma.MaskedArray) and value.ndim >= 1:
        mask = np.ma.getmaskarray(value)
        axes = tuple(range(1, mask.ndim))
        absent, some = mask.all(axis=axes) & (mask.size > 0), mask.any(axis=axes)
        if (some & ~absent).any():
            raise ValueError(f"{port.name}: cycle {int((some & ~absent).argmax())}: "
                             "only some elements of the value are masked; mask all of them or none")
        if port.always and absent.any():
            raise ValueError(f"{port.name}: cycle {int(absent.argmax())}: the value is masked, but this input is "
                             "present in every cycle")
        values, _ = column(value.data, port, cycles, copy)
        return values, None if port.always else ~absent
    if not has_cycles(value):
        if port.shape != ():
            raise ValueError(f"{port.name}: expected cycles of {port.type}, got {describe(value)}")
        if cycles is None:
            raise ValueError(f"{port.name}: a single value does not determine the number of cycles; "
                             "give an array, or `cycles=`")
        one = scalar(value, port.name, port.dtype)
        return tensor(np.full(cycles, one, NUMPY_NAMES[port.dtype]), port.name, port.dtype, (cycles,)), None
    count = len(value) if isinstance(value, (list, tuple)) else value.shape[0]
    if cycles is not None and count != cycles:
        raise ValueError(f"{port.name}: {count} cycles, but other inputs have {cycles}")
    return tensor(value, port.name, port.dtype, (count, *port.shape), copy), None


def spread(value: Any, port: Port, cycles: int, copy: bool) -> tuple[Any, Any]:
    """Expands a sampled stream: returns its values with zeros where it is absent, and where it is present."""
    np = numpy()
    at = np.asarray(value.at)
    if at.size and at.dtype.kind not in "iu":
        raise TypeError(f"{port.name}: the cycles of a sampled stream are integers, not {describe(at)}")
    at = at.astype(np.int64)
    if at.ndim != 1 or (at.size and (at.min() < 0 or at.max() >= cycles)) or (np.diff(at) <= 0).any():
        raise ValueError(f"{port.name}: the cycles of a sampled stream must rise and be from 0 to {cycles - 1}")
    if port.always and at.size != cycles:
        raise ValueError(f"{port.name}: this input is present in every cycle, but has values in only {at.size} of "
                         f"{cycles} cycles")
    values = tensor(value.values, port.name, port.dtype, (at.size, *port.shape), copy)
    dense = np.zeros((cycles, *port.shape), values.dtype)
    dense[at] = values
    present = np.zeros(cycles, bool)
    present[at] = True
    return dense, present
