"""examples/digits on its bundled excerpt: digits_test.py RMLC REPOSITORY, run by ctest.

The program must learn the held-out digits. `classify` must use the saved parameters, from
which its values are recomputed here. Both engines must print the same for a few batches."""

import pathlib
import sys
import tempfile
import zipfile

from programs import output_of, rows
from safetensors import matrix, parameters

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
EXAMPLE = ROOT / "examples/digits"
PROGRAM = EXAMPLE / "digits.rml"
PATH = "criterion.network."


def samples(archive, images):
    """The images that TEST.npz must contain, in order: some lines of the excerpt."""
    known = {tuple(row[:-1]): row[-1] for row in images}
    with zipfile.ZipFile(archive) as file:
        content = file.read("image.npy")
    content = content[10 + int.from_bytes(content[8:10], "little") :]
    held = [tuple(content[k : k + 64]) for k in range(0, len(content), 64)]
    return [(image, known[image]) for image in held]


def affine(kernel, bias, x):
    return [sum(w * v for w, v in zip(row, x)) + b for row, b in zip(matrix(kernel), bias[0])]


def classify(saved, image):
    hidden = affine(saved[PATH + "dense_end.kernel"], saved[PATH + "dense_end.bias"], [v / 16 for v in image])
    scores = affine(saved[PATH + "dense_end2.kernel"], saved[PATH + "dense_end2.bias"], [max(0.0, v) for v in hidden])
    return scores.index(max(scores))


def main():
    excerpt = [list(map(int, line.split(","))) for line in (EXAMPLE / "excerpt.csv").read_text().split()]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        learn, test, state = (f"{folder}/{name}" for name in ("learn.npz", "test.npz", "state"))
        output_of([sys.executable, EXAMPLE / "images.py", EXAMPLE / "excerpt.csv", learn, test, "--passes", 20])
        table = rows(output_of([RMLC, "run", PROGRAM, "--input", learn, "--save", state]))
        passes = [row for row in table if row["accuracy"] is not None]
        tested = rows(output_of([RMLC, "run", PROGRAM, "--node", "classify", "--input", test, "--load-params", state]))
        short = ["run", PROGRAM, "-D", "units=8", "--input", learn, "--cycles", "320"]
        if output_of([RMLC, *short, "--strict-math"]) != output_of([RMLC, *short, "--engine", "reference"]):
            problems.append("the compiled and the reference engine print different rows")
        held, saved = samples(test, excerpt), parameters(state)
    if len(held) != len(excerpt) // 5 or len(passes) != 40:
        problems.append(f"{len(held)} images held out, {len(passes)} passes")
    wanted = [classify(saved, image) for image, _ in held]
    if wanted != [row["predicted"] for row in tested]:
        problems.append("the digits are not those that the saved parameters give")
    right = sum(a == label for a, (_, label) in zip(wanted, held)) / len(held)
    for name, found in ("classify", tested[-1]["accuracy"]), ("main", passes[-1]["accuracy"]):
        if abs(found - right) > 1e-9:
            problems.append(f"accuracy by {name}: {found} instead of {right}")
    for a in range(10):
        for b in range(10):
            count = sum(label == a and w == b for w, (_, label) in zip(wanted, held))
            if tested[-1][f"counts[{a},{b}]"] != count:
                problems.append(f"{tested[-1][f'counts[{a},{b}]']} times {a} as {b} instead of {count}")
    if right < 0.9:
        problems.append(f"only {right} of the images held out are classified right")
    if not passes[-2]["average_loss"] < 0.1 * passes[0]["average_loss"]:
        problems.append("the loss does not fall")
    sys.exit("\n".join(problems) or 0)


main()
