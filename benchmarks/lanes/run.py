#!/usr/bin/env python3
"""States in vector lanes beside the same states one by one: run.py RMLC [CASE…].

NODE_group_step against NODE_step_many of one library (`--cpu native`), on the same inputs, in turn; the best of seven
passes, in nanoseconds of processor time for a state and cycle: 256 states, which stay in a core's first cache, 16,384, which
leave it, and a million, which leave all caches. What both say at the end is compared, to the bit."""

import pathlib
import re
import subprocess
import sys
import tempfile

RMLC = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]

# Half of all states take one branch, half the other one, in turn.
BRANCHES = """node main(x: f32, left: bool) -> (y: f32)
  up = (0.0 fby up) + 0.5 * tanh(x) when left;
  down = (1.0 fby down) * 0.9 + sqrt(abs(x)) when not left;
  y = merge left (up) (down);
"""
CASES = {
    "online": (ROOT / "benchmarks/ml/online.rml", ["--node", "online"], "drand48()"),
    "fleet": (ROOT / "examples/fleet/fleet.rml", [], "drand48()"),
    "pid": (ROOT / "examples/pid/pid.rml", [], "drand48()"),
    "logistic": (ROOT / "examples/online/logistic.rml", [], "drand48()"),
    "branches": (BRANCHES, [], "drand48()"),
}
MAIN = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "NAME.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void* memory(size_t bytes) { return aligned_alloc(64, (bytes + 63) / 64 * 64); }

int main(int argc, char** argv) {
  const int64_t n = atoll(argv[1]), rounds = atoll(argv[2]);
  NAME_state* states = memory((size_t)n * sizeof *states);
  NAME_state** at = memory((size_t)n * sizeof *at);
  NAME_group* groups = memory((size_t)NAME_GROUPS(n) * sizeof *groups);
  PORTS
  for (int64_t k = 0; k < n; ++k) {
    NAME_init(at[k] = &states[k]);
    INPUTS
  }
  NAME_group_init(groups, n);
  double one_by_one = 1e9, in_lanes = 1e9;
  for (int pass = 0; pass < 7; ++pass) {
    double begin = now();
    for (int64_t r = 0; r < rounds; ++r) NAME_step_many(at, nOWN);
    const double middle = now();
    for (int64_t r = 0; r < rounds; ++r) NAME_group_step(groups, nSIDE);
    const double end = now();
    if (middle - begin < one_by_one) one_by_one = middle - begin;
    if (end - middle < in_lanes) in_lanes = end - middle;
  }
  int same = 1;
  COMPARE
  const double all = (double)n * (double)rounds * 1e-9;
  printf("%.2f %.2f %d\n", one_by_one / all, in_lanes / all, same);
  return 0;
}
"""


def program(header, name, value):
    """The benchmark of a library, made for its ports."""
    text = header.read_text()
    elements = {}
    for way, port, _, shape in re.findall(r"^ \*   (in|out)\s+(\w+): (\w+)(\[[\d, ]*\])?", text, re.M):
        count = 1
        for extent in re.findall(r"\d+", shape):
            count *= int(extent)
        elements[port] = (way == "in", count)
    declared = re.search(rf"{name}_group_step\({name}_group\* groups, int64_t n(.*?)\);", text, re.S)[1]
    ports, inputs, compared, own, side = [], [], [], "", ""
    for parameter in declared.split(",")[1:]:
        words = parameter.replace("*", " ").split()
        port, kind = words[-1], [w for w in words if w != "const"][0]
        known = port if port in elements else port.removesuffix("_")
        is_input, count = elements.get(known, (elements.get(known.removesuffix("_present"), (False, 1))[0], 1))
        ports.append(f"{kind} *own_{port} = memory((size_t)n * {count} * sizeof({kind}));")
        ports.append(f"{kind} *side_{port} = memory((size_t)n * {count} * sizeof({kind}));")
        drawn = f"({kind})(lrand48() & 1)" if kind == "uint8_t" else f"({kind})({value})"
        if is_input:
            inputs.append(f"for (int e = 0; e < {count}; ++e) own_{port}[k * {count} + e] = side_{port}[e * n + k] = {drawn};")
        else:
            compared.append(f"for (int64_t k = 0; k < n; ++k) for (int e = 0; e < {count}; ++e) "
                            f"same &= memcmp(&own_{port}[k * {count} + e], &side_{port}[e * n + k], sizeof({kind})) == 0;")  # fmt: skip
            inputs.append(f"for (int e = 0; e < {count}; ++e) own_{port}[k * {count} + e] = side_{port}[e * n + k] = 0;")
        own, side = own + f", own_{port}", side + f", side_{port}"
    made = MAIN.replace("nOWN", "n" + own).replace("nSIDE", "n" + side).replace("NAME", name)
    return made.replace("PORTS", "\n  ".join(ports)).replace("INPUTS", "\n    ".join(inputs)).replace("COMPARE", "\n  ".join(compared))


def measure(case, folder):
    source, options, value = CASES[case]
    if isinstance(source, str):
        (folder / "main.rml").write_text(source)
        source = folder / "main.rml"
    subprocess.run([RMLC, "build", source, "--emit", "lib", "--lanes", "--cpu", "native", *options], cwd=folder, check=True)
    header = next(folder.glob("*.h"))
    (folder / "bench.c").write_text(program(header, header.stem, value))
    subprocess.run(["cc", "-std=c11", "-O2", "bench.c", f"{header.stem}.o", "-lm", "-o", "bench"], cwd=folder, check=True)
    for n, rounds in ((256, 8000), (16_384, 120), (1_000_000, 3)):
        said = subprocess.run([folder / "bench", str(n), str(rounds)], capture_output=True, text=True, check=True).stdout
        one_by_one, in_lanes, same = said.split()
        if same != "1":
            sys.exit(f"{case}: {n} states in lanes do not say what they say one by one")
        print(f"{case:10} {n:9,} states  one by one {one_by_one:>7}  in lanes {in_lanes:>7}  {float(one_by_one) / float(in_lanes):.1f} x",
              flush=True)  # fmt: skip


for chosen in sys.argv[2:] or CASES:
    with tempfile.TemporaryDirectory() as place:
        measure(chosen, pathlib.Path(place))
