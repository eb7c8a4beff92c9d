"""Common functions of the Python programs of the other frameworks: random numbers, timing, and output.

The random numbers are those of the C++ programs: element i of stream s is the finaliser of
splitmix64 of i and s, scaled to [-1, 1). The command line names a case, WORKLOAD KEY=VALUE …;
each variant of it prints a line of JSON."""
import json
import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", os.environ.get("BENCH_THREADS", "1"))
import numpy as np


def stream(number, shape, scale=1.0):
    count = int(np.prod(shape))
    z = np.arange(count, dtype=np.uint64) + np.uint64(((number << 32) + 0x9E3779B97F4A7C15) % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    z ^= z >> np.uint64(31)
    unit = (z >> np.uint64(40)).astype(np.float64) * (2.0 / 16777216.0) - 1.0
    return np.ascontiguousarray((unit.astype(np.float32) * np.float32(scale)).reshape(shape))


def root(n):
    return np.float32(1) / np.sqrt(np.float32(n))


def times(run):
    """Returns the median, least and largest time of a step in microseconds; run(n) computes n steps."""
    length, repetitions = float(os.environ.get("BENCH_REP_MS", 2)) / 1e3, int(os.environ.get("BENCH_REPS", 21))

    def seconds(n):
        begin = time.perf_counter()
        run(n)
        return time.perf_counter() - begin

    n, spent = 1, seconds(1)
    while spent < length / 2:
        n = max(2 * n, int(n * length / max(spent, 1e-9) / 2))
        spent = seconds(n)
    n = max(1, round(n * length / spent))
    limit, all_times = time.perf_counter() + float(os.environ.get("BENCH_CAP_S", 4)), []
    while len(all_times) < repetitions and (time.perf_counter() < limit or len(all_times) < 5):
        all_times.append(seconds(n) / n * 1e6)
    all_times.sort()
    return all_times[len(all_times) // 2], all_times[0], all_times[-1]


def report(workload, peer, parameters, unit, run, checksum, scale=1.0):
    median, least, largest = (float(f"{scale * t:.6g}") for t in times(run))
    line = {
        "workload": workload, "peer": peer, "params": parameters, "threads": threads(), "unit": unit,
        "median": median, "min": least, "max": largest, "checksum": float(f"{float(checksum):.7g}"),
    }
    print(json.dumps(line, separators=(",", ":")), flush=True)


def threads():
    return int(os.environ.get("BENCH_THREADS", 1))


def pin():
    if threads() == 1 and "BENCH_CPU" in os.environ:
        os.sched_setaffinity(0, {int(os.environ["BENCH_CPU"])})


def main(workloads):
    """Runs workloads[argv[1]](**parameters). Each variant of a workload calls report."""
    workload, parameters = sys.argv[1], {}
    for word in sys.argv[2:]:
        key, value = word.split("=")
        parameters[key] = int(value)
    if workload not in workloads:
        sys.exit(f"no workload {workload}; there are {', '.join(workloads)}")
    workloads[workload](**parameters)
