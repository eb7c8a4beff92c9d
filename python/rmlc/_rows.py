"""The results of a run, as `Rows`."""

from __future__ import annotations

from ._arrays import as_float32
from ._sampled import Sampled
from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ._ports import Port


class Rows:
    """The rows of a run, in order. Each output is an attribute and an item.

    An output that is present in every cycle is an array whose first axis is the row. Any other output is a `Sampled`.
    `cycles` is the range of cycles of these rows. It may lag behind the cycles that the instance has read.
    """

    def __init__(self, first: int, count: int, ports: list[Port], columns: list[tuple[Any, Any]]) -> None:
        self.cycles = range(first, first + count)
        self._ports = ports
        self._columns: dict[str, Any] = {}
        for port, (values, at) in zip(ports, columns):
            # NumPy has two integer types of 64 bits. Use the one that the name stands for.
            values = as_float32(values) if port.dtype == "bf16" else values.view(port.numpy_dtype)
            if at is not None:
                values = Sampled(values, at.view("int64"), self.cycles, port.name)
            self._columns[port.name] = values

    def __len__(self) -> int:
        return len(self.cycles)

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_columns"][name]
        except KeyError:
            raise AttributeError(f"no output '{name}'; the outputs are: {', '.join(self.keys())}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.keys()]

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def keys(self) -> list[str]:
        return list(self.__dict__.get("_columns", ()))

    def to_pandas(self) -> Any:
        """Returns a pandas DataFrame with the cycles as index.

        The elements of tensors are columns "x[0]", "x[1]". A value is NA where a stream is absent.
        """
        from .tables import rows_to_pandas

        return rows_to_pandas(self, self._ports)

    def _repr_html_(self) -> str:
        from ._html import rows_html

        html: str = rows_html(self)
        return html

    def __repr__(self) -> str:
        parts = [f"{name}: {value!r}" if isinstance(value, Sampled) else f"{name}: {value.dtype}{list(value.shape)}"
                 for name, value in self._columns.items()]
        return f"Rows({len(self)}; " + ", ".join(parts) + ")"
