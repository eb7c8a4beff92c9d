#!/usr/bin/env python3
"""Compares linear algebra, spectra and filters with NumPy and SciPy: run.py [RMLC]

Each uses one thread. They run alternately. Prints the microseconds per result, the minimum of all passes, and their
ratio. Python needs NumPy and SciPy.

  RMLC  the compiler  (default: ../../build/release/bin/rmlc)
  RUNS  passes        (default: 7)
"""
import os

# NumPy must use one thread, and the kernels that suit this processor, so variables of the environment that change
# this are overridden.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
if os.environ.pop("OPENBLAS_CORETYPE", None) is not None:
    os.execv("/proc/self/exe", ["python3", *os.sys.argv])

import ctypes
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy
import scipy.fft
import scipy.signal

HERE = pathlib.Path(__file__).resolve().parent
RMLC = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parent.parent / "build/release/bin/rmlc").resolve()
RUNS = int(os.environ.get("RUNS", "7"))


def peers(dtype):
    random = numpy.random.default_rng(0)
    a = random.normal(size=(256, 256)).astype(dtype)
    x = random.normal(size=1009).astype(dtype)
    taps = (1 / (numpy.arange(256) + 1)).astype(dtype)
    stream = random.normal(size=10000).astype(dtype)
    channels = random.normal(size=(64, 10000)).astype(dtype)  # each channel is contiguous, which is fastest in SciPy
    section = numpy.array([[0.25, 0.5, 0.25, 1, -0.5, 0.25]], dtype)
    return {  # each entry is a node: (number of results of a call, the call)
        "solution": (1, lambda: numpy.linalg.solve(a, a[0])),
        "values": (1, lambda: numpy.linalg.svd(a, full_matrices=False)),
        "eigen": (1, lambda: numpy.linalg.eigh(a)),
        "spectrum": (1, lambda: scipy.fft.rfft(x)),
        "filter": (len(stream), lambda: scipy.signal.lfilter(taps, dtype(1), stream)),
        "recording": (len(stream), lambda: scipy.signal.lfilter(taps, dtype(1), stream)),
        "bank": (len(stream), lambda: scipy.signal.sosfilt(section, channels)),
    }


def ours(program, cycles):
    text = subprocess.run([program, "--cycles", str(cycles), "--output", f"{program}.npy", "--stats"], check=True,
                          capture_output=True, text=True).stderr
    return float(re.search(r"time +([0-9.e-]+) s", text)[1]) / cycles * 1e6


def recording(library, node, dtype, cycles=10000):
    """Returns a call of the C interface that filters the whole input. The state takes some KB."""
    run = ctypes.CDLL(str(library))[f"{node}_run"]
    pointers = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
    run.argtypes = pointers
    shape = (cycles, 64) if node == "bank" else cycles
    x, y = numpy.random.default_rng(0).normal(size=shape).astype(dtype), numpy.empty(shape, dtype)
    state = (ctypes.c_byte * 65536)()
    begin = ctypes.CDLL(str(library))[f"{node}_init"]
    begin.argtypes = pointers[:1]
    begin(state)
    return cycles, lambda: run(state, cycles, x.ctypes.data, y.ctypes.data)


def theirs(results, call, seconds=0.2):
    call()
    begin, calls = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        call()
        calls += 1
    return (time.perf_counter() - begin) / (calls * results) * 1e6


def main():
    cycles = {"solution": 300, "values": 20, "eigen": 50, "spectrum": 5000, "filter": 200000}
    print(f"| {'node':9} | {'type':4} | {'rmlc':>9} | {'peer':>9} | {'ratio':>5} |")
    with tempfile.TemporaryDirectory() as place:
        for name, dtype in (("f64", numpy.float64), ("f32", numpy.float32)):
            source = pathlib.Path(place) / f"{name}.rml"
            source.write_text((HERE / "linalg.rml").read_text().replace("f64", name))
            for node, (results, call) in peers(dtype).items():
                program = source.with_suffix("." + node)
                if node in ("recording", "bank"):
                    library = program.with_suffix(f".{node}.so")
                    subprocess.run([RMLC, "build", source, "--node", node, "--emit", "lib", "-o", f"{program}.a"],
                                   check=True, stderr=subprocess.DEVNULL)
                    subprocess.run(["cc", "-shared", "-o", library, "-Wl,--whole-archive", f"{program}.a",
                                    "-Wl,--no-whole-archive"], check=True)
                    own = recording(library, node, dtype)
                    short = 0.005  # seconds of a measurement; many short ones, so that some are not interrupted
                    pairs = [(theirs(*own, short), theirs(results, call, short)) for _ in range(20 * RUNS)]
                else:
                    subprocess.run([RMLC, "build", source, "--node", node, "-o", program], check=True)
                    pairs = [(ours(program, cycles[node]), theirs(results, call)) for _ in range(RUNS)]
                we, they = (min(times) for times in zip(*pairs))
                print(f"| {node:9} | {name:4} | {we:9.3f} | {they:9.3f} | {we / they:5.2f} |", flush=True)


main()
