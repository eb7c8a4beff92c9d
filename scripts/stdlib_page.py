#!/usr/bin/env python3
"""The standard library's reference page, and its examples as tests, from the modules themselves.

    stdlib_page.py RMLC write    writes docs/manual/stdlib.md
    stdlib_page.py RMLC check    exit status 1 unless the page is what would be written
    stdlib_page.py RMLC test     runs every example through both engines

In a module, the comment that opens the file tells of the module, and the one above a node of
that node: text, with code indented by four more spaces. Every node has an example: a program,
and below it the rows of its inputs and outputs:

    -- Twice `x`.
    --
    --     node main(x: f64) -> (y: f64)
    --       y = module.twice(x);
    --
    --     x | 1 2
    --     y | 2 4
    node twice(x) -> (y)

The imports that an example needs are put before it. Signatures are the compiler's.
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
        if opening and node:
            sys.exit(f"{path}: a blank line ends what is said of the module before what is said of {node.group(1)}")
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
    """Yields (node, program, rows); a node without one is an error."""
    for node, block in comments(path):
        if node is None:
            continue
        found = None
        for (_, lines), (kind, rows) in zip(parts(block), parts(block)[1:]):
            if is_example(lines) and kind == "code" and all(" | " in row for row in rows):
                found = with_imports(path.stem, lines), rows
        if not found:
            sys.exit(f"{path}: node {node} has no example")
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
        "Written by `scripts/stdlib_page.py` from the comments in `stdlib/`; the examples are run by the tests.\n"
        "Under a program stand its inputs and outputs, one column per cycle. In a signature, `'a` is any type\n"
        "(of those named after `where`); shapes are told in the text. A stream without `when` is present wherever\n"
        "its node is called; `at 'k1` marks what need not be, static arguments for instance.\n"
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
        # Their values alone: tests/stdlib has the nodes in every engine.
        return subprocess.run([rmlc, "test", "--brief", folder], check=False).returncode


def main():
    rmlc, mode = sys.argv[1:]
    if mode == "test":
        sys.exit(test(rmlc))
    written = page(rmlc)
    if mode == "write":
        PAGE.write_text(written, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != written:
        sys.exit(f"{PAGE} is not what the modules say: run scripts/stdlib_page.py RMLC write")


main()
