#!/usr/bin/env python3
"""Writes the reference page of the standard library from the comments of its modules, and tests the examples in them.

    stdlib_page.py RMLC write    writes docs/manual/stdlib.md
    stdlib_page.py RMLC check    exits with status 1 if `write` would change the page
    stdlib_page.py RMLC test     runs every example through both engines

The comment at the beginning of a file describes the module, and the comment directly above a node describes
the node. A blank line ends a comment. A comment consists of text, and of code that is indented by four more
spaces. Every node has an example: a program, followed by the rows of its inputs and outputs:

    -- Twice `x`.
    --
    --     node main(x: f64) -> (y: f64)
    --       y = module.twice(x);
    --
    --     x | 1 2
    --     y | 2 4
    node twice(x) -> (y)

The script adds the imports that an example needs. The signatures on the page are those of the compiler.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/manual/stdlib.md"
MODULES = sorted((ROOT / "stdlib").glob("*.rml"), key=lambda path: (path.stem != "prelude", path.stem))


def comments(path):
    """Yields (node or None for the module, lines of its comment)."""
    block, opening = [], True
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith("--"):
            block.append(line[3:])
            continue
        node = re.match(r"node (\w+)", line)
        # `rmlc explain MODULE` takes a comment that something follows directly as that of the latter.
        if opening and line:
            sys.exit(f"{path}: write a blank line between the comment of the module and `{line}`")
        if opening:
            yield None, block
        elif node:
            yield node.group(1), block
        block, opening = [], False


def parts(block):
    """Splits a comment into ("text" or "code", lines); a blank line ends a part."""
    result = []
    for line in block + [""]:
        if not line.strip():
            result.append(("blank", []))
        else:
            kind = "code" if line.startswith("    ") else "text"
            if not result or result[-1][0] != kind:
                result.append((kind, []))
            result[-1][1].append(line[4:] if kind == "code" else line)
    return [(kind, lines) for kind, lines in result if kind != "blank"]


def is_program(lines):
    return lines[0].startswith("node ")


def is_example(lines):
    return lines[0].startswith("node main(")


def with_imports(module, lines):
    names = [p.stem for p in MODULES if p.stem != "prelude" and re.search(rf"\b{p.stem}\.\w+\(", "\n".join(lines))]
    imports = "".join(f"import {name};\n" for name in names)
    return imports + ("\n" if imports else "") + "\n".join(lines) + "\n"


def examples(path):
    """Yields (node, program, rows). A node without an example is an error."""
    for node, block in comments(path):
        if node is None:
            continue
        found = None
        for (_, lines), (kind, rows) in zip(parts(block), parts(block)[1:]):
            if is_example(lines) and kind == "code" and all(" | " in row for row in rows):
                found = with_imports(path.stem, lines), rows
        if not found:
            sys.exit(f"{path}: node {node} has no example: add a program and its rows to its comment")
        yield (node, *found)


def signatures(rmlc, path):
    shown = subprocess.run([rmlc, "check", "--signatures", path], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in shown.split("\n"):
        if match := re.match(r"node (\w+)(\(.*)", line):
            found[match.group(1)] = match.group(1) + match.group(2)
    return found


def fenced(path, lines):
    if is_program(lines):
        return "```rml\n" + with_imports(path.stem, lines) + "```\n"
    kind = "chron" if all(" | " in line for line in lines) else "text"
    return f"```{kind}\n" + "\n".join(lines) + "\n```\n"


def page(rmlc):
    text = (
        "# The standard library\n\n"
        "`scripts/stdlib_page.py` writes this page from the comments in `stdlib/`, and the tests run its examples.\n\n"
        "Each node has an example program. The inputs and outputs of the program follow it, with one row per stream\n"
        "and one column per cycle. Above the example is the signature of the node. In a signature, `'a` is any type,\n"
        "or any of the types after `where`. Signatures do not contain shapes, which are given in the text. A stream\n"
        "without `when` is present in every cycle in which its node is called. `at 'k1` marks a stream that need\n"
        "not be present there, such as a static argument.\n"
    )
    for path in MODULES:
        shown = signatures(rmlc, path)
        text += f"\n## {path.stem}\n" + ("" if path.stem == "prelude" else f"\n`import {path.stem};`\n")
        for node, block in comments(path):
            prefix = "" if path.stem == "prelude" else path.stem + "."
            if node is not None:
                text += f"\n### {prefix}{node}\n\n`{shown[node]}`\n"
            for kind, lines in parts(block):
                text += "\n" + ("\n".join(lines) + "\n" if kind == "text" else fenced(path, lines))
    return text


def test(rmlc):
    with tempfile.TemporaryDirectory() as folder:
        for path in MODULES:
            for node, program, rows in examples(path):
                inputs = re.findall(r"(\w+):", re.search(r"node main\((.*?)\) ->", program, re.S).group(1))
                name = pathlib.Path(folder) / f"{path.stem}.{node}"
                sides = {"in": [], "out": []}
                for row in rows:
                    sides["in" if row.split("|")[0].strip() in inputs else "out"].append(row)
                for side, lines in sides.items():
                    if lines:
                        pathlib.Path(f"{name}.{side}.chron").write_text("\n".join(lines) + "\n")
                pathlib.Path(f"{name}.rml").write_text("-- tolerance: 1e-12\n-- run: main\n" + program)
        # `--brief` compares only values. tests/stdlib runs the nodes in every engine.
        return subprocess.run([rmlc, "test", "--brief", folder], check=False).returncode


def main():
    rmlc, mode = sys.argv[1:]
    if mode == "test":
        sys.exit(test(rmlc))
    written = page(rmlc)
    if mode == "write":
        PAGE.write_text(written, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != written:
        sys.exit(f"{PAGE} differs from the comments in stdlib/: run scripts/stdlib_page.py RMLC write")


main()
