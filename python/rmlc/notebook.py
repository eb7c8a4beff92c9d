"""Support for IPython and Jupyter: the magics `%%rmlc` and `%rmlc_trace`.

    %load_ext rmlc
"""

from __future__ import annotations

import ast
import importlib
import keyword
import warnings
from collections.abc import Mapping
from typing import Any, NoReturn

from ._errors import CompileError, CompileWarning
from ._html import diagnostics_html
from ._node import Module, Node, Request
from ._tools import Chronogram

class _Messages:
    """Messages of the compiler, as the output of a cell."""

    def __init__(self, text: str) -> None:
        self._text = text.rstrip("\n")

    def _repr_html_(self) -> str:
        return diagnostics_html(self._text)

    def __repr__(self) -> str:
        return self._text


def _display(shown: Any) -> None:
    display: Any = importlib.import_module("IPython.display").display
    display(shown)


def _fail(error: CompileError, in_notebook: bool) -> NoReturn:
    """Shows the messages and raises the error without a traceback.

    The error stops the following cells, which would otherwise run with the previous module.
    """
    lines = str(error).splitlines()
    if in_notebook:
        _display(_Messages(str(error)))
        count = sum(each.severity == "error" for each in error.diagnostics)
        lines = [f"CompileError: {count} error{'s' if count != 1 else ''}"]
    setattr(error, "_render_traceback_", lambda *_: lines)
    raise error


# ---- magics ------------------------------------------------------------------------------------


class CellModule(Module):
    """The module of a cell. The definitions of the cell (`-D`) apply to all its nodes, unless `node` overrides them."""

    def __init__(self, request: Request, definitions: Mapping[str, str]) -> None:
        self._definitions = dict(definitions)
        super().__init__(request)

    def node(self, name: str = "", *, defines: Mapping[str, Any] | None = None, **options: Any) -> Node:
        return super().node(name, defines={**self._definitions, **(defines or {})}, **options)

    node.__doc__ = Module.node.__doc__


def split_words(line: str) -> list[str]:
    """Splits a line at spaces, except within brackets and quotes, which belong to Python expressions."""
    words, word, closing, quote = [], "", [], ""
    for k, character in enumerate(line):
        if quote:
            quote = "" if character == quote and line[k - 1] != "\\" else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            closing.append({"(": ")", "[": "]", "{": "}"}[character])
        elif closing and character == closing[-1]:
            closing.pop()
        elif character.isspace() and not closing:
            if word:
                words.append(word)
            word = ""
            continue
        word += character
    if quote or closing:
        raise ValueError(f"a closing {quote or closing[-1]} is missing in the line")
    return [*words, word] if word else words


def _options(words: list[str], known: Mapping[str, str], usage: str) -> tuple[dict[str, list[str]], list[str]]:
    """Returns options with one value each (`-Dx=1`, `-D x=1`, `--watch x`, `--watch=x`), and the remaining words."""
    from IPython.core.error import UsageError

    found: dict[str, list[str]] = {each: [] for each in known.values()}
    rest = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        name = next((each for each in known if word == each or word.startswith(each + "=") or
                     len(each) == 2 and word.startswith(each)), "")
        if not name:
            if word.startswith("-"):
                raise UsageError(f"unknown option {word}\n{usage}")
            rest.append(word)
            continue
        value = word[len(name) :].removeprefix("=")
        if not value:
            if not queue:
                raise UsageError(f"{name}: a value is missing\n{usage}")
            value = queue.pop(0)
        found[known[name]].append(value)
    return found, rest


_CELL_USAGE = "%%rmlc NAME [-D CONSTANT=VALUE]… [-I FOLDER]…   compiles the cell, and names the module NAME"
_TRACE_USAGE = ("%rmlc_trace NODE [INPUT=VALUES]… [--watch PATTERN]… [--cycles N] [--seed N]   "
                "NODE is a node or a module, VALUES a Python expression")


def register(ipython: Any) -> None:
    """Adds the magics to a shell."""
    in_notebook = getattr(ipython, "kernel", None) is not None

    def rmlc(line: str, cell: str) -> None:
        from IPython.core.error import UsageError

        found, rest = _options(_words(line, _CELL_USAGE), {"-D": "define", "-I": "folder"}, _CELL_USAGE)
        if len(rest) != 1 or not rest[0].isidentifier() or keyword.iskeyword(rest[0]):
            raise UsageError(f"expected the name of the module, got {' '.join(rest) or 'nothing'}\n{_CELL_USAGE}")
        if not cell.strip():
            raise UsageError("the cell is empty; write the program below the first line")
        definitions = {}
        for each in found["define"]:
            name, equals, value = each.partition("=")
            if not equals:
                raise UsageError(f"-D {each}: expected CONSTANT=VALUE\n{_CELL_USAGE}")
            definitions[name] = value
        request = Request(f"{rest[0]}.rml", cell, definitions=tuple(f"{n}={v}" for n, v in definitions.items()),
                          import_folders=tuple(found["folder"]))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", CompileWarning)
            try:
                module = CellModule(request, definitions)
            except CompileError as error:
                _fail(error, in_notebook)
        for warning in told:
            if not issubclass(warning.category, CompileWarning):
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
            elif in_notebook:
                _display(_Messages(str(warning.message)))
            else:
                print(warning.message)
        ipython.push({rest[0]: module})

    def rmlc_trace(line: str) -> Chronogram:
        from IPython.core.error import UsageError

        known = {"--watch": "watch", "--cycles": "cycles", "--seed": "seed"}
        found, rest = _options(_words(line, _TRACE_USAGE), known, _TRACE_USAGE)
        if not rest:
            raise UsageError(f"expected a node\n{_TRACE_USAGE}")
        node = ipython.ev(rest[0])
        if isinstance(node, Module):
            try:
                node = node.node()
            except CompileError as error:
                _fail(error, in_notebook)
        if not isinstance(node, Node):
            raise UsageError(f"{rest[0]}: expected a node or a module, got {type(node).__name__}\n{_TRACE_USAGE}")
        inputs = {}
        for word in rest[1:]:
            name, equals, values = word.partition("=")
            if not equals:
                raise UsageError(f"{word}: expected INPUT=VALUES\n{_TRACE_USAGE}")
            inputs[name] = ipython.ev(values)
        numbers: dict[str, Any] = {}
        for option in ("cycles", "seed"):
            for text in found[option]:
                try:
                    numbers[option] = int(ast.literal_eval(text))
                except (ValueError, SyntaxError, TypeError):
                    raise UsageError(f"--{option} {text}: expected a number") from None
        traced: Chronogram = node.trace(inputs, watch=found["watch"], **numbers)
        return traced

    rmlc.__doc__, rmlc_trace.__doc__ = _CELL_USAGE, _TRACE_USAGE
    ipython.register_magic_function(rmlc, "cell", "rmlc")
    ipython.register_magic_function(rmlc_trace, "line", "rmlc_trace")


def _words(line: str, usage: str) -> list[str]:
    from IPython.core.error import UsageError

    try:
        return split_words(line)
    except ValueError as error:
        raise UsageError(f"{error}\n{usage}") from None
