"""The exceptions and warnings of the compiler and of running programs."""

from __future__ import annotations

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from ._diagnostics import Diagnostic


class CompileWarning(UserWarning):
    """A warning of the compiler. Its text is the message with source lines and carets."""


class CompileError(Exception):
    """The compiler refused a program.

    Its text is the messages with source lines and carets. `diagnostics` holds the same messages as data.
    """

    def __init__(self, text: str, diagnostics: list[Diagnostic]) -> None:
        super().__init__(text.rstrip("\n"))
        self.diagnostics = diagnostics

    def __reduce__(self) -> Any:
        return CompileError, (str(self), self.diagnostics)


class RunError(Exception):
    """A running program failed.

    `cycle` is the cycle that failed. `file`, `line` and `column` give the place in the source, and `equation` is the
    equation there. `rows` holds the rows that a run returned before the failure, and `chronogram` the part of a `trace`
    before it.
    """

    def __init__(self, text: str, cycle: int | None = None, file: str = "", line: int = 0, column: int = 0,
                 equation: str = "") -> None:
        super().__init__(text)
        self.cycle, self.file, self.line, self.column, self.equation = cycle, file, line, column, equation
        self.rows: Any = None
        self.chronogram: Any = None

    def __reduce__(self) -> Any:
        return RunError, (str(self), self.cycle, self.file, self.line, self.column, self.equation)
