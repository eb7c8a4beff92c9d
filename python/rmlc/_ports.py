"""What a node reads and writes."""

from __future__ import annotations

from ._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    import numpy as np


class Port(NamedTuple):
    """An input, an output or a parameter: its name, element type ("f32"), shape, and when it is present."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    clock: str  # "base": at every cycle; "base on c": where c is true
    always: bool

    @property
    def type(self) -> str:
        """As R(ML)² writes it: "f32[128] when end"."""
        size = "[" + ", ".join(map(str, self.shape)) + "]" if self.shape else ""
        return self.dtype + size + self.clock.replace("base", "", 1).replace(" on ", " when ")

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Of the arrays that hold its values. NumPy has no bf16: those are float32, which holds them exactly."""
        import numpy

        return numpy.dtype(NUMPY_NAMES[self.dtype])

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


NUMPY_NAMES = {
    "bool": "bool", "i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16", "i32": "int32", "u32": "uint32",
    "i64": "int64", "u64": "uint64", "f16": "float16", "bf16": "float32", "f32": "float32", "f64": "float64",
}
