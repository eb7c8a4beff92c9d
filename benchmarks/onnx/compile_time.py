#!/usr/bin/env python3
"""Measures the time to import models of growing size: compile_time.py [RMLC]

The models are chains of elementwise operations, and chains of products, sums and functions. They are imported, then
compiled to object code at the default level. Time is linear in the size if the milliseconds per node are constant.
Python needs onnx and NumPy.
"""
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RMLC = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/release/bin/rmlc")


def chain(count, products, path):
    rng = np.random.default_rng(0)
    nodes, constants, last = [], [], "x"
    for k in range(count):
        name = f"v{k}"
        if k % 3 == 2:
            nodes.append(helper.make_node("Tanh", [last], [name]))
        else:
            product = products and k % 3 == 0
            values = rng.normal(size=(16, 16) if product else (16,)) / 4
            constants.append(numpy_helper.from_array(values.astype(np.float32), f"c{k}"))
            nodes.append(helper.make_node("MatMul" if product else "Add", [last, f"c{k}"], [name]))
        last = name
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 16]) for name in ("x", last)]
    graph = helper.make_graph(nodes, "chain", ports[:1], ports[1:], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)


def seconds(*command):
    begin = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    return time.monotonic() - begin


def main():
    print(f"{'chain':12}{'nodes':>7}{'import s':>10}{'build s':>10}{'ms a node':>11}")
    with tempfile.TemporaryDirectory() as folder:
        model = str(pathlib.Path(folder) / "chain.onnx")
        for kind in ("elementwise", "products"):
            for count in (1000, 2000, 4000, 8000):
                chain(count, kind == "products", model)
                alone = seconds(RMLC, "import", model, "-o", folder + "/chain.rml")
                build = seconds(RMLC, "build", model, "--emit", "obj", "-o", folder + "/chain.o")
                print(f"{kind:12}{count:7}{alone:10.2f}{build:10.2f}{1000 * build / count:11.2f}", flush=True)


main()
