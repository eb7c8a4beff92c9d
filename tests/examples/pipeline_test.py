"""examples/pipeline: pipeline_test.py RMLC REPOSITORY, run by ctest.

The pipeline must print the output of the network without registers two cycles later, bit for
bit, on both engines. Both must learn like a network that is trained here in double precision,
with gradients written by hand."""

import math
import pathlib
import struct
import sys
import tempfile
import zipfile

from programs import output_of, rows
from safetensors import matrix, parameters

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
PROGRAM = ROOT / "examples/pipeline/pipeline.rml"
LAYERS = ("first_stage", "second_stage", "third_stage")
CYCLES, RATE = 900, 0.005


def array(archive, name):
    with zipfile.ZipFile(archive) as file:
        content = file.read(name + ".npy")
    return content[10 + struct.unpack("<H", content[8:10])[0] :]


def train(layers, samples):
    """Yields the loss and the digit of each (image, label, learned), and updates `layers`."""
    for image, label, learned in samples:
        inputs, x = [], [v / 16 for v in image]
        for depth, (kernel, bias) in enumerate(layers):
            inputs.append(x)
            x = [b + sum(w * v for w, v in zip(row, x)) for row, b in zip(kernel, bias)]
            if depth < 2:
                x = [max(0.0, v) for v in x]
        top = max(x)
        total = sum(math.exp(v - top) for v in x)
        yield math.log(total) + top - x[label], x.index(top)
        if not learned:
            continue
        d = [math.exp(v - top) / total - (k == label) for k, v in enumerate(x)]
        for (kernel, bias), x in zip(reversed(layers), reversed(inputs)):
            back = [sum(kernel[u][k] * d[u] for u in range(len(d))) if x[k] > 0 else 0.0 for k in range(len(x))]
            for u, g in enumerate(d):
                bias[u] -= RATE * g
                kernel[u] = [w - RATE * g * v for w, v in zip(kernel[u], x)]
            d = back


def main():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        learn, test, state = (f"{folder}/{name}" for name in ("learn.npz", "test.npz", "state"))
        output_of([sys.executable, ROOT / "examples/digits/images.py", ROOT / "examples/digits/excerpt.csv", learn, test])
        run = [RMLC, "run", PROGRAM, "--input", learn, "--cycles"]
        piped = output_of([*run, CYCLES + 2, "-D", "pipelined=true"])
        direct = output_of([*run, CYCLES, "-D", "pipelined=false"])
        reference = output_of([*run, 12, "-D", "pipelined=true", "--engine", "reference"])
        strict = output_of([*run, 12, "-D", "pipelined=true", "--strict-math"])
        # With steps of length 0 the weights keep their initial values.
        output_of([*run, 4, "-D", "pipelined=true", "-D", "rate=0.0", "--save", state])
        saved = parameters(state)
        images, labels, learned = (array(learn, name) for name in ("image", "label", "train"))
    if piped.splitlines()[3:] != direct.splitlines()[1:]:
        problems.append("the pipeline prints something else than the network without registers")
    if reference != strict:
        problems.append("the compiled and the reference engine print different rows")
    layers = [(matrix(saved[f"network.{n}.dense.kernel"]), saved[f"network.{n}.dense.bias"][0]) for n in LAYERS]
    samples = [(images[64 * k : 64 * k + 64], labels[k], learned[k]) for k in range(CYCLES)]
    table = rows(direct)
    for k, (row, (loss, digit)) in enumerate(zip(table, train(layers, samples))):
        if not math.isclose(row["l"], loss, rel_tol=2e-3, abs_tol=1e-4) or row["predicted"] != digit:
            problems.append(f"image {k}: loss {row['l']}, digit {row['predicted']} instead of {loss}, {digit}")
    averages = [row["average_loss"] for row in table if row["average_loss"] is not None]
    if len(averages) != 6 or not averages[4] < 0.85 * averages[0]:
        problems.append(f"the loss does not fall: {averages}")
    sys.exit("\n".join(problems[:20]) or 0)


main()
