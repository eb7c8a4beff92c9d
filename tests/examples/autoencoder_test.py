"""examples/autoencoder on the excerpt of examples/digits: autoencoder_test.py RMLC REPOSITORY,
by ctest.

NumPy computes the reconstruction of held-out images from the saved parameters, and compares it
with eight principal components, which must be worse. Layers that are not being trained must
not change, and both engines must print the same for some batches."""

import pathlib
import sys
import tempfile
import zipfile

import numpy

from programs import output_of, rows
from safetensors import parameters

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
PROGRAM, DIGITS = ROOT / "examples/autoencoder/autoencoder.rml", ROOT / "examples/digits"


def relu(x):
    return numpy.maximum(x, 0)


def layers(path):
    saved = parameters(path)
    tensor = lambda name: numpy.reshape(saved[name][0], saved[name][1])
    return [(tensor(f"stack.layer{k}.kernel"), tensor(f"stack.layer{k}.bias")) for k in ("", "2", "3", "4")]


def reconstruct(weights, x):
    for k, (kernel, bias) in enumerate(weights):
        x = x @ kernel.T + bias
        x = relu(x) if k in (0, 2) else x
    return x


def principal(learned, held, components):
    mean = learned.mean(axis=0)
    directions = numpy.linalg.svd(learned - mean, full_matrices=False)[2][:components]
    return (held - mean) @ directions.T @ directions + mean


def images(archive):
    with zipfile.ZipFile(archive) as file:
        return numpy.load(file.open("image.npy")) / 16


def main():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        learn, test, state, first, second = (f"{folder}/{name}" for name in ("learn.npz", "test.npz", "state", "first", "second"))
        output_of([sys.executable, DIGITS / "images.py", DIGITS / "excerpt.csv", learn, test, "--passes", 60])
        table = rows(output_of([RMLC, "run", PROGRAM, "--input", learn, "--save", state]))
        tested = rows(output_of([RMLC, "run", PROGRAM, "--node", "reconstruct", "--input", test, "--load-params", state]))
        for path, passes in (first, 3), (second, 6):
            output_of([RMLC, "run", PROGRAM, "--input", learn, "--cycles", 300 * passes, "--save", path])
        short = ["run", PROGRAM, "-D", "wide=5", "-D", "alone=1", "--input", learn, "--cycles", "960"]
        if output_of([RMLC, *short, "--strict-math"]) != output_of([RMLC, *short, "--engine", "reference"]):
            problems.append("the compiled and the reference engine print different rows")
        weights, early, later = layers(state), layers(first), layers(second)
        known, held = images(learn)[:240], images(test)
    # The outer layers learn first, and the inner two only after ten passes.
    moved = [not numpy.array_equal(a[0], b[0]) for a, b in zip(early, later)]
    if moved != [True, False, False, True]:
        problems.append(f"layers that moved while the first learned: {moved}")
    wanted = reconstruct(weights, held)
    found = numpy.array([[row[f"y[{k}]"] for k in range(64)] for row in tested])
    if found.shape != wanted.shape or numpy.abs(found - wanted).max() > 1e-4:
        problems.append("the images are not those that the saved parameters give")
    error, by_components = (((y - held) ** 2).mean() for y in (wanted, principal(known, held, 8)))
    last = [row["error"] for row in table if row["error"] is not None][-1]
    if abs(tested[-1]["error"] - error) > 1e-5 or abs(last - error) > 1e-5:
        problems.append(f"errors {tested[-1]['error']} and {last} instead of {error}")
    if not error < by_components:
        problems.append(f"the error is {error}, that of eight principal components {by_components}")
    sys.exit("\n".join(problems) or 0)


main()
