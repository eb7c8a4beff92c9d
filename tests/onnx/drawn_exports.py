"""Exports random programs over tensors. Each must become a valid model that computes the same, or
be refused with E0808.

    drawn_exports.py RMLC FROM COUNT

Case N is program N of export_programs.py. Its rows by `rmlc run` are compared with those of the
model. The model is run by `rmlc run` and, if the packages onnx and onnxruntime are installed, by
ONNX Runtime, or by ONNX's reference evaluator if ONNX Runtime lacks the types. The types of every
node are checked with ONNX's schemas (operator_types.json), and with the package's own checker if
it is installed.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

import export_programs
import model_types

try:
    import onnx
    import onnxruntime
    from onnx.reference import ReferenceEvaluator
except ImportError:
    onnx = None
KINDS = ["same", "unjudged", "refused", "invalid", "wrong", "not_compiled", "crashed"]


def run(folder, *command):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120)


def close(wanted, found, near):
    if wanted.shape != found.shape or wanted.dtype != found.dtype:
        return False
    if wanted.dtype.kind != "f":
        return np.array_equal(wanted, found)
    near = max(near, 1e-4 if wanted.dtype == np.float32 else 0)
    return np.allclose(found, wanted, rtol=near, atol=near, equal_nan=True)


def differing(program, wanted, found, near, who):
    for name in (name for name, _, _ in program.outputs):
        if not close(wanted[name], found[name], near):
            return f"{who}: {name}\n{wanted[name]}\nis wanted, found\n{found[name]}"
    return ""


class Unjudged(Exception):
    """Raised if no other evaluator runs the model."""


def by_others(path, program, states):
    """Rows of the model by ONNX Runtime, or by the Python evaluator if that lacks an operator
    for these types; and the required tolerance."""
    onnx.checker.check_model(onnx.load(path), full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(str(path), options)
        names, near = [port.name for port in session.get_outputs()], 1e-9
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
        session = ReferenceEvaluator(str(path))
        names, near = session.output_names, 1e-6  # limit of errors; the evaluator's erf of f64 has the precision of
                                                  # f32
    rows, held = {name: [] for name in names}, {}
    for cycle in range(export_programs.CYCLES):
        inputs = {name: np.asarray(array[cycle, ...]) for name, array in program.inputs.items()}
        try:
            with np.errstate(all="ignore"):
                results = dict(zip(names, session.run(None, inputs | held), strict=True))
        except Exception as error:  # evaluators raise any class of exception
            if isinstance(session, ReferenceEvaluator):
                raise Unjudged(str(error)) from error
            raise
        held = {state: np.asarray(results[f"{state}_next"]) for state in states}
        for name in names:
            rows[name].append(np.asarray(results[name]))
    return {name: np.stack(each) for name, each in rows.items()}, near


def judged(rmlc, case, folder):
    """Returns the kind of the case, and a message about it."""
    program = export_programs.Program(case)
    (folder / "p.rml").write_text(program.source)
    np.savez(folder / "in.npz", **program.inputs)
    done = run(folder, rmlc, "run", "p.rml", "--input", "in.npz", "--output", "out.npz")
    if done.returncode != 0:
        return "not_compiled", done.stderr
    wanted = np.load(folder / "out.npz")
    done = run(folder, rmlc, "export", "p.rml", "-o", "p.onnx")
    if done.returncode != 0:
        codes = set(re.findall(r"^error\[(\w+)\]", done.stderr, re.MULTILINE))
        return ("refused", "") if done.returncode == 1 and codes == {"E0808"} else ("crashed", done.stderr)
    model = model_types.read(folder / "p.onnx")
    if said := model_types.faults(model):
        return "invalid", said
    states = model_types.states(model)
    again = run(folder, rmlc, "run", "p.onnx", *(a for s in states for a in ("--state", f"{s}={s}_next")), "--input",
                "in.npz", "--output", "again.npz")
    if again.returncode != 0 and "operator GridSample is not supported" not in again.stderr:
        return "wrong", "rmlc run of the model: " + again.stderr
    if again.returncode == 0 and (said := differing(program, wanted, np.load(folder / "again.npz"), 1e-9, "by rmlc")):
        return "wrong", said
    if onnx is not None:
        try:
            if said := differing(program, wanted, *by_others(folder / "p.onnx", program, states), "by others"):
                return "wrong", said
        except Unjudged:
            return "unjudged", ""
        except onnx.checker.ValidationError as error:
            return "invalid", f"onnx.checker: {error}"
        except Exception as error:  # evaluators raise any class of exception
            return "wrong", f"by others: {type(error).__name__}: {error}"
    return "same", ""


def main():
    rmlc, first, count = str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2]), int(sys.argv[3])
    counts = dict.fromkeys(KINDS, 0)
    with tempfile.TemporaryDirectory() as place:
        for case in range(first, first + count):
            kind, said = judged(rmlc, case, pathlib.Path(place))
            counts[kind] += 1
            if said:
                print(f"case {case}: {kind}: {said[:1500]}\n{export_programs.Program(case).source}", flush=True)
    print(f"cases={count} " + " ".join(f"{kind}={n}" for kind, n in counts.items()))
    return 1 if count - counts["same"] - counts["unjudged"] - counts["refused"] else 0


if __name__ == "__main__":
    sys.exit(main())
