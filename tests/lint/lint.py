"""Rules of the code base that no compiler checks.

Run by ctest: lint.py REPOSITORY RULE. Each rule is a function that yields what breaks it.
"""

import fnmatch
import graphlib
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve()
FOLDERS = ["frontend", "semantics", "onnx", "lowering", "compiler", "driver", "runtime"]
# The folders of this project that each folder may include.
MAY_SEE = {
    "frontend": {"frontend"},
    "semantics": {"frontend", "semantics"},
    "onnx": {"frontend", "semantics", "onnx"},
    "lowering": {"frontend", "semantics", "lowering"},
    "runtime": {"runtime"},
    "compiler": {"frontend", "semantics", "onnx", "lowering", "compiler", "runtime"},
    "driver": {"frontend", "semantics", "onnx", "lowering", "compiler", "driver", "runtime"},
}
# The rooms that each room of an ordered folder may include.
ROOMS = {
    "semantics/values": set(),
    "semantics/operators": {"values"},
    "semantics/core": {"operators", "values"},
    "semantics/check": {"core", "operators", "values"},
    "semantics/differentiate": {"check", "operators", "values"},
    "semantics/simplify": {"core", "operators", "values"},
    "semantics/spread": {"core", "operators", "simplify", "values"},
    "semantics/instantiate": {"check", "core", "operators", "simplify", "spread", "values"},
    "semantics/crossing": {"core"},
    "semantics/time": {"check", "core", "crossing", "simplify", "values"},
    "semantics/reference": {"core", "values"},
    "runtime/base": set(),
    "lowering/llvm/module": set(),
    "lowering/llvm/function": {"module"},
    "lowering/llvm/scalars": {"function", "module"},
    "lowering/llvm/products": {"function", "module", "scalars"},
    "lowering/llvm/elements": {"function", "module", "products", "scalars"},
    "lowering/llvm/windows": {"function", "module", "products"},
    "lowering/llvm/queues": {"function", "module"},
    "lowering/llvm/statements": {"elements", "function", "module", "products", "queues"},
    "lowering/llvm/operators": {
        "elements", "function", "module", "products", "scalars", "statements", "windows",
    },
    "lowering/llvm/program": {"function", "module", "queues", "statements"},
    "lowering/llvm/toolchain": {"module"},
    "lowering/llvm/lanes": {"toolchain"},
    "lowering/llvm/interface": {"function", "lanes", "module", "operators", "program", "statements", "toolchain"},
}
# C headers for the interface between compiled programs and the runtime.
C_INTERFACES = r"runtime/base/rmlrt\.h|runtime/demand/table\.h|runtime/kernels/[a-z_]+\.h"
# Everything that prints uses this header to make texts fit for a terminal.
FOR_ALL = "runtime/base/readable.h"
LONGEST_FILE = 600
FORBIDDEN = ["TO" + "DO", "FIX" + "ME", r"\bXX" + r"X\b", r"\bfor " + "now", r"\bha" + r"ck"]


def tracked():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode == 0:
        names = listed.stdout.split("\n")
    else:  # lists an exported tree without Git: all files except those of build folders
        names = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if "build" not in p.relative_to(ROOT).parts[:1]]
    return [ROOT / n for n in names if n and (ROOT / n).is_file()]


def relative(path):
    return path.relative_to(ROOT).as_posix()


def text(path):
    return path.read_text(encoding="utf-8", errors="replace")


def sources():
    return [p for p in tracked() if p.suffix in (".cc", ".h", ".c") and relative(p).split("/")[0] in FOLDERS]


