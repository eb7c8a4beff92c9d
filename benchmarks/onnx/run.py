#!/usr/bin/env python3
"""Compares models as programs with the same models in ONNX Runtime, step by step: run.py [MODEL…]

Prints for each model the median, the 99.9th percentile and the maximum of the times of a step, in microseconds, and
their ratios. Both run alternately in several passes; each number is the minimum of all passes. The same numbers for
steps that only wait as long as our median show the disturbance by the machine. The last columns are sizes.

  RMLC     the compiler                     (default: ../../build/release/bin/rmlc)
  ORT_LIB  libonnxruntime.so                (default: that of the Python package onnxruntime)
  MODELS   folder with dtln_1, dtln_2, gtcrn_simple, light  (default: ../../../shared/data/models)
  BUILD    scratch folder                   (default: TMPDIR/rml-onnx)
  RUNS     passes                           (default: 5)

Python needs onnx and NumPy, to draw random weights for ResNet-50.
"""
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RMLC = pathlib.Path(os.environ.get("RMLC", ROOT / "build/release/bin/rmlc")).resolve()
MODELS = pathlib.Path(os.environ.get("MODELS", ROOT.parent / "shared/data/models")).resolve()
BUILD = pathlib.Path(os.environ.get("BUILD", pathlib.Path(tempfile.gettempdir()) / "rml-onnx"))
RUNS = int(os.environ.get("RUNS", "5"))


def library():
    if "ORT_LIB" in os.environ:
        return os.environ["ORT_LIB"]
    import onnxruntime
    return str(next((pathlib.Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so*")))


def call(*command, cwd=None):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, cwd=cwd).stdout


def digits(path):
    """Exports the network of examples/mnist with its initial parameters."""
    small = (ROOT / "examples/mnist/mnist.rml").read_text().replace("batch: i32 = 50", "batch: i32 = 1")
    path.with_suffix(".rml").write_text(small + """
node begin(image: f32[batch, 784]) -> (scores: f32[batch, 10])
  scores = network(image);
""")
    state = path.with_suffix(".state")
    image = ",".join(["0"] * 784)
    subprocess.run([str(RMLC), "run", str(path.with_suffix(".rml")), "--node", "begin", "--save", str(state)], check=True,
                   input=",".join(f'"image[0,{k}]"' for k in range(784)) + "\n" + image + "\n", text=True,
                   capture_output=True)
    call(RMLC, "export", path.with_suffix(".rml"), "--node", "begin", "--load-params", state, "-o", path)


def residual(path):
    """Writes ResNet-50 with random weights. The model in MODELS has a constant of one value in place of each weight."""
    import numpy as np
    import onnx
    from onnx import numpy_helper
    model = onnx.load(str(MODELS / "light/light_resnet50.onnx"))
    rng = np.random.default_rng(0)
    shapes = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    kept = []
    for n in model.graph.node:
        if n.op_type != "ConstantOfShape":
            kept.append(n)
            continue
        shape = [int(e) for e in shapes[n.input[0]]]
        fan = max(1, math.prod(shape[1:]))
        weights = rng.normal(size=shape) / math.sqrt(fan) if len(shape) > 1 else rng.uniform(0.9, 1.1, size=shape)
        model.graph.initializer.append(numpy_helper.from_array(weights.astype(np.float32), n.output[0]))
    del model.graph.node[:]
    model.graph.node.extend(kept)
    model.ir_version = max(model.ir_version, 4)  # from this version on, initializers need not be inputs
    onnx.save(model, str(path))


# Each entry is name: (model, or a function that makes it; number of steps; input; output; states).
CASES = {
    "digits": (digits, 20000, "image:1x784", "scores:1x10", []),
    "dtln_1": ("dtln_1/model.onnx", 5000, "input_2:1x1x257", "activation_2:1x1x257",
               ["input_3=tf_op_layer_stack_2:1x2x128x2"]),
    "dtln_2": ("dtln_2/model.onnx", 5000, "input_4:1x1x512", "conv1d_3:1x1x512",
               ["input_5=tf_op_layer_stack_5:1x2x128x2"]),
    "gtcrn": ("gtcrn_simple/model.onnx", 1500, "mix:1x257x1x2", "enh:1x257x1x2",
              ["conv_cache=conv_cache_out:2x1x16x16x33", "tra_cache=tra_cache_out:2x3x1x1x16",
               "inter_cache=inter_cache_out:2x1x33x16"]),
    "resnet50": (residual, 20, "gpu_0/data_0:1x3x224x224", "gpu_0/softmax_1:1x1000", []),
}


def elements(port):
    return math.prod(int(e) for e in port.rsplit(":", 1)[1].split("x"))


def prepare(name):
    source, steps, given, wanted, states = CASES[name]
    folder = BUILD / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "model.onnx"
    if callable(source):
        if not path.exists():
            source(path)
    else:
        path = MODELS / source
    keep = [word for s in states for word in ("--state", s.rsplit(":", 1)[0])]
    begin = time.monotonic()
    call(RMLC, "build", path, *keep, "-O3", "--cpu", "native", "--emit", "lib", "-o", folder / "main.o", cwd=folder)
    seconds = time.monotonic() - begin
    call(RMLC, "build", path, *keep, "-O3", "--cpu", "native", "-o", folder / "program", cwd=folder)
    runtime = RMLC.parent.parent / "lib/rmlc/librmlrt.a"
    call("g++", "-O2", "-std=c++20", f"-DINPUTS={elements(given)}", f"-DOUTPUTS={elements(wanted)}", f"-I{folder}",
         HERE / "own.cc", folder / "main.o", runtime, "-lpthread", "-lz", "-lm", "-o", folder / "own")
    call("g++", "-O2", "-std=c++20", HERE / "onnx_runtime.cc", "-ldl", "-o", BUILD / "onnx_runtime")
    call("g++", "-O2", "-std=c++20", HERE / "clock.cc", "-o", BUILD / "clock")
    size = (folder / "program").stat().st_size
    return ([folder / "own", steps], [BUILD / "onnx_runtime", library(), path, steps, given, wanted, *states],
            seconds, size, path.stat().st_size)


def main():
    names = sys.argv[1:] or list(CASES)
    print(f"{'model':10}" + "".join(f"{'ours ' + what:>12}{'ORT':>10}{'ratio':>7}{'clock':>10}"
                                    for what in ("median", "99.9 %", "max"))
          + f"{'build s':>9}{'program MB':>12}{'model MB':>10}  checksums")
    for name in names:
        own, other, seconds, size, model = prepare(name)
        # Least times: of our program, of ONNX Runtime, of steps that only wait.
        best = [[math.inf] * 3 for _ in range(3)]
        for _ in range(RUNS):
            sums = []
            for k, command in enumerate((own, other)):
                *times, checksum = map(float, call(*command).split())
                best[k] = [min(pair) for pair in zip(best[k], times)]
                sums.append(checksum)
            *times, _ = map(float, call(BUILD / "clock", own[1], best[0][0]).split())
            best[2] = [min(pair) for pair in zip(best[2], times)]
        near = abs(sums[0] - sums[1]) <= 1e-3 * abs(sums[1])
        print(f"{name:10}" + "".join(f"{m:12.1f}{o:10.1f}{o / m:7.2f}{c:10.1f}" for m, o, c in zip(*best))
              + f"{seconds:9.1f}{size / 1e6:12.2f}{model / 1e6:10.2f}  {'agree' if near else f'DIFFER {sums}'}", flush=True)


main()
