"""The inputs, outputs and parameters of a node, as `Port`."""

from __future__ import annotations

from ._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    import numpy as np


class Port(NamedTuple):
    """An input, an output or a parameter: its name, its element type ("f32"), its shape, and its clock."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    clock: str  # "base": present in every cycle; "base on c": present where c is true
    always: bool

    @property
    def type(self) -> str:
        """The type and the clock in the notation of R(ML)²: "f32[128] when end"."""
        size = "[" + ", ".join(map(str, self.shape)) + "]" if self.shape else ""
        return self.dtype + size + self.clock.replace("base", "", 1).replace(" on ", " when ")

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The NumPy type of arrays of its values. NumPy has no bf16, so bf16 values are stored exactly, as float32."""
        import numpy

        return numpy.dtype(NUMPY_NAMES[self.dtype])

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


NUMPY_NAMES = {
    "bool": "bool", "i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16", "i32": "int32", "u32": "uint32",
    "i64": "int64", "u64": "uint64", "f16": "float16", "bf16": "float32", "f32": "float32", "f64": "float64",
}
