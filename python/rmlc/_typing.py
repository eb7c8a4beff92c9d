"""What of `typing` is used while the package is imported: to import `typing` itself takes a quarter of that time.

`TYPE_CHECKING` is false, and known to type checkers by its name. `NamedTuple` is for them that of `typing`; a class
made from it is a named tuple of its annotations, with the methods that stand in it.
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
