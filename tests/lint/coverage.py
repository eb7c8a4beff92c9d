"""The table of tests/coverage.md shows which searches reach which construct with which engine,
back end or tool.

Run by ctest: coverage.py REPOSITORY [--write]. The table is made from the counters that searches
print, which scripts/soak stores in tests/soak/reached.txt. --write writes it into the page. An
empty cell needs a line in the list below the table, `- construct × column: why`, where either may
be `any`. A line without an empty cell is an error as well.
"""

import collections
import pathlib
import re
import sys

BEGIN, END = "<!-- table: tests/lint/coverage.py --write -->\n", "<!-- end of the table -->\n"


def read_counters(root):
    """Returns the counters of the searches as {(construct, column): searches}."""
    found = collections.defaultdict(set)
    for line in (root / "tests/soak/reached.txt").read_text(encoding="utf-8").splitlines():
        search, column, constructs = line.split(": ", 2)
        for construct in re.findall(r"([^,]+?) \d+(?:, |$)", constructs):
            found[construct.strip(), column].add(search)
    return found


def table(constructs, columns, found):
    letters = {search: search[0].upper() for searches in found.values() for search in searches}
    letters.update(iterations="M")
    rows = [["construct", *columns], ["---"] * (1 + len(columns))]
    for construct in constructs:
        rows.append([construct, *("".join(sorted(letters[s] for s in found.get((construct, column), ()))) or "–"
                                  for column in columns)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def problems_of(page, constructs, columns, found):
    reasons = re.findall(r"^- (.+?) × (.+?): \S.*", page, re.M)
    empty = {(c, o) for c in constructs for o in columns if not found.get((c, o))}
    covered = set()
    for construct, column in reasons:
        for name, known in ((construct, constructs), (column, columns)):
            for part in name.split(", "):
                if part != "any" and part not in known:
                    yield f"`{part}` is neither a construct nor a column"
        cells = {(c, o) for c, o in empty if (construct == "any" or c in construct.split(", ")) and
                 (column == "any" or o in column.split(", "))}
        if not cells:
            yield f"`{construct} × {column}` is explained, but its cell is not empty"
        covered |= cells
    for construct, column in sorted(empty - covered):
        yield f"{construct} × {column} is empty, but no line says why"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(root / "tests/soak"))
    from constructs import COLUMNS, CONSTRUCTS

    file = root / "tests/coverage.md"
    page = file.read_text(encoding="utf-8")
    found = read_counters(root)
    head, _, rest = page.partition(BEGIN)
    current, _, tail = rest.partition(END)
    made = table(CONSTRUCTS, COLUMNS, found)
    if "--write" in sys.argv:
        file.write_text(head + BEGIN + made + END + tail, encoding="utf-8")
        current = made
    problems = [] if current == made else ["tests/coverage.md: its table is not that of reached.txt: coverage.py --write"]
    problems += problems_of(tail, CONSTRUCTS, COLUMNS, found)
    print("\n".join(problems))
    return 1 if problems else 0


sys.exit(main())
