"""examples/finetune on digits of another set, enlarged to images of 28 by 28: finetune_test.py
RMLC REPOSITORY, run by ctest.

Both imported networks are tested on the digits and trained on them, and must be better
afterwards. Both engines must print the same for a few batches."""

import pathlib
import shutil
import sys
import tempfile

from mnist_digits import samples, write
from programs import output_of, rows

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
EXAMPLE = ROOT / "examples/finetune"
PASSES = 3
failures = []

with tempfile.TemporaryDirectory() as place:
    folder = pathlib.Path(place)
    digits = samples(ROOT)
    held, learned = digits[:50], digits[50:]
    write(folder, "train", learned)
    write(folder, "t10k", held)
    output_of([sys.executable, ROOT / "examples/mnist/batches.py", folder, folder / "learn.npz", folder / "test.npz",
               "--passes", str(PASSES)])
    shutil.copy(EXAMPLE / "tune.rml", folder)
    for network in ("cnn", "gru"):
        output_of([RMLC, "import", EXAMPLE / f"{network}.onnx", "-o", folder / "model.rml", "--trainable", "*"])
        tested = rows(output_of([RMLC, "run", folder / "tune.rml", "--node", "classify", "--input",
                                 folder / "test.npz"]))
        passes = rows(output_of([RMLC, "run", folder / "tune.rml", "-D", f"passes={PASSES}", "-D", f"steps={len(learned) // 50}",
                                 "--input", folder / "learn.npz"]))
        before, after = tested[-1]["accuracy"], [row["accuracy"] for row in passes if row["accuracy"] is not None][-1]
        if not after > before:
            failures.append(f"{network}: {before} right as imported, {after} after training")
        few = [output_of([RMLC, "run", folder / "tune.rml", "--node", "classify", "--engine", engine,
                          "--strict-math", "--input", folder / "test.npz"]) for engine in ("compiled", "reference")]
        if few[0] != few[1]:
            failures.append(f"{network}: the engines differ\n{few[0]}\n{few[1]}")

print("\n".join(failures) if failures else "both networks are better after training")
sys.exit(1 if failures else 0)
