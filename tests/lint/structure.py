"""Functions, classes, modules and folders must be small enough to read.

Run by ctest: structure.py REPOSITORY RULE. Violations are printed, one per line.

  functions   no function is longer than 60 lines or more complex than 25: one, plus one for each branch, loop, case,
              `catch`, `?`, `&&` and `||` in it, including its lambdas
  classes     the members of a class are defined in at most two files: its header and one source
  modules     a header and the source of the same name form a module; modules must not include each other in a cycle
  imports     the modules of the Python package do not import each other in a cycle, also not by imports inside of
              functions; imports for type checkers only do not count
  folders     no folder has more than 40 sources

The sources are formatted by clang-format and read as text. Comments and literals are blanked;
then the braces show namespaces, classes and functions.
"""

import ast
import collections
import pathlib
import re
import subprocess
import sys

LONGEST, MOST_COMPLEX, MOST_FILES, MOST_SOURCES = 60, 25, 2, 40
# The rooms to which the rules apply. Rooms may be added, and none removed.
ALL = ["frontend", "semantics", "onnx", "lowering", "compiler", "driver", "runtime", "python"]
HELD = {"functions": ALL, "classes": ALL, "modules": ALL, "imports": ["python/rmlc"], "folders": [*ALL, "tests"]}

EXTENSION = "rmlc._core"  # a module of the Python package that is not written in Python

COMMENT_OR_LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL
)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
DIGIT_SEPARATOR = re.compile(r"(?<=\d)'(?=[\da-fA-F])")
# `&&` between operands has spaces around it or begins a line; `&&` in a type does not.
BRANCH = re.compile(r"\b(?:if|for|while|case|catch)\b|\?|\|\||(?:(?<=\s)&&(?=\s))")


def blanked(text):
    """Replaces comments and literals by spaces; line numbers do not change."""

    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group())

    text = DIGIT_SEPARATOR.sub("_", text)
    return DIRECTIVE.sub(spaces, COMMENT_OR_LITERAL.sub(spaces, text))


Function = collections.namedtuple("Function", "name first last complexity")


def without_parentheses(text):
    while (shorter := re.sub(r"\([^()]*\)", " ", text)) != text:
        text = shorter
    return text


def kind_of(head):
    """The construct that a brace opens outside of functions, given the text since the last
    statement or brace."""
    head = re.sub(r"\b(?:public|private|protected)\s*:", " ", head)
    if re.search(r"\b(?:namespace\b[^()=]*|extern\s*)$", head):
        return "namespace"
    plain = without_parentheses(re.sub(r"^\s*template\s*<.*?>(?=\s*\w)", " ", head, flags=re.DOTALL))
    if re.search(r"^\s*(?:typedef\s+)?enum\b", plain):
        return "values"
    if "(" not in head.split("=")[0] and re.search(r"\b(?:class|struct|union)\b", plain):
        return "class"
    if re.search(r"\)\s*(?:const|noexcept|override|final|->[^;=]*|\s)*$", head):
        return "function"
    # A constructor, whose members may be initialised with braces before its own.
    if re.search(r"\)\s*(?:noexcept\s*)?:(?!:)", head) and re.search(r"[)}]\s*$", head):
        return "function"
    return "values"


class Outline:
    """The functions of a source, and the classes that it defines in namespaces, without nested
    ones."""

    def __init__(self, text):
        self.functions, self.classes = [], set()
        code = blanked(text)
        begin = 0  # beginning of the current statement, outside of functions
        stack = []  # open braces: the kind, and the beginning of the statement
        for brace in re.finditer(r"[{};]", code):
            at = brace.start()
            inside = bool(stack) and stack[-1][0] in ("function", "values")
            if brace.group() == "{":
                kind = "values" if inside else kind_of(code[begin:at])
                if kind == "class" and all(k == "namespace" for k, _ in stack):
                    self.classes |= set(re.findall(r"\b(?:class|struct|union)\s+(\w+)[^;{}]*$", code[begin:at])[:1])
                stack.append((kind, begin))
                if kind in ("namespace", "class"):
                    begin = at + 1
            elif brace.group() == "}" and stack:
                kind, first = stack.pop()
                if kind == "function":
                    self.functions.append(function(code, first, at))
                if kind != "values":  # after the `{…}` of a value its statement continues
                    begin = at + 1
            elif not inside:
                begin = at + 1


def function(code, first, last):
    text = code[first : last + 1]
    first += len(text) - len(text.lstrip())
    name = re.search(r"((?:\w+::)*(?:~?\w+|operator\s*\S+?))\s*\(", text)
    lines = code.count("\n", 0, first) + 1, code.count("\n", 0, last) + 1
    return Function(name.group(1) if name else "?", *lines, 1 + len(BRANCH.findall(text)))


