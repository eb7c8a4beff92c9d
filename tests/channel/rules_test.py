"""Every test that docs/manual/channel_rules.md names must exist: rules_test.py PAGE FOLDER…,
run by ctest."""

import pathlib
import re
import sys

PAGE, *FOLDERS = (pathlib.Path(a) for a in sys.argv[1:])
tests = set()
for folder in FOLDERS:
    for path in folder.glob("*_test.cc"):
        tests |= {".".join(found) for found in re.findall(r"^TEST\((\w+), (\w+)\)", path.read_text("utf-8"), re.M)}
named = re.findall(r"`(\w+\.\w+)`", "\n".join(
    row.rsplit("|", 2)[1] for row in PAGE.read_text("utf-8").split("\n") if row.startswith("|")))
unknown = sorted(set(named) - tests)
paddle = {name for name in tests if re.match(r"Paddle(Channel|Holder|Concurrency|Python)\.", name)}
missing = sorted({name for name in paddle if name not in named})
if len(named) < 80 or len(paddle) != 39 or unknown or missing:
    sys.exit(f"{len(named)} named, {len(paddle)} of Paddle's 39; unknown: {unknown}; not named: {missing}")
