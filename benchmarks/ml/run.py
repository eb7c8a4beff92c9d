#!/usr/bin/env python3
"""Times our programs and those of other frameworks (the peers) alternately, and prints a table of
ratios: run.py [--list] [CASE…]

A CASE is a name that --list prints, or the beginning of one; the default is all cases. Every pass runs all
programs of a case one after the other. A repetition takes about a millisecond, and the fastest of all passes
counts. If checksums differ by more than 1e-4, the line says so. See ../README.md.

  RMLC         the compiler                          (default: ../../build/release/bin/rmlc)
  PEERS        the C++ peers' folder                 (default: ../../../shared/benchmarks/ml)
  BUILD        scratch folder                        (default: TMPDIR/rml-ml)
  RUNS         passes over everything                (default: 3)
  THREADS      numbers of threads, a table for each  (default: 1)
  PYTHON       a Python with torch 2, jax, numba, onnx and onnxruntime; missing packages are left out
  OLD_PYTHON   a Python with the peers' torch        (default: none, left out)
  ONLY         a regular expression for the names of the peers to run (default: all)
  BENCH_CPU    the core to run on                    (default: 0)
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from cases import THREADS, cases

HERE = pathlib.Path(__file__).resolve().parent
RMLC = pathlib.Path(os.environ.get("RMLC", HERE / "../../build/release/bin/rmlc")).resolve()
PEERS = pathlib.Path(os.environ.get("PEERS", HERE / "../../../shared/benchmarks/ml")).resolve()
BUILD = pathlib.Path(os.environ.get("BUILD", pathlib.Path(tempfile.gettempdir()) / "rml-ml"))
PYTHON, OLD_PYTHON = os.environ.get("PYTHON", sys.executable), os.environ.get("OLD_PYTHON") or None
ONLY = re.compile(os.environ.get("ONLY", ""))
VARIANTS = {"": [], " --fast-math": ["--fast-math"]}
SEGMENTS = {"": [], " --chunk segment": ["--chunk", "segment"]}
ENVIRONMENT = {"BENCH_REPS": "21", "BENCH_CPU": "0", **os.environ, "BUILD": str(BUILD)}
MODULES = ("torch", "jax", "numpy")


def call(command, **environment):
    return subprocess.run([str(word) for word in command], check=True, cwd=PEERS, env={**ENVIRONMENT, **environment})


def knows_threads():
    text = subprocess.run([RMLC, "build", "--help"], capture_output=True, text=True).stdout
    return "--threads" in text


def build_own(case, own, name, flags):
    """Builds one of our programs for a case as a C object with its driver. Returns the path of the executable."""
    folder = BUILD / "own" / case.name / name.replace(" ", "_")
    folder.mkdir(parents=True, exist_ok=True)
    made, sources = folder / own.node, [RMLC, *HERE.glob("*.rml"), *HERE.glob("*.cc"), *HERE.glob("*.h")]
    if made.exists() and made.stat().st_mtime > max(f.stat().st_mtime for f in sources):
        return made
    declared = re.findall(r"^const (\w+)", (HERE / own.source).read_text(), re.M)
    given = {key: value for key, value in own.definitions.items() if key in declared}
    definitions = [word for key, value in given.items() for word in ("-D", f"{key}={value}")]
    call([RMLC, "build", HERE / own.source, "--node", own.node, "-O3", "--cpu", "native", "--emit", "lib", *flags,
          *definitions, "-o", folder / f"{own.node}.a"])
    macros = [f"-D{key.upper()}={value}" for key, value in own.definitions.items()]
    call(["g++", "-std=c++20", "-O2", "-march=native", "-I", folder, "-I", PEERS, "-I", HERE, *macros,
          HERE / f"{own.driver or own.node}.cc", folder / f"{own.node}.a", RMLC.parent / "../lib/rmlc/librmlrt.a",
          "-lz", "-lpthread", "-o", made])
    return made


def own_commands(case, threads):
    found = []
    if threads > 1 and not knows_threads():
        print(f"rmlc has no --threads; it is left out at {threads}", file=sys.stderr)
        return found
    parallel = ["--threads", threads] if threads > 1 else []
    for own in case.own:
        for chunk, words in SEGMENTS.items() if own.segments else [("", [])]:
            for variant, more in VARIANTS.items():
                name = own.label + chunk + variant
                if ONLY.search(name):
                    program = build_own(case, own, f"{name} {threads}", [*words, *more, *parallel])
                    found.append(([program], {"OWN_NAME": name}))
    return found


def imports(python, module):
    if python is None or shutil.which(python) is None:
        return False
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0


def onnxruntime_library():
    """Returns the C library in ONNX Runtime's Python package, or None. Makes the models that ort_run reads."""
    if not imports(PYTHON, "onnx, onnxruntime"):
        return None
    where = subprocess.run([PYTHON, "-c", "import onnxruntime; print(onnxruntime.__path__[0])"],
                           capture_output=True, text=True)
    libraries = list(pathlib.Path(where.stdout.strip()).glob("capi/libonnxruntime.so*"))
    if libraries and not (BUILD / "onnx").exists():
        call([PYTHON, "make_onnx.py", BUILD / "onnx"])
    return libraries[0] if libraries else None