def sources(root, folders, suffixes=(".h", ".cc")):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *folders],
        cwd=root, capture_output=True, text=True,
    )
    if listed.returncode == 0:
        names = listed.stdout.split("\n")
    else:  # lists an exported tree without Git
        names = [p.relative_to(root).as_posix() for folder in folders for p in (root / folder).rglob("*")]
    return {
        name: (root / name).read_text(encoding="utf-8")
        for name in sorted(names)
        if name.endswith(suffixes) and (root / name).is_file()
    }


# ---- the rules: each yields its violations


def rule_functions(texts):
    for path, text in texts.items():
        for f in Outline(text).functions:
            length = f.last - f.first + 1
            if length > LONGEST:
                yield f"{path}:{f.first}: {f.name} has {length} lines, more than {LONGEST}"
            if f.complexity > MOST_COMPLEX:
                yield f"{path}:{f.first}: {f.name} has complexity {f.complexity}, more than {MOST_COMPLEX}"


def module(path):
    return path.rsplit(".", 1)[0]


def included(text):
    return re.findall(r'^#include "([^"]+)"', text, re.MULTILINE)


def rule_classes(texts):
    outlines = {path: Outline(text) for path, text in texts.items()}
    homes = collections.defaultdict(set)  # for each name: the headers that define such a class
    for path, outline in outlines.items():
        for name in outline.classes if path.endswith(".h") else ():
            homes[name].add(path)
    files = collections.defaultdict(set)  # for each name and header
    for path, text in texts.items():
        for f in outlines[path].functions:
            owner, _, member = f.name.partition("::")
            if not member or owner in outlines[path].classes:
                continue  # skips a member of a class that this file defines
            # Of several classes with one name, the one whose header the source includes.
            seen = [home for home in homes[owner] if home in included(text)] if len(homes[owner]) > 1 else homes[owner]
            for home in seen:
                files[owner, home] |= {home, path}
    for (name, _), found in sorted(files.items()):
        if len(found) > MOST_FILES:
            yield f"the class {name} is defined in {len(found)} files, more than {MOST_FILES}: {', '.join(sorted(found))}"


def rule_modules(texts):
    needs = collections.defaultdict(set)
    for path, text in texts.items():
        for header in included(text):
            if header in texts and module(header) != module(path):
                needs[module(path)].add(module(header))
    for ring in rings(needs):
        files = [path for path in texts if module(path) in ring]
        if len(files) > MOST_FILES:
            yield f"{len(files)} files include each other in a ring: {', '.join(files)}"


def is_for_type_checkers(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imported(tree, package):
    """Yields the names of modules, or of names in modules, that run-time imports anywhere in a module name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(filter(None, [package if node.level else "", node.module]))
            yield from (f"{base}.{alias.name}" for alias in node.names)
        if is_for_type_checkers(node):
            for other in node.orelse:
                yield from imported(other, package)
        else:
            yield from imported(node, package)


def rule_imports(texts):
    names = {module(path).replace("/", ".").removeprefix("python."): path for path in texts}
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}
    needs = collections.defaultdict(set)
    for name, path in names.items():
        package = name if path.endswith("/__init__.py") else name.rpartition(".")[0]
        for wanted in imported(ast.parse(texts[path]), package):
            other = wanted if wanted in names else wanted.rpartition(".")[0]
            if other in names and other != name and wanted != EXTENSION:
                needs[name].add(other)
    for ring in rings(needs):
        yield f"{len(ring)} modules import each other in a ring: {', '.join(sorted(ring))}"


def rule_folders(texts):
    for folder, count in sorted(collections.Counter(path.rpartition("/")[0] for path in texts).items()):
        if count > MOST_SOURCES:
            yield f"{folder}: {count} sources, more than {MOST_SOURCES}"


def rings(needs):
    """Returns the rings: sets of at least two vertices that reach each other."""

    def reach(start):
        seen, work = set(), [start]
        while work:
            for v in needs.get(work.pop(), ()):
                if v not in seen:
                    seen.add(v)
                    work.append(v)
        return seen

    reached = {v: reach(v) for v in list(needs)}
    done = set()
    for v in sorted(reached):
        ring = {w for w in reached[v] if v in reached.get(w, ())}
        if v in reached[v] and v not in done:
            done |= ring
            yield ring


def main():
    root, rule = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    texts = sources(root, HELD[rule], (".py",) if rule == "imports" else (".h", ".cc"))
    if not any("def " in text if rule == "imports" else Outline(text).functions for text in texts.values()):
        sys.exit("no functions found: sources are not where they were, or are not read as they should be")
    found = list(globals()["rule_" + rule](texts))
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
