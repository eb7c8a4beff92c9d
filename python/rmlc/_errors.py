"""What can go wrong: in a program that is compiled, and in one that runs."""

from __future__ import annotations

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from ._diagnostics import Diagnostic


class CompileWarning(UserWarning):
    """What the compiler warns of; its text is the message with lines and carets."""


class CompileError(Exception):
    """A program was refused. Its text is the messages with lines and carets, `diagnostics` the same as data."""

    def __init__(self, text: str, diagnostics: list[Diagnostic]) -> None:
        super().__init__(text.rstrip("\n"))
        self.diagnostics = diagnostics

    def __reduce__(self) -> Any:
        return CompileError, (str(self), self.diagnostics)


class RunError(Exception):
    """A program could not go on.

    `cycle` is the one that failed, `file`, `line` and `column` the place in the source, `equation` what stands there;
    `rows` what a run has handed out before it, `chronogram` what a `trace` has drawn before it.
    """

    def __init__(self, text: str, cycle: int | None = None, file: str = "", line: int = 0, column: int = 0,
                 equation: str = "") -> None:
        super().__init__(text)
        self.cycle, self.file, self.line, self.column, self.equation = cycle, file, line, column, equation
        self.rows: Any = None
        self.chronogram: Any = None

    def __reduce__(self) -> Any:
        return RunError, (str(self), self.cycle, self.file, self.line, self.column, self.equation)
