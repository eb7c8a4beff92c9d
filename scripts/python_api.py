#!/usr/bin/env python3
"""Writes the reference page of the Python package from its docstrings and signatures. Run it by a Python with rmlc.

    python_api.py write    writes docs/manual/python_api.md
    python_api.py check    exits with status 1 if `write` would change the page

Signatures and docstrings are read from the sources, so the optional packages of some modules are not needed. The
docstrings of the extension are read from the imported package. SECTIONS lists the content of the page. A public name of
`rmlc` that is not on the page is an error.
"""

from __future__ import annotations

import ast
import inspect
import pathlib
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator

import rmlc

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/manual/python_api.md"
PACKAGE = ROOT / "python/rmlc"
WIDTH = 100  # number of columns for a signature

# Title, the import, the files to search, and the names; without names, the text of the module.
SECTIONS: list[tuple[str, str, list[str], list[str]]] = [
    ("Programs", "rmlc", ["_node", "_ports"], ["load", "compile", "Module", "Node", "Port"]),
    ("Running them", "rmlc", ["_instance", "_rows", "_sampled", "_keyed"], ["Instance", "Rows", "Sampled", "Keyed", "KeyedRows"]),
    ("What goes wrong", "rmlc", ["_errors", "_diagnostics", "_instance", "_tools"],
     ["CompileError", "RunError", "GradientError", "CompileWarning", "UndeterminedWarning", "Diagnostic", "Place"]),
    ("Pictures", "rmlc", ["_tools"], ["Chronogram", "SVG"]),
    ("Learning, measured as it goes", "rmlc.evaluation", ["evaluation"], ["Scores", "Score"]),
    ("Training", "rmlc.training", ["training"], ["epochs", "Epoch", "order_of_epoch"]),
    ("Estimators", "rmlc.sklearn", ["sklearn"], ["Classifier", "Regressor"]),
    ("Row by row", "rmlc.online", ["online"], ["BinaryClassifier", "Classifier", "Regressor"]),
    ("Layers of PyTorch", "rmlc.torch", ["torch"], ["Module"]),
    ("ONNX models", "rmlc.onnx", ["onnx"], ["load", "Model"]),
    ("Tables", "rmlc.tables", ["tables"], ["parquet", "Parquet", "to_arrow", "rows_to_arrow", "rows_to_pandas"]),
    ("Many machines", "rmlc.spark", ["spark"], ["apply"]),
    ("Long runs", "rmlc.progress", ["progress"], ["join", "Curve"]),
    ("Notebooks", "rmlc.notebook", ["notebook"], []),
]
MADE = ("Parquet", "Scores", "Score")  # classes that only functions return; users do not construct them
# Python's special methods that are described if they have a docstring.
SPECIAL = ("__getitem__", "__setitem__", "__iter__", "__len__")
Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = ast.Module | ast.ClassDef | Function


class Source:
    """A module of the package as a tree, with its lines."""

    def __init__(self, name: str) -> None:
        text = (PACKAGE / f"{name}.py").read_text(encoding="utf-8")
        self.tree, self.lines = ast.parse(text), text.splitlines()

    def find(self, name: str) -> ast.ClassDef | Function | None:
        return next((each for each in self.tree.body
                     if isinstance(each, (ast.ClassDef, ast.FunctionDef)) and each.name == name), None)

    def remark(self, node: ast.stmt) -> str:
        """Returns the comment on the line of a statement."""
        assert node.end_lineno is not None
        rest = self.lines[node.end_lineno - 1][node.end_col_offset :]
        return rest.strip().removeprefix("#").strip()


def docstring(node: Documented) -> str:
    """Returns the docstring without the indentation of its object."""
    text = ast.get_docstring(node, clean=False)
    if not text:
        return ""
    margin = node.body[0].col_offset
    first, *rest = text.splitlines()
    return "\n".join([first, *(line[min(margin, len(line) - len(line.lstrip())) :] for line in rest)]).strip()


