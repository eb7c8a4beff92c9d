"""Streams that are absent in some cycles, as `Sampled`."""

from __future__ import annotations

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Sampled:
    """A stream that is absent in some cycles: its `values`, and the cycles `at` which it was present."""

    __slots__ = ("at", "name", "rows", "values")

    def __init__(self, values: Any, at: Any, rows: range | None = None, name: str = "") -> None:
        self.values, self.at, self.rows, self.name = values, at, rows, name

    def __len__(self) -> int:
        return len(self.at)

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return iter(zip(self.at, self.values))

    def dense(self, fill: Any = None) -> Any:
        """Returns an array with a value for each row, and `fill` where the stream is absent.

        The default of `fill` is NaN for floats. Other types have no default.
        """
        import numpy as np

        if self.rows is None:
            raise ValueError("rows: the rows of this stream are not known; construct the Sampled with `rows=`")
        values = np.asarray(self.values)
        if fill is None:
            if values.dtype.kind != "f":
                raise ValueError(f"{self.name or 'stream'}: {values.dtype} has no default for absent values; "
                                 "give `fill`")
            fill = np.nan
        all_rows = np.full((len(self.rows), *values.shape[1:]), fill, values.dtype)
        all_rows[np.asarray(self.at, np.int64) - self.rows.start] = values
        return all_rows

    def __repr__(self) -> str:
        return f"Sampled({self.name + ', ' if self.name else ''}{len(self)} values)"