def commands(case, threads, modules, library):
    """Returns the (command, environment) pairs of a case, those of our programs first."""
    found = own_commands(case, threads)
    compiled = [(words, {}) for words in case.cpp if ONLY.search("cpp")]
    if case.onnx and library and ONLY.search("onnx"):
        compiled.append((["ort_run", *case.onnx], {"ORT_LIB": str(library), "ONNX_DIR": str(BUILD / "onnx")}))
    for (program, *arguments), environment in compiled:
        if threads > 1 and THREADS not in arguments:
            continue
        if not (BUILD / program).exists():
            call(["./build.sh"], ONLY=program)
        found.append(([BUILD / program, *arguments], environment))
    words = [case.workload, *(f"{key}={value}" for key, value in case.parameters.items())]
    for module in case.python:
        if module in modules and ONLY.search(module):
            cache = {"TORCHINDUCTOR_CACHE_DIR": str(BUILD / "inductor")}
            found.append(([PYTHON, HERE / f"peers_{module}.py", *words], cache))
    if case.old and ONLY.search("old") and imports(OLD_PYTHON, "torch"):
        found.append(([OLD_PYTHON, *case.old], {}))
    return found


def times(command, environment, threads):
    pinned = {"BENCH_PIN": "1"} if threads == 1 else {}
    done = subprocess.run([str(threads) if word == THREADS else str(word) for word in command], cwd=PEERS,
                          env={**ENVIRONMENT, **pinned, **environment, "BENCH_THREADS": str(threads)},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(f"{command}: {done.stderr[-2000:]}", file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def keep(fastest, run):
    peer = run["peer"]
    if peer not in fastest or run["min"] < fastest[peer]["min"]:
        fastest[peer] = run


def table(case, threads, fastest):
    unit = next(iter(fastest.values()))["unit"]
    own = [name for name in fastest if name.startswith("rmlc") and "--fast-math" not in name]
    title = case.name + (f", {threads} threads" if threads > 1 else "")
    print(f"\n| {title} | {unit} | " + "".join(f"{name} / it | " for name in own) + "|")
    print("|---|---|" + "---|" * (len(own) + 1))
    for peer, run in sorted(fastest.items(), key=lambda item: item[1]["min"]):
        ratios = "".join(f"{fastest[name]['min'] / run['min']:.2f} | " for name in own)
        remark = ""
        if own:
            expected = fastest[own[0]]["checksum"]
            if abs(run["checksum"] - expected) > 1e-4 * max(1, abs(expected)):
                remark = f"checksum {run['checksum']:.6g}, ours {expected:.6g} "
        print(f"| {peer} | {run['min']:.4g} | {ratios}{remark}|")
    sys.stdout.flush()


def main():
    chosen = [c for c in cases() if len(sys.argv) < 2 or any(c.name.startswith(word) for word in sys.argv[1:])]
    if sys.argv[1:] == ["--list"]:
        print("\n".join(c.name for c in cases()))
        return
    if not chosen:
        sys.exit("no such case; run.py --list tells them")
    for needed in (RMLC, PEERS / "common.hpp"):
        if not needed.exists():
            sys.exit(f"there is no {needed} (set RMLC and PEERS)")
    BUILD.mkdir(parents=True, exist_ok=True)
    for helper in ("probe", "naive"):
        if not list(BUILD.glob("probe.so" if helper == "probe" else "nk_*.o")):
            call(["./build.sh"], ONLY=helper)
    modules = [module for module in MODULES if imports(PYTHON, module)]
    library = onnxruntime_library()
    for case in chosen:
        for threads in map(int, os.environ.get("THREADS", "1").split(",")):
            runs, fastest = commands(case, threads, modules, library), {}
            for _ in range(int(os.environ.get("RUNS", 3))):
                for command, environment in runs:
                    for run in times(command, environment, threads):
                        keep(fastest, run)
            if fastest:
                table(case, threads, fastest)


main()
