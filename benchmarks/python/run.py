#!/usr/bin/env python3
"""Compares the package `rmlc` with other Python packages, each in one thread: run.py [PART…]

All run alternately. Prints a table with the processor time of each line, summed over all threads, the minimum of all
passes, and the ratio of our time to it. Then it prints the goals of the package's design. The package must be
importable. Peers that are not installed are left out and reported: numba, jax, torch, river, and a C compiler, which
is needed to time the same program in C.

  RUNS  passes  (default: 9)

The parts are: imports compilation steps controller online training.
"""

import os

os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1",
                   "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"})

import csv
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

import rmlc
import rmlc.online
from pid_in_c import pid_in_c

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = int(os.environ.get("RUNS", "9"))
ROWS = 1_000_000
GOALS = []  # entries (name, measured microseconds, allowed microseconds)

STEPS = """
node scalars(a: f64, b: f64, c: f64) -> (y: f64)
  y = a * b + c;
node vector(x: f32[128]) -> (y: f32[128])
  y = 0.5 * x + 0.5 * (zeros([128]) fby y);
"""
LSTM = """
import recurrent;
const units = 128;
node model(end: bool, x: f32[units]) -> (h: f32[units])
  h = recurrent.lstm_end(units, end, x);
node main(x: f32[units]) -> (h: f32[units])
  h = model(false, x);
node learn(end: bool, x: f32[units]) -> (h: f32[units])
  h, _ = diff model(end, x, true, -0.0001 * h);
"""


def least(cases):
    """Returns the microseconds per call of each case: the minimum of RUNS passes of about 50 ms, run alternately."""
    best = {name: float("inf") for name in cases}
    repeats = {}
    for name, call in cases.items():
        call()
        begin = time.process_time()
        call()
        repeats[name] = max(1, int(0.05 / max(time.process_time() - begin, 1e-7)))
    for _ in range(RUNS):
        for name, call in cases.items():
            begin = time.process_time()
            for _ in range(repeats[name]):
                call()
            best[name] = min(best[name], (time.process_time() - begin) / repeats[name] * 1e6)
    return best


def shown(value):
    return f"{value:,.3f}" if value < 10 else f"{value:,.0f}"


def table(title, cases):
    """Prints a line for each case; `rmlc` is the first."""
    best = least(cases)
    own = next(iter(best.values()))
    for k, (name, value) in enumerate(best.items()):
        print(f"| {title if k == 0 else '':52s} | {name:36s} | {shown(value):>10s} | {own / value if k else 1:8.3f} |",
              flush=True)
    return best


def has(name):
    found = importlib.util.find_spec(name) is not None
    if not found:
        print(f"  ({name} is not installed)")
    return found


# ---- the package itself --------------------------------------------------------------------------


