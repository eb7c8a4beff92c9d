"""What the compiler says, as data; imported once it has said something."""

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
