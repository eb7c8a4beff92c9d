"""examples/resnet on the excerpt of examples/digits: resnet_test.py RMLC REPOSITORY, run by
ctest.

The outputs for held-out images are computed again from the saved parameters. They must be
right at least as often as logistic regression, and both engines must print the same for a
batch."""

import pathlib
import sys
import tempfile
import zipfile

import numpy

from programs import output_of, rows
from safetensors import parameters

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
PROGRAM, DIGITS = ROOT / "examples/resnet/resnet.rml", ROOT / "examples/digits"
PATH = "criterion.network."
BY_LOGISTIC_REGRESSION = 58 / 60


def relu(x):
    return numpy.maximum(x, 0)


class Network:
    def __init__(self, saved):
        self.saved = saved

    def tensor(self, name):
        values, shape = self.saved[PATH + name]
        return numpy.reshape(values, shape)

    def convolution(self, path, x):
        """3 by 3, with a border of zeros; x has the shape [images, channels, height, width]."""
        kernel, bias = (self.tensor(f"{path}.convolution_end.{name}") for name in ("kernel", "bias"))
        height, width = x.shape[2:]
        wide = numpy.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = ((kernel[:, :, i, j], wide[:, :, i : i + height, j : j + width]) for i in range(3) for j in range(3))
        return sum(numpy.einsum("oc,nchw->nohw", k, w) for k, w in windows) + bias[:, None, None]

    def block(self, path, x):
        inner = relu(self.convolution(f"{path}.three_by_three", x))
        return relu(x + self.convolution(f"{path}.three_by_three2", inner))

    def __call__(self, images):
        x = relu(self.convolution("three_by_three", numpy.reshape(images, (-1, 1, 8, 8)) / 16))
        x = self.block("block2", self.block("block", x))
        x = x.reshape(*x.shape[:2], 4, 2, 4, 2).max(axis=(3, 5))
        x = self.block("block4", self.block("block3", x))
        return x.mean(axis=(2, 3)) @ self.tensor("dense_end.kernel").T + self.tensor("dense_end.bias")


def main():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        learn, test, state = (f"{folder}/{name}" for name in ("learn.npz", "test.npz", "state"))
        output_of([sys.executable, DIGITS / "images.py", DIGITS / "excerpt.csv", learn, test, "--passes", 20])
        table = rows(output_of([RMLC, "run", PROGRAM, "--input", learn, "--save", state]))
        tested = rows(output_of([RMLC, "run", PROGRAM, "--node", "classify", "--input", test, "--load-params", state]))
        short = ["run", PROGRAM, "-D", "channels=2", "--input", learn, "--cycles", "48"]
        if output_of([RMLC, *short, "--strict-math"]) != output_of([RMLC, *short, "--engine", "reference"]):
            problems.append("the compiled and the reference engine print different rows")
        with zipfile.ZipFile(test) as archive:
            images, labels = (numpy.load(archive.open(name + ".npy")) for name in ("image", "label"))
        scores = Network(parameters(state))(images)
    passes = [row for row in table if row["accuracy"] is not None]
    told = numpy.argmax(scores, axis=1)
    # If two scores are nearly equal, rounding may decide.
    ordered = numpy.sort(scores, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] > 1e-3
    if len(tested) != 60 or clear.sum() < 58:
        problems.append(f"{len(tested)} images, {clear.sum()} of them clear")
    if any(sure and row["predicted"] != digit for row, digit, sure in zip(tested, told, clear)):
        problems.append("the digits are not those that the saved parameters give")
    right = (told == labels).mean()
    if abs(right - tested[-1]["accuracy"]) > 1e-9 or abs(right - passes[-1]["accuracy"]) > 1e-9:
        problems.append(f"accuracy {passes[-1]['accuracy']} and {tested[-1]['accuracy']} instead of {right}")
    if right < BY_LOGISTIC_REGRESSION - 1e-9:
        problems.append(f"only {right} of the images held out are classified right")
    sys.exit("\n".join(problems) or 0)


main()