def imports():
    def of(statement):
        code = f"import time; t = time.process_time(); {statement}; print(time.process_time() - t)"

        def measured():
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            return float(done.stdout)

        return measured

    measures = {"rmlc": of("import rmlc"), "NumPy": of("import numpy")}
    if has("jax"):
        measures["JAX"] = of("import jax")
    if has("numba"):
        measures["Numba"] = of("import numba")
    best = {name: min(measure() for _ in range(max(3, RUNS // 3))) * 1e6 for name, measure in measures.items()}
    for k, (name, value) in enumerate(best.items()):
        print(f"| {'import' if k == 0 else '':52s} | {name:36s} | {shown(value):>10s} | {best['rmlc'] / value:8.3f} |")
    GOALS.append(("P2, import", best["rmlc"], 30_000))
    loaded = "import sys, rmlc; sys.exit('numpy' in sys.modules)"
    print("NumPy is " + ("" if subprocess.run([sys.executable, "-c", loaded], check=False).returncode else "not ")
          + "imported with it")


def compilation():
    texts = (LSTM + f"-- {k}\n" for k in range(10**9))

    def cold():
        rmlc.compile(next(texts)).node("main")

    def to_first_step():
        rmlc.compile(next(texts)).node("main").start().step(np.zeros(128, np.float32))

    cases = {"rmlc": cold, "rmlc, and its first step": to_first_step,
             "rmlc, from its cache": lambda: rmlc.compile(LSTM).node("main")}
    if has("jax"):
        cases["JAX, trace and compile"] = jax_lstm
    best = table("LSTM of 128 units, text to node", cases)
    GOALS.append(("P3, compiled", best["rmlc"], 120_000))
    GOALS.append(("P3, from the cache", best["rmlc, from its cache"], 5_000))


def jax_lstm():
    import jax

    numpy = jax.numpy

    def step(kernel, recurrent, bias, h, c, x):
        i, f, g, o = numpy.split(kernel @ x + recurrent @ h + bias, 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * numpy.tanh(g)
        return jax.nn.sigmoid(o) * numpy.tanh(c), c

    matrix, vector = jax.ShapeDtypeStruct((512, 128), "float32"), jax.ShapeDtypeStruct((128,), "float32")
    jax.clear_caches()
    jax.jit(step).lower(matrix, matrix, jax.ShapeDtypeStruct((512,), "float32"), vector, vector, vector).compile()


# ---- cycles and runs -----------------------------------------------------------------------------


def steps():
    module = rmlc.compile(STEPS)
    scalars = module.node("scalars").start()

    def function(a, b, c):
        return a * b + c

    cases = {"rmlc": lambda: scalars.step(1.0, 2.0, 3.0), "rmlc, by name": lambda: scalars.step(a=1.0, b=2.0, c=3.0),
             "a function of Python": lambda: function(1.0, 2.0, 3.0)}
    if has("numba"):
        import numba

        compiled = numba.njit(function)
        cases["Numba"] = lambda: compiled(1.0, 2.0, 3.0)
    if has("jax"):
        import jax

        jitted = jax.jit(function)
        cases["JAX"] = lambda: jitted(1.0, 2.0, 3.0).block_until_ready()
    GOALS.append(("P4, step of three scalars", table("step, 3 scalars in, 1 out", cases)["rmlc"], 0.3))

    vector = module.node("vector").start()
    x, held = np.ones(128, np.float32), np.zeros(128, np.float32)
    cases = {"rmlc": lambda: vector.step(x), "NumPy, in place": lambda: np.add(0.5 * x, 0.5 * held, out=held)}
    if has("torch"):
        import torch

        torch.set_num_threads(1)
        u, v = torch.ones(128), torch.zeros(128)
        cases["torch, in place"] = lambda: v.mul_(0.5).add_(u, alpha=0.5)
    GOALS.append(("P4, step of f32[128]", table("step, f32[128] in and out", cases)["rmlc"], 0.7))


# The controller of examples/pid: the same operations in the same order.
def pid(target, measured, command):
    integral, before = 0.0, target[0] - measured[0]
    for k in range(len(target)):
        error = target[k] - measured[k]
        wanted = 8.0 * error + 0.4 * integral + 2.0 * (error - before) / 0.5
        found = min(100.0, max(0.0, wanted))
        command[k] = found
        if wanted == found:
            integral += error * 0.5
        before = error


def controller():
    random = np.random.default_rng(0)
    target, measured = random.normal(50, 1, ROWS), random.normal(48, 2, ROWS)
    node = rmlc.load(ROOT / "examples/pid/pid.rml").node("pid")
    instance = node.start()
    columns = {"target": target, "measured": measured}
    command = np.empty(ROWS)
    few = 10_000  # number of rows for a loop in Python; a million rows take too long
    pid(target[:few].tolist(), measured[:few].tolist(), command[:few])
    np.testing.assert_allclose(instance.copy().run(columns).command[:few], command[:few], rtol=1e-12)
    cases = {"rmlc": lambda: instance.run(columns)}
    with tempfile.TemporaryDirectory() as folder:
        in_c = pid_in_c(node, pathlib.Path(folder))
        if in_c is None:
            print("  (no C compiler)")
        else:
            found = np.empty(ROWS)
            in_c(target, measured, found)
            np.testing.assert_array_equal(found, node.start().run(columns).command)
            cases["C, its output there"] = lambda: in_c(target, measured, command)
            cases["C, a new output"] = lambda: in_c(target, measured, np.empty(ROWS))
        cases["one write of new memory"] = lambda: np.empty(ROWS).fill(1.0)
        if has("numba"):
            import numba

            loop = numba.njit(pid)
            cases["Numba, its output there"] = lambda: loop(target, measured, command)
            cases["Numba, a new output"] = lambda: loop(target, measured, np.empty(ROWS))
        if has("jax"):
            scan, given = jax_scan(target, measured)
            np.testing.assert_allclose(scan(*given)[:few], node.start().run(columns).command[:few], rtol=1e-12)
            cases["JAX, scan"] = lambda: scan(*given).block_until_ready()
        best = table(f"run, a PID over {ROWS:,} rows", cases)
    if in_c is not None:
        GOALS.append(("P5, run of 10^6 rows", best["rmlc"],
                      1.05 * best["C, its output there"] + best["one write of new memory"]))
    listed = target[:few].tolist(), measured[:few].tolist(), [0.0] * few
    small = {name: np.ascontiguousarray(column[:few]) for name, column in columns.items()}
    table(f"the same over {few:,} rows", {"rmlc": lambda: instance.run(small),
                                          "a loop of Python over lists": lambda: pid(*listed)})


def jax_scan(target, measured):
    import jax

    jax.config.update("jax_enable_x64", True)

    def body(state, row):
        integral, before, first = state
        error = row[0] - row[1]
        before = jax.numpy.where(first, error, before)
        wanted = 8.0 * error + 0.4 * integral + 2.0 * (error - before) / 0.5
        found = jax.numpy.clip(wanted, 0.0, 100.0)
        return (integral + jax.numpy.where(wanted == found, error * 0.5, 0.0), error, False), found

    scan = jax.jit(lambda t, m: jax.lax.scan(body, (0.0, 0.0, True), (t, m))[1])
    return scan, (jax.numpy.asarray(target), jax.numpy.asarray(measured))


# ---- learning ------------------------------------------------------------------------------------


def online():
    if not has("river"):
        return
    from river import datasets, linear_model, optim

    rows = list(datasets.Phishing())
    names = sorted(rows[0][0])
    node = rmlc.compile(f"""
node model(x: f64[{len(names)}]) -> (z: f64)
  w = param(zeros([{len(names)}]));
  z = dot(w, x) + param(0.0);
node main(x: f64[{len(names)}], y: f64) -> (p: f64)
  z, _ = diff model(x, true, 0.01 * (y - p));
  p = sigmoid(z);
""", name="logistic.rml").node()
    x = np.array([[each[name] for name in names] for each, _ in rows])
    y = np.array([float(label) for _, label in rows])

    def theirs():
        model = linear_model.LogisticRegression(optimizer=optim.SGD(0.01), l2=0.0, intercept_lr=0.01)
        for each, label in rows:
            model.predict_proba_one(each)
            model.learn_one(each, label)
        return model

    def by_row():
        fresh = node.start()
        for each, label in zip(x, y):
            fresh.step(each, label)

    def by_dict():
        model = rmlc.online.BinaryClassifier(rate=0.01)
        for each, label in rows:
            model.predict_proba_one(each)
            model.learn_one(each, label)

    instance = node.start()
    instance.run(x=x, y=y)
    weights = theirs().weights
    np.testing.assert_allclose(instance.params["model.w"], [weights[name] for name in names], rtol=1e-9)
    table(f"logistic regression, the {len(rows):,} rows of Phishing", {
        "rmlc": lambda: node.start().run(x=x, y=y), "rmlc, step by step": by_row, "rmlc.online, dicts": by_dict,
        "River, dicts": theirs})
    evaluated(x, y)


def evaluated(x, y):
    """Times the command, which reads the same rows from CSV, predicts, computes the metric and learns."""
    with tempfile.TemporaryDirectory() as folder:
        with open(pathlib.Path(folder) / "rows.csv", "w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow([f"x[{k}]" for k in range(x.shape[1])] + ["label"])
            out.writerows([*row, "FT"[int(label)]] for row, label in zip(x, y))
        words = [sys.executable, "-m", "rmlc", "eval", ROOT / "examples/online/logistic.rml", "--progressive",
                 "--metric", "accuracy:guess:label", "--input", file.name, "--stats", "-D", f"features={x.shape[1]}"]
        best, whole = 0.0, float("inf")
        for _ in range(max(3, RUNS // 3)):
            begin = time.perf_counter()
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            whole = min(whole, time.perf_counter() - begin)
            best = max(best, float(re.search(r"speed +(\d+)", done.stderr)[1]))
    print(f"| {'':52s} | {'rmlc eval, from CSV (its clock)':36s} | {shown(len(x) / best * 1e6):>10s} | {'':8s} |\n"
          f"| {'':52s} | {'the whole command (by the clock)':36s} | {shown(whole * 1e6):>10s} | {'':8s} |")


def training():
    if not has("torch"):
        return
    import torch

    import rmlc.torch

    torch.set_num_threads(1)
    module = rmlc.compile(LSTM.replace("128", "64"))
    layer = rmlc.torch.Module(module, "model")
    own = list(layer.parameters())
    parameters = {name.split(".")[-1]: value for name, value in layer.named_parameters()}
    x = torch.randn(64, 64)

    def cell(x):
        h = c = torch.zeros(64)
        rows = []
        for each in x:
            i, f, g, o = (parameters["kernel"] @ each + parameters["recurrent"] @ h + parameters["bias"]).reshape(4, 64)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            rows.append(h)
        return torch.stack(rows)

    fused, single = torch.nn.LSTM(64, 64), torch.nn.LSTMCell(64, 64)

    def cells(x):
        h = c = torch.zeros(1, 64)
        rows = []
        for each in x:
            h, c = single(each[None], (h, c))
            rows.append(h[0])
        return torch.stack(rows)

    inputs = x.clone().requires_grad_()
    torch.testing.assert_close(layer(x), cell(x), rtol=1e-4, atol=1e-5)
    learner = module.node("learn").start()
    columns = {"end": np.arange(64) == 63, "x": x.numpy()}

    def step(f, weights, x=x):
        def call():
            for each in weights:
                each.grad = None
            f(x).square().sum().backward()

        return call

    best = table("LSTM of 64 units, 64 cycles, both ways", {
        "rmlc.torch.Module": step(layer, own),
        "rmlc.torch.Module, to the inputs too": step(layer, [*own, inputs], inputs),
        "rmlc, run of a node that learns": lambda: learner.run(columns),
        "torch, a cell in a loop": step(cell, own),
        "torch.nn.LSTMCell in a loop": step(cells, list(single.parameters())),
        "torch.nn.LSTM": step(lambda x: fused(x)[0], list(fused.parameters()))})
    GOALS.append(("P11, a fifth of torch's loop", best["rmlc.torch.Module"], best["torch, a cell in a loop"] / 5))


PARTS = {each.__name__: each for each in (imports, compilation, steps, controller, online, training)}


def main():
    unknown = [name for name in sys.argv[1:] if name not in PARTS]
    if unknown:
        sys.exit(f"no part {unknown[0]}; the parts are: {' '.join(PARTS)}")
    print(f"| {'what':52s} | {'by':36s} | {'µs':>10s} | rmlc / it |\n|---|---|---|---|")
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()
    print(f"\n| {'goal':30s} | {'µs':>10s} | {'at most':>10s} | of it |\n|---|---|---|---|")
    for what, took, most in GOALS:
        print(f"| {what:30s} | {shown(took):>10s} | {shown(most):>10s} | {took / most:5.2f} |")


if __name__ == "__main__":
    main()
