"""examples/ranks: ranks_test.py RMLC REPOSITORY, run by ctest.

Several ranks must learn the same as one process, to the bit. The result must predict the first
bit of new sequences."""

import pathlib
import sys
import tempfile

from programs import output_of, rows
from safetensors import parameters

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
EXAMPLE = ROOT / "examples/ranks"


def learned(program, data, folder, *options):
    """The parameters, and the output of the steps."""
    state = folder / "state"
    table = rows(output_of([RMLC, "run", program, "--node", "learn", "--input", data, "--save", state, "--quiet", *options]))
    names = list(table[0])
    values = {name: value for name, (value, _) in parameters(state).items() if name.startswith(("model.", "criterion."))}
    return {k: v for k, v in values.items() if k.endswith((".kernel", ".bias", ".recurrent"))}, [
        row[names[0]] for row in table if row[names[0]] is not None]


def main():
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program, bits = EXAMPLE / "recall.rml", folder / "bits.csv"
        output_of([RMLC, "run", program, "--node", "sequences", "--cycles", 16000, "--output", bits])
        images = folder / "images.npz"
        output_of([sys.executable, ROOT / "examples/digits/images.py", ROOT / "examples/digits/excerpt.csv", images,
                   folder / "test.npz", "--passes", 2])
        for source, data in ((program, bits), (EXAMPLE / "digits.rml", images)):
            alone = learned(source, data, folder)
            if len(alone[0]) < 4 or len(alone[1]) < 8:
                problems.append(f"{source.name}: {len(alone[0])} parameters, {len(alone[1])} steps")
            problems += [f"{source.name}: {ranks} ranks learn something else than one process" for ranks in (1, 2, 4)
                         if learned(source, data, folder, "--ranks", ranks) != alone]
            if source == program:
                (folder / "state").rename(folder / "learned")
        new = folder / "new.csv"
        output_of([RMLC, "run", program, "--node", "sequences", "--cycles", 1000, "--seed", 1, "--output", new])
        found = rows(output_of([RMLC, "run", program, "--node", "use", "--input", new, "--load-params", folder / "learned"]))
        pairs = [(row["wanted"], said["first_was_one"]) for row, said in zip(rows(new.read_text()), found) if row["end"]]
        if len(pairs) != 100 or any(wanted != said for wanted, said in pairs):
            problems.append(f"of {len(pairs)} first bits {sum(w == s for w, s in pairs)} are right")
    sys.exit("\n".join(problems) or 0)


main()
