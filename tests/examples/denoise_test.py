"""examples/denoise on the recording and the networks of ../shared (or RML_SHARED):
denoise_test.py RMLC REPOSITORY, run by ctest. If they are missing, it says so and exits with
status 77.

The noise must become quieter and the speech remain as loud. Both engines must print the same
for the beginning. If onnxruntime is installed, the same steps in NumPy and ONNX Runtime must
give the same samples."""

import os
import pathlib
import shutil
import sys
import tempfile

import numpy as np
from programs import output_of

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
shared = pathlib.Path(os.environ.get("RML_SHARED", ROOT.parent / "shared"))
MODELS, NOISY = shared / "data/models", shared / "data/audio/noisy_speech_mix.wav"
if not NOISY.is_file() or not (MODELS / "dtln_1").is_dir():
    print(f"skipped: no data/models/dtln_1 and data/audio in {shared}")
    sys.exit(77)
STATES = {"dtln_1": ("input_3", "tf_op_layer_stack_2"), "dtln_2": ("input_5", "tf_op_layer_stack_5")}
problems = []


def expected(blocks):
    """The clean blocks, computed by ONNX Runtime and NumPy; None if ONNX Runtime is not
    installed."""
    try:
        import onnxruntime
    except ImportError:
        return None
    networks = {name: onnxruntime.InferenceSession(str(MODELS / name / "model.onnx")) for name in STATES}
    states = {name: np.zeros(network.get_inputs()[1].shape, np.float32) for name, network in networks.items()}

    def network(name, x):
        inputs = networks[name].get_inputs()
        y, states[name] = networks[name].run(None, {inputs[0].name: x.reshape(1, 1, -1).astype(np.float32),
                                                    inputs[1].name: states[name]})
        return y.ravel()

    recent, added, clean = np.zeros(512, np.float32), np.zeros(512, np.float32), []
    for block in blocks:
        recent = np.concatenate([recent[128:], block])
        spectrum = np.fft.rfft(recent)
        masked = np.fft.irfft(spectrum * network("dtln_1", np.abs(spectrum)))
        added = np.concatenate([added[128:], np.zeros(128, np.float32)]) + network("dtln_2", masked)
        clean.append(added[:128])
    return np.array(clean)


with tempfile.TemporaryDirectory() as place:
    folder = pathlib.Path(place)
    shutil.copy(ROOT / "examples/denoise/denoise.rml", folder)
    for name, (state, next_state) in STATES.items():
        output_of([RMLC, "import", MODELS / name / "model.onnx", "-o", folder / f"{name}.rml", "--state",
                   f"{state}={next_state}"])
    output_of([sys.executable, ROOT / "examples/denoise/sound.py", "blocks", NOISY, folder / "noisy.npy"])
    run = [RMLC, "run", folder / "denoise.rml", "--input", folder / "noisy.npy"]
    output_of([*run, "--output", folder / "clean.npy"])
    few = [output_of([*run, "--cycles", 3, "--strict-math", "--engine", e]) for e in ("compiled", "reference")]
    noisy, clean = np.load(folder / "noisy.npy"), np.load(folder / "clean.npy")
    output_of([sys.executable, ROOT / "examples/denoise/sound.py", "wav", folder / "clean.npy", folder / "clean.wav"])
    output_of([sys.executable, ROOT / "examples/denoise/plot.py", NOISY, folder / "clean.wav", folder / "p.svg"])
    if (folder / "p.svg").stat().st_size < 100_000:
        problems.append("the picture is nearly empty")
if few[0] != few[1]:
    problems.append("the engines differ")
energy = [np.sort((sound**2).mean(axis=1)) for sound in (noisy[:-3], clean[3:])]
quiet, loud = ([e[part].mean() for e in energy] for part in (slice(len(noisy) // 10), slice(-len(noisy) // 10, None)))
if quiet[1] > quiet[0] / 100:
    problems.append(f"the quietest tenth of the blocks had an energy of {quiet[0]}, and has {quiet[1]}")
if loud[1] < loud[0] / 2:
    problems.append(f"the loudest tenth of the blocks had an energy of {loud[0]}, and has {loud[1]}")
wanted = expected(noisy)
if wanted is not None and not np.allclose(clean, wanted, rtol=1e-3, atol=1e-5):
    problems.append(f"the samples are not those of ONNX Runtime: off by up to {np.abs(clean - wanted).max()}")
sys.exit("\n".join(problems) or 0)
