"""examples/higher_order: higher_order_test.py RMLC REPOSITORY, run by ctest.

Rows of both programs must equal those of JAX (examples/higher_order/jax_values.py), on both
engines, and the trained networks must solve their tasks."""

import json
import math
import pathlib
import sys
import tempfile

from programs import output_of

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
EXAMPLE = ROOT / "examples/higher_order"
RESULTS = {"pinn": ("loss", "y"), "maml": ("loss", "before")}


def table(program, count, *options):
    with tempfile.TemporaryDirectory() as folder:
        given, made = pathlib.Path(folder, "in.chron"), pathlib.Path(folder, "out.jsonl")
        given.write_text(output_of([sys.executable, EXAMPLE / "rows.py", program, count]))
        output_of([RMLC, "run", EXAMPLE / f"{program}.rml", "--input", given, "--output", made, *options])
        return [json.loads(line) for line in made.read_text().splitlines()]


def mean(values):
    return sum(values) / len(values)


def main():
    problems = []
    expected = json.loads((EXAMPLE / "expected.json").read_text())
    for program, results in RESULTS.items():
        for options in ((), ("--engine", "reference")):
            made = table(program, 500 if not options else 100, *options)
            for row, values in expected[program].items():
                for name, value in zip(results, values):
                    if int(row) < len(made) and not math.isclose(made[int(row)][name], value, rel_tol=1e-9):
                        problems.append(f"{program} {options}: row {row}, {name}: {made[int(row)][name]}, not {value}")
    solved, adapted = table("pinn", 3000)[-500:], table("maml", 3000)[-500:]
    if mean([row["loss"] for row in solved]) > 0.002:
        problems.append("the equation is not solved")
    if mean([row["loss"] for row in adapted]) > 0.4 * mean([row["before"] for row in adapted]):
        problems.append("one step does not adapt")
    print("\n".join(problems) or "well")
    return bool(problems)


sys.exit(main())