def prose(text: str, names: Iterable[str] = ()) -> str:
    """A docstring as Markdown: indented text is code, the text about arguments is a list."""
    parts: list[tuple[bool, list[str]]] = []
    for line in text.splitlines():
        is_code = line.startswith("    ") or (not line.strip() and bool(parts) and parts[-1][0])
        if not parts or parts[-1][0] != is_code:
            parts.append((is_code, []))
        parts[-1][1].append(line)
    names = list(names)
    if sum(len(split_arguments("\n".join(lines), names)) // 2 for is_code, lines in parts if not is_code) < 2:
        names = []
    shown = []
    for is_code, lines in parts:
        block = textwrap.dedent("\n".join(lines)).strip("\n")
        if is_code:
            language = "text" if re.match(r"(node|const|import \w+;|%)", block) else "python"
            shown.append(f"```{language}\n{block}\n```")
        elif block:
            shown += [with_list(each, names) for each in re.split(r"\n\s*\n", block)]
    return "\n\n".join(shown)


def split_arguments(text: str, names: list[str]) -> list[str]:
    """The leading text, then alternately arguments and their descriptions: `name: …  other,
    third: …`."""
    if not names:
        return [text]
    one = "(?:" + "|".join(map(re.escape, names)) + ")"
    return re.split(rf"(?:^|\n|(?<=\S)  )({one}(?:, {one})*): ", text)


def with_list(paragraph: str, names: list[str]) -> str:
    first, *pieces = split_arguments(paragraph, names)
    items = []
    for name, about in zip(pieces[::2], pieces[1::2]):
        items.append(f"- {', '.join(f'`{each}`' for each in name.split(', '))}: {about.strip()}".replace("\n", "\n  "))
    return "\n\n".join(each for each in (first, "\n".join(items)) if each)


def argument_names(function: Function | None) -> list[str]:
    if function is None:
        return []
    given = function.args
    return [each.arg for each in [*given.posonlyargs, *given.args, *given.kwonlyargs]]


def arguments(function: Function, skip_first: bool) -> list[str]:
    """Returns the arguments as written, with `*` and `/` between them."""
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    found = []
    for k, (each, default) in enumerate(zip(plain, defaults)):
        found.append(one_argument(each, default))
        if k + 1 == len(given.posonlyargs):
            found.append("/")
    if skip_first:
        del found[0]
    if given.vararg:
        found.append("*" + one_argument(given.vararg, None))
    elif given.kwonlyargs:
        found.append("*")
    found += [one_argument(each, default) for each, default in zip(given.kwonlyargs, given.kw_defaults)]
    if given.kwarg:
        found.append("**" + one_argument(given.kwarg, None))
    return found[1:] if skip_first and found[:1] == ["/"] else found


def one_argument(argument: ast.arg, default: ast.expr | None) -> str:
    kind = f": {ast.unparse(argument.annotation)}" if argument.annotation else ""
    equals = " = " if kind else "="
    return argument.arg + kind + (equals + ast.unparse(default) if default is not None else "")


def signature(name: str, words: Iterable[str], returns: str) -> str:
    """The text of a signature: on one line if it fits, else with each argument on its own line."""
    words = list(words)
    line = f"{name}({', '.join(words)}){returns}"
    if len(line) > WIDTH:
        wrapped = textwrap.wrap(", ".join(word.replace(" ", "\0") for word in words), WIDTH - 4,
                                break_long_words=False, break_on_hyphens=False)
        line = f"{name}(\n" + "".join(f"    {each}\n" for each in wrapped).replace("\0", " ") + f"){returns}"
    return f"```python\n{line}\n```"


def result(function: Function) -> str:
    return f" -> {ast.unparse(function.returns)}" if function.returns else ""


def with_bases(source: Source, of: ast.ClassDef) -> list[ast.ClassDef]:
    """The class, then its base classes in the file that no other class uses."""
    found = [of]
    for base in of.bases:
        node = source.find(base.id) if isinstance(base, ast.Name) and base.id.startswith("_") else None
        if isinstance(node, ast.ClassDef):
            found += with_bases(source, node)
    return found


def beginning(source: Source, of: ast.ClassDef) -> Function | None:
    return next((each for node in with_bases(source, of) for each in node.body
                 if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)


def fields(source: Source, of: ast.ClassDef) -> list[str]:
    """The attributes that are declared in the class, or assigned to `self` in its constructor."""
    begin = beginning(source, of)
    lines = []
    for each in [*of.body, *(begin.body if begin else [])]:
        if not isinstance(each, ast.AnnAssign):
            continue
        name = ast.unparse(each.target).removeprefix("self.")
        kind = ast.unparse(each.annotation)
        if name.isidentifier() and not name.startswith("_"):
            lines.append((name, kind, source.remark(each)))
    return [f"- `{name}: {kind}`" + (f": {remark}" if remark else "") for name, kind, remark in lines]


def members(source: Source, of: ast.ClassDef) -> Iterator[str]:
    """Yields properties and methods that have a docstring."""
    seen = set()
    for each in (each for node in with_bases(source, of) for each in node.body):
        if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) or each.name in seen:
            continue
        seen.add(each.name)
        text = docstring(each)
        if not text or (each.name.startswith("_") and each.name not in SPECIAL):
            continue
        if "property" in [ast.unparse(decorator) for decorator in each.decorator_list]:
            kind = result(each).removeprefix(" -> ")
            if not kind.startswith("_"):
                yield f"#### {of.name}.{each.name}\n\n`{each.name}: {kind}`\n\n{prose(text)}"
        else:
            yield (f"#### {of.name}.{each.name}\n\n{signature(each.name, arguments(each, True), result(each))}\n\n"
                   f"{prose(text, argument_names(each))}")


def of_extension() -> Iterator[str]:
    """Yields the attributes that instances get from the extension."""
    base = rmlc.Instance.__mro__[1]
    for name, value in vars(base).items():
        if name.startswith("_"):
            continue
        text = inspect.getdoc(value) or ""
        head = re.match(r"\(self\) -> (\w+)\n*", text)
        if head:
            said = prose(text[head.end() :])
            yield f"#### Instance.{name}\n\n`{name}: {head[1]}`" + (f"\n\n{said}" if said else "")
        elif text:
            yield f"#### Instance.{name}\n\n```python\n{name}(*inputs, **named)\n```\n\n{prose(text)}"


def entry(sources: list[Source], package: str, name: str) -> str:
    """Returns the entry of a function, or of a class with its members."""
    for source in sources:
        node = source.find(name)
        if node is None:
            continue
        text = docstring(node)
        if not text:
            sys.exit(f"{package}.{name} has no docstring: write one")
        head = f"### {package}.{name}"
        if not isinstance(node, ast.ClassDef):
            return (f"{head}\n\n{signature(name, arguments(node, False), result(node))}\n\n"
                    f"{prose(text, argument_names(node))}")
        begin = beginning(source, node)
        # Users construct some classes; others are returned by functions.
        is_made = begin is not None and (package != "rmlc" or name == "Sampled") and name not in MADE
        parts = [head, *([signature(name, arguments(begin, True), "")] if begin is not None and is_made else []),
                 prose(text, argument_names(begin))]
        if declared := fields(source, node):
            parts.append("\n".join(declared))
        if name == "Instance":
            parts += of_extension()
        return "\n\n".join([*parts, *members(source, node)])
    sys.exit(f"{package}.{name} is in none of the files that SECTIONS lists for it")


def page() -> str:
    listed = {name for _, package, _, names in SECTIONS if package == "rmlc" for name in names}
    if missing := sorted(set(rmlc.__all__) - listed):
        sys.exit(f"rmlc.{missing[0]} is not on the page: add it to SECTIONS in scripts/python_api.py")
    text = ("# The Python package, function by function\n\n"
            "`scripts/python_api.py` writes this page from the docstrings of the package, so `help(rmlc.load)` shows "
            "the same text.\nTo begin, read [Python](python.md). "
            "A `Path` is a `str` or an `os.PathLike`. Arrays are NumPy arrays.\n")
    for title, package, files, names in SECTIONS:
        sources = [Source(file) for file in files]
        text += f"\n## {title}\n"
        if package != "rmlc":
            text += f"\n`import {package}`\n\n{prose(docstring(sources[0].tree))}\n"
        for name in names:
            text += f"\n{entry(sources, package, name)}\n"
        if package == "rmlc.notebook":
            usage = [rmlc.notebook._CELL_USAGE, rmlc.notebook._TRACE_USAGE]
            lines = [textwrap.fill(each, WIDTH + 15, subsequent_indent="    ") for each in usage]
            text += "\n```text\n" + "\n".join(lines) + "\n```\n"
    return text


def main() -> None:
    if sys.argv[1:] not in (["write"], ["check"]):
        sys.exit(__doc__)
    written = page()
    if sys.argv[1] == "write":
        PAGE.write_text(written, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != written:
        sys.exit(f"{PAGE} differs from the docstrings of the package: run scripts/python_api.py write")


if __name__ == "__main__":
    main()
