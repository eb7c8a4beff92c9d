"""examples/co2 on its bundled excerpt: co2_test.py RMLC REPOSITORY, run by ctest.

With strict math, the reference engine, the program in memory and the native executable must
print the same bytes. The values must be those of expected_co2.py."""

import csv
import io
import math
import pathlib
import subprocess
import sys
import tempfile

from expected_co2 import expected

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
EXAMPLE = ROOT / "examples/co2"
PROGRAM = str(EXAMPLE / "co2.rml")
CLOSE = 1e-9


def output_of(command, text):
    """The output of `command`, and its messages."""
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout, done.stderr


def values(text):
    """The rows of a CSV file, None for an absent value."""
    return [{name: float(v) if v else None for name, v in row.items()} for row in csv.DictReader(io.StringIO(text))]


def differences(wanted, found):
    if len(wanted) != len(found):
        yield f"{len(found)} rows instead of {len(wanted)}"
    for week, (want, have) in enumerate(zip(wanted, found), 1):
        if want.keys() != have.keys():
            yield f"columns {sorted(want.keys() ^ have.keys())} on one side only"
            return
        for name in want:
            a, b = want[name], have[name]
            if (a is None) != (b is None) or (a is not None and not math.isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE)):
                yield f"week {week}, {name}: {b} instead of {a}"


def main():
    record = (EXAMPLE / "excerpt.csv").read_text()
    weeks, _ = output_of([sys.executable, EXAMPLE / "weeks.py"], record)
    rows = [
        (int(row["year"]), int(row["day"]), float(row["ppm"]) if row["ppm"] else None)
        for row in csv.DictReader(io.StringIO(weeks))
    ]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        native = folder + "/co2"
        output_of([RMLC, "build", PROGRAM, "--strict-math", "-o", native], "")
        compiled, remarks = output_of([RMLC, "run", PROGRAM, "--strict-math"], weeks)
        reference, _ = output_of([RMLC, "run", PROGRAM, "--engine", "reference"], weeks)
        executable, _ = output_of([native], weeks)
        # In a record that ends in July, that year's mean is unknown and everything before is
        # unchanged.
        cut, cut_remarks = output_of([native], "".join(weeks.splitlines(keepends=True)[:330]))
    if compiled != reference:
        problems.append("the compiled and the reference engine print different rows")
    if compiled != executable:
        problems.append("`rmlc run` and the executable print different rows")
    if remarks:
        problems.append(f"remarks on a record of whole years: {remarks}")
    problems += list(differences(expected(rows), values(compiled)))[:20]
    whole_years = sum(year < rows[328][0] for year, _, _ in rows[:329])
    if cut.splitlines() != compiled.splitlines()[: 1 + whole_years]:
        problems.append("a record cut in July does not give the rows of its whole years")
    if "undetermined" not in cut_remarks:
        problems.append(f"a record cut in July: nothing says that rows are missing: {cut_remarks!r}")
    last = values(compiled)[-1]
    if not last["linear_late"] < last["naive_late"] < last["seasonal_late"]:
        problems.append("the linear predictor does not beat the naive forecasts")
    sys.exit("\n".join(problems) or 0)


main()