def includes(path):
    for number, line in enumerate(text(path).split("\n"), 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if found:
            yield number, found.group(2)


def rule_includes():
    """Includes point in one direction: driver, compiler, lowering, semantics, frontend; the
    runtime includes none of them.

    All may include the C headers that compiled programs and the runtime share.
    """
    for path in sources():
        folder = relative(path).split("/")[0]
        for number, target in includes(path):
            first = target.split("/")[0]
            if target == FOR_ALL or (re.fullmatch(C_INTERFACES, target) and folder != "frontend"):
                continue
            if first in FOLDERS and "/" in target and first not in MAY_SEE[folder]:
                yield f"{relative(path)}:{number}: {folder} includes {target}"


def rule_rooms():
    """No two rooms include each other; a room of an order includes no later one.

    A room is a folder of the second level, or of the third if ROOMS names such folders.
    """
    seen = {}
    with_rooms = {room.rsplit("/", 1)[0] for room in ROOMS}

    def room_of(name):
        parts = name.split("/")[:-1]
        depth = 3 if "/".join(parts[:2]) in with_rooms else 2
        return "/".join(parts[:depth])

    for path in sources():
        room = room_of(relative(path))
        above, _, own = room.rpartition("/")
        if above in ("semantics", "lowering/llvm") and room not in ROOMS or room == "semantics":
            yield f"{relative(path)}: belongs to no room of {above or room}"
        for number, target in includes(path):
            other = room_of(target)
            if other.split("/")[0] != room.split("/")[0] or "/" not in other or other == room:
                continue
            seen.setdefault(room, set()).add(other)
            beside, _, name = other.rpartition("/")
            if room in ROOMS and above in (beside, other) and name not in ROOMS[room]:
                yield f"{relative(path)}:{number}: {room} includes {target}"
    try:
        graphlib.TopologicalSorter(seen).prepare()
    except graphlib.CycleError as cycle:
        yield "these rooms include each other: " + ", ".join(cycle.args[1])


def rule_third_parties():
    """ANTLR, LLVM, protobuf, libmosquitto, MPI and CLI11 are each included in one place."""
    places = {
        "ANTLR": (r"antlr4-runtime|RmlLexer|RmlParser", r"frontend/(parse|build_ast|scan)[a-z_]*\.(cc|h)"),
        "LLVM": (r"^llvm(-c)?/", r"lowering/llvm/.*"),
        "protobuf": (r"^google/protobuf|\.pb\.h$", r"onnx/(read_model|decode_tensor|write_model)\.cc"),
        "libmosquitto": (r"^mosquitto|^mqtt_protocol", r"runtime/stream_io/live/mqtt/.*"),
        "MPI": (r"^mpi\.h$", r"runtime/ranks/mpi/.*"),
        "CLI11": (r"^CLI/", r"driver/(main|command_options|usage_error)\.cc|driver/(command_line|usage_error)\.h|runtime/options/(complaints|options|training_options)\.cc"),
    }
    for path in sources():
        for number, target in includes(path):
            for name, (pattern, allowed) in places.items():
                if re.search(pattern, target) and not re.fullmatch(allowed, relative(path)):
                    yield f"{relative(path)}:{number}: {name} is included here ({target})"


def codes():
    return re.findall(r"RML_DIAGNOSTIC\(([EW]\d{4}),", text(ROOT / "frontend/diagnostics.def"))


def rule_diagnostics():
    """Every code has a page and a test, and is reported somewhere."""
    tests = "\n".join(text(p) for p in tracked() if relative(p).startswith("tests/") and p.suffix == ".rml")
    reported = "\n".join(text(p) for p in sources())
    for code in codes():
        page = ROOT / f"frontend/explain/{code}.md"
        if not page.is_file():
            yield f"frontend/explain/{code}.md: missing"
        elif f"# {code}" not in text(page).split("\n")[0]:
            yield f"frontend/explain/{code}.md: does not begin with '# {code}'"
        if not re.search(rf"^\s*--\s*(reject|warn):\s*{code}\b", tests, re.M):
            yield f"{code}: no test expects it"
        if f"Code::{code}" not in reported:
            yield f"{code}: no source reports it"


def rule_length():
    """No source file is longer than a few screens."""
    for path in sources():
        lines = text(path).count("\n")
        if lines > LONGEST_FILE:
            yield f"{relative(path)}: {lines} lines, more than {LONGEST_FILE}"


def rule_opening():
    """Every source file opens with a comment of its own."""
    for path in sources():
        if not re.match(r"(//|/\*)", text(path)):
            yield f"{relative(path)}: does not open with a comment"


def rule_words():
    """The sources contain no words that postpone or excuse work."""
    pattern = re.compile("|".join(FORBIDDEN), re.I)
    # Templates for mkstemp and similar functions, such as XXXXXX.
    template = re.compile(r"[Xx]{6,}")
    for path in tracked():
        if path.suffix not in (".cc", ".h", ".c", ".md", ".rml", ".py", ".txt", ".cmake", ".g4", ".def", ".sh", ""):
            continue
        if path.name == "LICENSE":
            continue
        for number, line in enumerate(text(path).split("\n"), 1):
            found = pattern.search(template.sub("", line))
            if found:
                yield f"{relative(path)}:{number}: '{found.group(0)}'"


def passes():
    """The name, the taken form, the made form and the file of each row in the list of passes."""
    return re.findall(
        r'\{"(\w+)",\s*Form::(\w+),\s*Form::(\w+),\s*"(?:[^"\\]|\\.)*",\s*"([^"]+)",\s*[\w<>]+\}',
        text(ROOT / "compiler/passes.cc"))


# The sources that run passes, so that they read a program between two passes.
RUNNERS_OF_PASSES = {
    "compiler/pass_text.cc", "compiler/passes.cc", "compiler/pipeline.cc", "compiler/translation.cc",
    "tests/forms/forms_of_the_tree.cc", "tests/golden/golden.cc",
}


def rule_passes():
    """The files in the list of passes exist, and the page on the pipeline has a row for each
    pass."""
    page = "docs/design/1-pipeline.md"
    rows = re.findall(r"^\| `(\w+)` \| \w+ → ", text(ROOT / page), re.M)
    names = [name for name, *_ in passes()]
    if len(names) < 40:
        yield f"compiler/passes.cc: {len(names)} passes; the lint has not found all of them"
    if rows != names:
        yield f"{page}: the table of passes differs from the output of `rmlc opt --list`"
    for name, _, _, file in passes():
        if not (ROOT / file).is_file():
            yield f"compiler/passes.cc: {name}: the file {file} does not exist"
    for path in sources():
        if relative(path) not in RUNNERS_OF_PASSES and '#include "compiler/translation.h"' in text(path):
            yield f"{relative(path)}: only the code that runs passes includes compiler/translation.h; " \
                  "a pass takes its form and its options"


# The sources that may compare with the name of an operator, and the reason. Elsewhere a property of the operator's row
# (OperatorInfo) says what matters about it, so that a further operator needs a row only.
MAY_NAME_OPERATORS = {
    "compiler/reference_program.cc": "looks through negations of conditions",
    "compiler/set_parameters.cc": "an optimiser moves a parameter by a sum",
    "lowering/c/helpers.cc": "the name is one of a scalar function in C",
    "lowering/demand/build_on_demand.cc": "looks through negations of conditions",
    "lowering/loops/read_loops.cc": "reads words of the text of loops",
    "lowering/loops/write_places.cc": "the text is an attribute, which says how elements are combined",
    "lowering/schedule/check/validate_schedule.cc": "looks through negations of conditions",
    "lowering/steps/verify_steps.cc": "looks through negations of conditions",
    "semantics/check/resolve_names.cc": "messages about single operators",
    "semantics/check/resolve_names_call.cc": "`param` is a keyword",
    "semantics/check/resolve_names_modules.cc": "`param` is a keyword",
    "semantics/differentiate/operators.cc": "reads functions of derivative rules",
    "semantics/instantiate/literals.cc": "`all` is the default of an attribute",
    "semantics/instantiate/solve_shapes_rules.cc": "`all` is the default of an attribute",
    "semantics/instantiate/warn_of_pairs.cc": "warns of differences and comparisons",
    "semantics/instantiate/warn_pitfalls.cc": "warns of comparisons",
    "semantics/simplify/stabilise.cc": "rewrites formulas of these functions",
    "semantics/time/check_ranks.cc": "looks through negations of conditions",
    "semantics/time/places.cc": "`param` is a word of a place",
    "semantics/time/put_on_ranks.cc": "replaces the sums of the library `steps`",
}


def rule_operators():
    """Passes and code generation recognise operators by properties of their rows, not by their names."""
    names = set(re.findall(r"^### (\w+)$", text(ROOT / "docs/manual/operators.md"), re.M))
    if len(names) < 150:
        yield f"docs/manual/operators.md: {len(names)} operators; the lint has not found all of them"
    compared = re.compile(r'(?:[=!]= |\bapply_of\([^;]*?, |\b(?:starts|ends)_with\()"(\w+)"')
    naming = set()
    for path in sources():
        name = relative(path)
        if name.split("/")[0] not in ("semantics", "lowering", "compiler") or name.startswith("semantics/operators/"):
            continue
        for found in compared.finditer(text(path)):
            if found[1] not in names:
                continue
            naming.add(name)
            if name not in MAY_NAME_OPERATORS:
                line = text(path).count("\n", 0, found.start()) + 1
                yield f'{name}:{line}: compares with the name "{found[1]}"; use a property of the operator\'s row'
    for name in sorted(MAY_NAME_OPERATORS.keys() - naming):
        yield f"MAY_NAME_OPERATORS: {name} compares with no operator's name"


# Words that are hard to understand; docs and comments use the noun instead.
REPLACED_WORDS = r"\b(?:who" + r"ever|no" + r"body|hangs? " + r"on|parted " + r"by)\b"
NOT_OURS_TO_REWORD = {"CHANGELOG.md", "examples/charlm/excerpt.txt"}
# The limits on "what" per 1,000 words of a folder's C++ comments. They only decrease.
MOST_WHAT = {
    "compiler": 1, "driver": 3, "frontend": 1, "lowering": 3, "onnx": 1, "runtime": 1, "semantics": 1, "tests": 1,
}


def rule_plain():
    """Comments, pages, help and messages use plain words (CONTRIBUTING.md)."""
    counts = {folder: [0, 0] for folder in MOST_WHAT}
    for path in tracked():
        name = relative(path)
        if name in NOT_OURS_TO_REWORD or path.suffix in (".onnx", ".npz", ".npy", ".svg", ".ipynb"):
            continue
        body = text(path)
        for number, line in enumerate(body.split("\n"), 1):
            if found := re.search(REPLACED_WORDS, line, re.I):
                yield f"{name}:{number}: `{found.group(0)}`: name the subject, or write `depends on`, `separated by`"
        folder = name.split("/")[0]
        if folder in counts and path.suffix in (".cc", ".h"):
            for pair in re.findall(r"//([^\n]*)|/\*(.*?)\*/", body, re.S):
                words = re.findall(r"[A-Za-z']+", " ".join(pair).lower())
                counts[folder][0] += len(words)
                counts[folder][1] += words.count("what")
    for folder, (words, whats) in counts.items():
        if whats * 1000 > MOST_WHAT[folder] * words:
            yield f"{folder}: {whats} `what` in {words} words of comment, more than {MOST_WHAT[folder]} in 1,000"


def rule_values():
    """Every node of the library has values from another package or script, in f32 and f64, at
    ordinary arguments and at edges."""
    folder = ROOT / "tests/stdlib/values"
    covered = {}
    for path in folder.glob("*.rml"):
        found = re.search(r"^-- arguments: (.*)$", text(path), re.M)
        dtype = path.stem.rsplit("_", 1)[-1]
        for node in set(re.findall(r"\b([a-z]\w*\.\w+|fby_end|post_end|backfill|param_end)\(", text(path))):
            covered.setdefault(node, set()).update((dtype, kind) for kind in found.group(1).split())
    wanted = {(dtype, kind) for dtype in ("f32", "f64") for kind in ("ordinary", "edge")}
    for module in sorted((ROOT / "stdlib").glob("*.rml")):
        for name in re.findall(r"^node (\w+)", text(module), re.M):
            node = name if module.stem == "prelude" else f"{module.stem}.{name}"
            # The gradient of a node is tested with the node.
            absent = set() if name.startswith("diff_") else wanted - covered.get(node, set())
            if absent:
                shown = ", ".join(f"{dtype} {kind}" for dtype, kind in sorted(absent))
                yield f"{module.name}: {node} lacks values in tests/stdlib/values: {shown}"


def rule_citations():
    """Pages that comments cite exist, with the cited sections: `docs/page.md §3` is a heading
    `3. …`, `docs/page.md, "Title"` a heading with that text."""
    commented = (".cc", ".h", ".c", ".g4", ".def", ".proto", ".cmake", ".pml")
    mention = re.compile(r'([\w./-]*\w\.md)(?:(?:,? sections?|,? §+)\s*([\d.]*\d)|, "([^"]+)"| (\d[\d.]*\d|\d)\b)?')
    for path in tracked():
        if path.suffix not in commented or relative(path).split("/")[0] in ("docs", "build"):
            continue
        whole = text(path)
        # A comment may continue after the comment sign of the next line.
        joined = re.sub(r"\n[ \t]*(?://|\*|#)?[ \t]*", " ", whole)
        for found in mention.finditer(joined):
            page, section, title, bare = found.groups()
            # A URL, or a placeholder for many pages.
            if page.startswith("//") or page.endswith(("CODE.md", "NAME.md")):
                continue
            file = ROOT / page
            cited = found.group(0)
            if not file.is_file():
                yield f"{relative(path)}: there is no {page} ({cited})"
                continue
            headings = [h.strip() for h in re.findall(r"^#+ (.*)$", text(file), re.M)]
            number = section or bare
            if number and not any(re.match(rf"{re.escape(number)}\.? ", h) for h in headings):
                yield f"{relative(path)}: {page} has no section {number}"
            if title and title not in headings:
                yield f"{relative(path)}: {page} has no heading '{title}'"


def rule_links():
    """Links of pages lead to existing files and headings; the contents of the manual list
    every page of it."""
    def anchors(page):
        fences = re.sub(r"^```.*?^```", "", text(page), flags=re.M | re.S)
        titles = re.findall(r"^#+ (.*)$", fences, re.M)
        return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}

    for page in tracked():
        if page.suffix != ".md":
            continue
        prose = re.sub(r"^```.*?^```", "", text(page), flags=re.M | re.S)
        for link in re.findall(r"\]\(([^)\s]+)\)", prose):
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            if re.match(r"[a-z]+:", link):
                continue
            if not target.exists():
                yield f"{relative(page)}: there is no {name}"
            elif anchor and anchor not in anchors(target):
                yield f"{relative(page)}: {name} has no heading {anchor}"
    manual = ROOT / "docs/manual"
    contents = text(manual / "README.md")
    for page in sorted(manual.glob("*.md")):
        if page.name != "README.md" and f"({page.name})" not in contents:
            yield f"docs/manual/README.md: {page.name} is not in the contents"


