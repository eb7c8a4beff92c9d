"""ONNX's conformance suite and complete models, from ../shared or the folder that RML_SHARED
names. Run by ctest: shared_models.py RMLC REPOSITORY. If they are missing, it says so and exits
with status 77.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from model_writer import FLOAT, INT64, model, node, tensor, value

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
shared = pathlib.Path(os.environ.get("RML_SHARED", ROOT.parent / "shared"))
suite, models = shared / "onnx-suite", shared / "data" / "models"
if not suite.is_dir() or not models.is_dir():
    print(f"skipped: no onnx-suite and data/models in {shared}")
    sys.exit(77)
failures = []


def rmlc(*arguments, said=""):
    done = subprocess.run([RMLC, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0 or said not in done.stdout:
        failures.append(f"{' '.join(map(str, arguments))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


page = ROOT / "docs" / "manual" / "onnx_operators.md"
done = subprocess.run([sys.executable, ROOT / "tests" / "onnx" / "conformance.py", RMLC, suite, "--check", page],
                      capture_output=True, text=True)
if done.returncode != 0:
    failures.append(done.stderr)
# Eight steps each, with the state inside the program.
rmlc("test", models / "dtln_1", "--state", "input_3=tf_op_layer_stack_2")
rmlc("test", models / "dtln_2", "--state", "input_5=tf_op_layer_stack_5")
rmlc("test", models / "gtcrn_simple", *(a for n in ("conv_cache", "tra_cache", "inter_cache")
                                        for a in ("--state", f"{n}={n}_out")))
try:
    import onnxruntime
    library = next((pathlib.Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so*"))
    with tempfile.TemporaryDirectory() as place:
        # A fixed input between others, numbered as in the model; a mask without a use.
        file = pathlib.Path(place) / "fixed.onnx"
        file.write_bytes(model([node("Reshape", ["x", "to"], ["r"]), node("Dropout", ["r"], ["d", "mask"]),
                                node("Add", ["d", "z"], ["y"])],
                               [value("x", FLOAT, [6]), value("to", INT64, [2]), value("z", FLOAT, [3])],
                               [value("y", FLOAT, [2, 3])]))
        rmlc("compare", file, "--fix", "to=[2, 3]", "--onnxruntime", library, said="3 values agree")
        for k, array in enumerate((np.arange(6, dtype="f4"), np.array([2, 3]), np.ones(3, "f4"))):
            (pathlib.Path(place) / f"input_{k}.pb").write_bytes(tensor(array))
        rmlc("compare", file, "--fix", "to=[2, 3]", "--input", place, "--onnxruntime", library, said="3 values agree")
    for name in ("dtln_1", "dtln_2", "gtcrn_simple"):
        rmlc("compare", models / name / "model.onnx", "--input", models / name / "test_data_set_3", "--onnxruntime",
             library)
except ImportError:
    print("onnxruntime is not installed: rmlc compare is not tried")
with tempfile.TemporaryDirectory() as place:
    extent = 3 * 224 * 224
    image = (np.arange(extent).reshape(1, 3, 224, 224) / extent).astype(np.float32)
    for file in sorted((models / "light").glob("*.onnx")):
        case = pathlib.Path(place) / file.stem
        (case / "test_data_set_0").mkdir(parents=True)
        (case / "model.onnx").symlink_to(file)
        (case / "test_data_set_0" / "input_0.pb").write_bytes(tensor(image))
        (case / "test_data_set_0" / "output_0.pb").symlink_to(models / "light" / f"{file.stem}_output_0.pb")
    rmlc("test", place)
print("\n".join(failures) if failures else "the suite and the models pass")
sys.exit(1 if failures else 0)
