"""Where each source folder is tested: writes tests/README.md, or checks it.

    tests_map.py REPOSITORY write    writes the page
    tests_map.py REPOSITORY check    exit status 1 unless the page is what would be written (run by ctest)

A unit test belongs to the folders whose headers it includes. A folder of tests is described by the first sentence of
the comment that opens its CMakeLists.txt.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
PAGE = ROOT / "tests/README.md"
TOP = ("frontend", "semantics", "onnx", "lowering", "compiler", "driver", "runtime")
HEAD = """# Tests

`tests/lint/tests_map.py . write` writes this page. `scripts/test` runs all tests; `ctest --test-dir build/dev -R NAME` runs those
whose names match. How tests are made is in [CONTRIBUTING](../CONTRIBUTING.md); which generator reaches which construct is in
[coverage](coverage.md).

"""


def rooms():
    """Returns the folders with sources, such as `semantics/check`."""
    found = {path.parent.relative_to(ROOT) for top in TOP for path in (ROOT / top).rglob("*.cc")}
    return sorted(str(room) for room in found)


def includes(path):
    return re.findall(r'^#include "([\w/]+)/[\w.]+"', path.read_text(encoding="utf-8"), re.M)


def helpers(path):
    """Returns the headers under tests/ that a test includes."""
    names = re.findall(r'^#include "(tests/[\w/]+\.h)"', path.read_text(encoding="utf-8"), re.M)
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def unit_tests():
    """The unit tests of each source folder: those that include a header of it, themselves or by a helper."""
    tests = collections.defaultdict(list)
    for path in sorted((ROOT / "tests/unit").rglob("*_test.cc")):
        direct = {room for room in includes(path) if room.split("/")[0] in TOP}
        helped = {room for helper in helpers(path) for room in includes(helper) if room.split("/")[0] in TOP}
        for room in direct | helped:
            tests[room].append(path)
    return tests


def links(paths):
    folders = collections.defaultdict(list)
    for path in paths:
        folders[path.parent.relative_to(ROOT / "tests")].append(path.name.removesuffix("_test.cc"))
    return "; ".join(f"[{folder}]({folder}): " + ", ".join(names) for folder, names in sorted(folders.items()))


def first_sentence(cmake):
    text = []
    for line in cmake.read_text(encoding="utf-8").split("\n"):
        if not line.startswith("#"):
            break
        text.append(line.lstrip("# "))
    found = re.match(r"(.*?\.)(?: |$)", " ".join(text))
    return found.group(1) if found else ""


def page():
    tests = unit_tests()
    text = HEAD + "## Unit tests of each source folder\n\n| sources | tests |\n|---|---|\n"
    for room in rooms():
        text += f"| [{room}](../{room}) | {links(tests[room]) or 'tested through the folders below'} |\n"
    text += "\n## Tests of whole programs\n\n| folder | subject |\n|---|---|\n"
    for folder in sorted(path.parent for path in (ROOT / "tests").glob("*/CMakeLists.txt")):
        text += f"| [{folder.name}]({folder.name}) | {first_sentence(folder / 'CMakeLists.txt')} |\n"
    return text + "| [soak](soak) | Long searches, started by `scripts/soak`; each has a part in one of the folders above. |\n"


def problems(written):
    if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != written:
        yield "tests/README.md is out of date: python3 tests/lint/tests_map.py . write"
    for name in re.findall(r"^\| \[(\w+)\]\(\w+\) \|  \|$", written, re.M):
        yield f"tests/{name}/CMakeLists.txt does not begin with a sentence about its tests"


def main():
    written = page()
    if sys.argv[2] == "write":
        PAGE.write_text(written, encoding="utf-8")
        return
    found = list(problems(written))
    print("\n".join(found))
    sys.exit(1 if found else 0)


main()
