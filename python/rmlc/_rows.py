"""What a run hands out."""

from __future__ import annotations

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ._ports import Port


class Sampled:
    """A stream that is not present at every cycle: its values, and the cycles `at` which it was present."""

    __slots__ = ("at", "name", "rows", "values")

    def __init__(self, values: Any, at: Any, rows: range | None = None, name: str = "") -> None:
        self.values, self.at, self.rows, self.name = values, at, rows, name

    def __len__(self) -> int:
        return len(self.at)

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return iter(zip(self.at, self.values))

    def dense(self, fill: Any = None) -> Any:
        """Aligned with the rows: `fill` (NaN for floats; to be given for other types) where it is absent."""
        import numpy as np

        if self.rows is None:
            raise ValueError("the rows of this stream are not known")
        values = np.asarray(self.values)
        if fill is None:
            if values.dtype.kind != "f":
                raise ValueError(f"{self.name or 'stream'}: what stands for an absent {values.dtype}? give `fill`")
            fill = np.nan
        all_rows = np.full((len(self.rows), *values.shape[1:]), fill, values.dtype)
        all_rows[np.asarray(self.at, np.int64) - self.rows.start] = values
        return all_rows

    def __repr__(self) -> str:
        return f"Sampled({self.name + ', ' if self.name else ''}{len(self)} values)"


class Rows:
    """Rows of a run, in order: every output is an attribute, and an item.

    An output that is present at every cycle is an array whose first axis is the row; any other is a `Sampled`.
    `cycles` is the range of cycles that the rows are of: they may lag behind what has been read.
    """

    def __init__(self, first: int, count: int, ports: list[Port], columns: list[tuple[Any, Any]]) -> None:
        from ._arrays import as_float32

        self.cycles = range(first, first + count)
        self._ports = ports
        self._columns: dict[str, Any] = {}
        for port, (values, at) in zip(ports, columns):
            # NumPy has two types of 64 bits each; the one that it names is meant.
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
        """A DataFrame by cycle; elements of tensors are columns "x[0]", "x[1]"; NA where a stream is absent."""
        from .tables import rows_to_pandas

        return rows_to_pandas(self, self._ports)

    def _repr_html_(self) -> str:
        from .notebook import rows_html

        html: str = rows_html(self)
        return html

    def __repr__(self) -> str:
        parts = [f"{name}: {value!r}" if isinstance(value, Sampled) else f"{name}: {value.dtype}{list(value.shape)}"
                 for name, value in self._columns.items()]
        return f"Rows({len(self)}; " + ", ".join(parts) + ")"
