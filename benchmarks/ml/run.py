#!/usr/bin/env python3
"""Times cases and their peers in turn and prints a table of ratios: run.py [--list] [CASE…]

A CASE is a name as --list tells them, or the beginning of one; none: all. Every pass runs all programs
of a case one after the other; the lowest median of the passes counts. Checksums must agree to 1e-4,
or else the line says so. See ../README.md.

  RMLC         the compiler                          (default: ../../build/release/bin/rmlc)
  PEERS        the C++ peers' folder                 (default: ../../../shared/benchmarks/ml)
  BUILD        scratch folder                        (default: TMPDIR/rml-ml)
  RUNS         passes over everything                (default: 3)
  PYTHON       one that imports torch 2 and jax      (without them they are left out)
  OLD_PYTHON   one that imports the peers' torch     (default: none, left out)
  BENCH_CPU    the core to run on                    (default: 0)
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from cases import cases

HERE = pathlib.Path(__file__).resolve().parent
RMLC = pathlib.Path(os.environ.get("RMLC", HERE / "../../build/release/bin/rmlc")).resolve()
PEERS = pathlib.Path(os.environ.get("PEERS", HERE / "../../../shared/benchmarks/ml")).resolve()
BUILD = pathlib.Path(os.environ.get("BUILD", pathlib.Path(tempfile.gettempdir()) / "rml-ml"))
PYTHON, OLD_PYTHON = os.environ.get("PYTHON", sys.executable), os.environ.get("OLD_PYTHON") or None
LEVELS = {"rmlc": [], "rmlc --fast-math": ["--fast-math"]}
ENVIRONMENT = {"BENCH_PIN": "1", "BENCH_REPS": "21", "BENCH_CPU": "0", **os.environ, "BUILD": str(BUILD)}


def call(command, **environment):
    return subprocess.run([str(word) for word in command], check=True, cwd=PEERS, env={**ENVIRONMENT, **environment})


def build_own(case, level):
    """Our program for a case, as a C object with its driver; the path of the executable."""
    own, folder = case.own, BUILD / "own" / case.name / level.replace(" ", "")
    folder.mkdir(parents=True, exist_ok=True)
    definitions = [word for name, value in own.definitions.items() for word in ("-D", f"{name}={value}")]
    call([RMLC, "build", HERE / f"{own.program}.rml", "--node", own.program, "-O3", "--cpu", "native", "--emit", "lib",
          *LEVELS[level], *definitions, "-o", folder / f"{own.program}.a"])
    macros = [f"-D{name}={value}" for name, value in own.macros.items()]
    call(["g++", "-std=c++20", "-O2", "-march=native", "-I", folder, "-I", PEERS, "-I", HERE, *macros,
          HERE / f"{own.program}.cc", folder / f"{own.program}.a", RMLC.parent / "../lib/rmlc/librmlrt.a", "-lz",
          "-lpthread", "-o", folder / own.program])
    return folder / own.program


def imports(python, module):
    if python is None or shutil.which(python) is None:
        return False
    found = subprocess.run([python, "-c", f"import {module}"], capture_output=True)
    return found.returncode == 0


def commands(case, modules):
    """What to run for a case: (command, environment), ours first."""
    found = []
    if case.own is not None:
        found += [([build_own(case, level)], {"OWN_NAME": level}) for level in LEVELS]
    for program, *arguments in case.cpp:
        if not (BUILD / program).exists():
            call(["./build.sh"], ONLY=program)
        found.append(([BUILD / program, *arguments], {}))
    words = [case.workload, *(f"{key}={value}" for key, value in case.parameters.items())]
    for module in modules if case.python else []:
        found.append(([PYTHON, HERE / f"peers_{module}.py", *words], {"TORCHINDUCTOR_CACHE_DIR": str(BUILD / "inductor")}))
    if case.old and imports(OLD_PYTHON, "torch"):
        found.append(([OLD_PYTHON, *case.old], {}))
    return found


def times(command, environment):
    done = subprocess.run([str(word) for word in command], cwd=PEERS, env={**ENVIRONMENT, **environment},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(f"{command}: {done.stderr[-2000:]}", file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def keep(lowest, run):
    peer = run["peer"]
    if peer not in lowest or run["median"] < lowest[peer]["median"]:
        lowest[peer] = run


def table(case, lowest):
    own = lowest.get("rmlc")
    unit = next(iter(lowest.values()))["unit"]
    print(f"\n| {case.name} | {unit} | rmlc / it | |\n|---|---|---|---|")
    for peer, run in sorted(lowest.items(), key=lambda item: item[1]["median"]):
        ratio, remark = "", ""
        if own is not None:
            ratio = f"{own['median'] / run['median']:.2f}"
            far = abs(run["checksum"] - own["checksum"]) > 1e-4 * max(1, abs(own["checksum"]))
            remark = f"checksum {run['checksum']:.6g}, ours {own['checksum']:.6g}" if far else ""
        print(f"| {peer} | {run['median']:.4g} | {ratio} | {remark} |")
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
    modules = [module for module in ("torch", "jax") if imports(PYTHON, module)]
    for case in chosen:
        runs, lowest = commands(case, modules), {}
        for _ in range(int(os.environ.get("RUNS", 3))):
            for command, environment in runs:
                for run in times(command, environment):
                    keep(lowest, run)
        if lowest:
            table(case, lowest)


main()
