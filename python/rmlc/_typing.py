"""Replacements for the parts of `typing` that the package uses while it is imported.

Importing `typing` itself would take a quarter of the package's import time. `TYPE_CHECKING` is false, and type checkers
know the name. For type checkers, `NamedTuple` is the one of `typing`. At run time, a class derived from it becomes a
named tuple with its annotations as fields and with its methods.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    import collections

    class _OfAnnotations(type):
        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body.pop("__annotations__")
            defaults = [body.pop(field) for field in fields if field in body]
            of_fields = collections.namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            return type(name, (of_fields,), {"__slots__": (), **body})

    class NamedTuple(metaclass=_OfAnnotations):
        pass
