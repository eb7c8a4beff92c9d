"""examples/mnist on digits of another set, enlarged to images of 28 by 28: mnist_test.py RMLC
REPOSITORY, run by ctest.

The program must learn them. `classify` must use the saved parameters, from which its digits
are recomputed here. Both engines must print the same for a few batches."""

import pathlib
import sys
import tempfile

from mnist_digits import samples, write
from programs import output_of, rows
from safetensors import parameters

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
EXAMPLE = ROOT / "examples/mnist"
PROGRAM = EXAMPLE / "mnist.rml"
BATCH, PASSES = 10, 12


def convolved(saved, path, channels, size, x, pad):
    """relu(max_pool(conv(x)) + bias) of images [channel][y][x], windows of 5 by 5 and 2 by 2."""
    kernel, bias = saved[path + ".kernel"][0], saved[path + ".bias"][0]
    wide = size + 2 * pad
    padded = [[0.0] * (wide * wide) for _ in x]
    for c, plane in enumerate(x):
        for y in range(size):
            padded[c][(y + pad) * wide + pad : (y + pad) * wide + pad + size] = plane[y * size : (y + 1) * size]
    out = wide - 4
    result = []
    for o in range(channels):
        taps = [(c, a * wide + b, kernel[((o * len(x) + c) * 5 + a) * 5 + b])
                for c in range(len(x)) for a in range(5) for b in range(5)]
        full = [[sum(w * padded[c][i * wide + j + at] for c, at, w in taps) for j in range(out)] for i in range(out)]
        result.append([max(0.0, bias[o] + max(full[2 * i + a][2 * j + b] for a in (0, 1) for b in (0, 1)))
                       for i in range(out // 2) for j in range(out // 2)])
    return result


def dense(saved, path, x):
    kernel, bias = saved[path + ".kernel"][0], saved[path + ".bias"][0]
    return [b + sum(w * v for w, v in zip(kernel[k * len(x) : (k + 1) * len(x)], x)) for k, b in enumerate(bias)]


def classify(saved, image):
    path = "criterion.network."
    first = convolved(saved, path + "convolution_pool", 8, 28, [[v / 255 for v in image]], 2)
    second = convolved(saved, path + "convolution_pool2", 16, 14, first, 0)
    hidden = [max(0.0, v) for v in dense(saved, path + "dense_rows", [v for plane in second for v in plane])]
    scores = dense(saved, path + "dense_rows3", [max(0.0, v) for v in dense(saved, path + "dense_rows2", hidden)])
    return scores.index(max(scores))


def main():
    digits = samples(ROOT)
    held, learned = digits[:60], digits[60:]
    problems = []
    constants = ["-D", f"batch={BATCH}", "-D", f"passes={PASSES}", "-D", f"steps={len(learned) // BATCH}"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write(folder, "train", learned)
        write(folder, "t10k", held)
        learn, test, state = (str(folder / file) for file in ("learn.npz", "test.npz", "state"))
        output_of([sys.executable, EXAMPLE / "batches.py", folder, learn, test, "--batch", BATCH, "--passes", PASSES])
        table = rows(output_of([RMLC, "run", PROGRAM, *constants, "--input", learn, "--save", state]))
        passes = [row for row in table if row["accuracy"] is not None]
        classes = [RMLC, "run", PROGRAM, *constants, "--node", "classify", "--input", test, "--load-params", state]
        tested = rows(output_of(classes))
        exact = rows(output_of([*classes, "--engine", "reference", "--cycles", 2]))
        saved = parameters(state)
    if len(passes) != 2 * PASSES or len(tested) != len(held) // BATCH:
        problems.append(f"{len(passes)} passes, {len(tested)} batches held out")
    found = [row[f"predicted[{k}]"] for row in tested for k in range(BATCH)]
    if [row[f"predicted[{k}]"] for row in exact for k in range(BATCH)] != found[: 2 * BATCH]:
        problems.append("the compiled and the reference engine classify differently")
    wanted = [classify(saved, image) for image, _ in held[:8]]
    if wanted != found[:8]:
        problems.append(f"the saved parameters give {wanted}, not {found[:8]}")
    right = sum(p == label for p, (_, label) in zip(found, held)) / len(held)
    for name, share in ("classify", tested[-1]["accuracy"]), ("main", passes[-1]["accuracy"]):
        if abs(share - right) > 1e-6:
            problems.append(f"accuracy by {name}: {share} instead of {right}")
    if right < 0.9:
        problems.append(f"only {right} of the images held out are classified right")
    sys.exit("\n".join(problems) or 0)


main()
