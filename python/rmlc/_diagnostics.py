"""Messages of the compiler as data. This module is imported only when there is a message."""

from __future__ import annotations

import dataclasses
import json
from typing import Any


@dataclasses.dataclass(frozen=True)
class Place:
    """A place in a source. Lines and columns count from 1, and the end is the column after the last character."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A message of the compiler: its code (`rmlc explain CODE` explains it), its text and its place in the source."""

    code: str
    severity: str  # "error" or "warning"
    message: str
    place: Place | None
    label: str
    notes: tuple[str, ...]
    fixes: tuple[str, ...]  # titles of the fix-its
    data: dict[str, Any] = dataclasses.field(repr=False, compare=False)  # the whole message in the compiler's JSON form


def _place(at: dict[str, Any]) -> Place | None:
    if not at.get("file"):
        return None
    return Place(at["file"], at["line"], at["column"], at["end_line"], at["end_column"])


def read_diagnostics(text: str) -> list[Diagnostic]:
    """Reads the messages from the compiler's JSON output."""
    return [
        Diagnostic(each["code"], each["severity"], each["message"], _place(each["primary"]), each["primary"]["text"],
                   tuple(each["notes"]), tuple(fix["title"] for fix in each["fixes"]), each)
        for each in json.loads(text)["diagnostics"]
    ]
