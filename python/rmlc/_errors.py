"""What can go wrong: in a program that is compiled, and in one that runs."""

from __future__ import annotations

import dataclasses
import json
from typing import Any


@dataclasses.dataclass(frozen=True)
class Place:
    """Where something stands in a source: lines and columns count from 1, the end is behind the last character."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A message of the compiler: its code (`rmlc explain CODE` tells more), its text and where it is about."""

    code: str
    severity: str  # "error" or "warning"
    message: str
    place: Place | None
    label: str
    notes: tuple[str, ...]
    fixes: tuple[str, ...]  # titles of the mends
    data: dict[str, Any] = dataclasses.field(repr=False, compare=False)  # all of it, as the compiler tells it


class CompileWarning(UserWarning):
    """What the compiler warns of; its text is the message with lines and carets."""


def _place(at: dict[str, Any]) -> Place | None:
    if not at.get("file"):
        return None
    return Place(at["file"], at["line"], at["column"], at["end_line"], at["end_column"])


def read_diagnostics(text: str) -> list[Diagnostic]:
    """Of the compiler's JSON."""
    return [
        Diagnostic(each["code"], each["severity"], each["message"], _place(each["primary"]), each["primary"]["text"],
                   tuple(each["notes"]), tuple(fix["title"] for fix in each["fixes"]), each)
        for each in json.loads(text)["diagnostics"]
    ]


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