def rule_errands():
    """CONTRIBUTING's lists of files name all files that contain their example, and no others.

    A heading `### An errand: N places, those of `WORD`` is followed by a numbered list of N
    items. Each item begins with files in backquotes (`*` matches any text), or with a folder of
    that name. Every file outside of tests and docs that contains WORD must be one of them.
    """
    page = text(ROOT / "CONTRIBUTING.md")
    parts = re.split(r"^### (.*)$", page, flags=re.M)[1:]
    found = 0
    for title, body in zip(parts[::2], parts[1::2]):
        head = re.fullmatch(r"(.*): (\d+) places, those of `([^`]+)`", title)
        if not head:
            continue
        found += 1
        errand, count, word = head.group(1), int(head.group(2)), head.group(3).lower()
        items = re.findall(r"^\d+\. ((?:`[^`]+`(?:,\s+)?)+):", body.split("\n## ")[0], re.M)
        if len(items) != count:
            yield f"CONTRIBUTING.md: {errand}: {len(items)} places, not {count}"
        named = {name for item in items for name in re.findall(r"`([^`]+)`", item)}
        having = {relative(p) for p in tracked() if p.suffix != ".onnx" and word in text(p).lower()}
        for name in sorted(named):
            if not fnmatch.filter(having, name) and not (word in name and (ROOT / name).is_dir()):
                yield f"CONTRIBUTING.md: {errand}: {name} does not mention {word}"
            having -= set(fnmatch.filter(having, name))
        for name in sorted(having):
            if name.startswith("python/tests/"):
                continue
            if name.split("/")[0] not in ("tests", "docs", "benchmarks", "CONTRIBUTING.md", "CHANGELOG.md"):
                yield f"CONTRIBUTING.md: {errand}: {name} mentions {word}, but the list does not name it"
    if found != 6:
        yield f"CONTRIBUTING.md: has {found} lists of places, not 6"


def main():
    rule = globals()["rule_" + sys.argv[2]]
    problems = list(rule())
    for problem in problems:
        print(problem)
    if problems:
        sys.exit(f"{len(problems)} problems: {rule.__doc__}")


main()
