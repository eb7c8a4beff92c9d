#!/usr/bin/env python3
"""Compares states in vector lanes with the same states one by one: run.py RMLC [CASE…].

NODE_step in a loop, NODE_step_many and NODE_group_step of one library (`--cpu native`) run alternately on the same
inputs. Prints the minimum of seven passes, in nanoseconds of processor time per state and cycle. There are 256 states,
which fit into the first-level cache, 16,384, which do not, and a million, which fit into no cache. Separate states are
stepped in the order of their addresses, and in a random order. The final outputs of all three are compared bit for bit.
If lanes are not faster for separate states, NODE_step_many is the loop over NODE_step."""

import pathlib
import re
import subprocess
import sys
import tempfile

RMLC = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]

# In each cycle half of all states take one branch, and the other half takes the other branch.
BRANCHES = """node main(x: f32, left: bool) -> (y: f32)
  up = (0.0 fby up) + 0.5 * tanh(x) when left;
  down = (1.0 fby down) * 0.9 + sqrt(abs(x)) when not left;
  y = merge left (up) (down);
"""
# The simulation of examples/cartpole in f32, with a fixed rule for the force. A pole that has fallen starts again.
CARTPOLE = """node main(start: f32[4]) -> (state: f32[4], lost: bool)
  right = 0.1 * state[0] + 0.3 * state[1] + 3.0 * state[2] + 0.5 * state[3] > 0.0;
  lost = abs(state[0]) > 2.4 or abs(state[2]) > 0.2094;
  force = if right then 10.0 else -10.0;
  angle = state[2];
  spin = state[3];
  pushed = (force + 0.05 * spin * spin * sin(angle)) / 1.1;
  turned = (9.8 * sin(angle) - cos(angle) * pushed) / (0.5 * (4.0 / 3.0 - 0.1 * cos(angle) * cos(angle) / 1.1));
  moved = pushed - 0.05 * turned * cos(angle) / 1.1;
  next = if lost then 0.1 * start - 0.05 else state + 0.02 * [state[1], moved, spin, turned];
  state = 0.0 fby next;
"""
CASES = {
    "online": (ROOT / "benchmarks/ml/online.rml", ["--node", "online"], "drand48()"),
    "fleet": (ROOT / "examples/fleet/fleet.rml", [], "drand48()"),
    "pid": (ROOT / "examples/pid/pid.rml", [], "drand48()"),
    "logistic": (ROOT / "examples/online/logistic.rml", [], "drand48()"),
    "cartpole": (CARTPOLE, [], "drand48()"),
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
  const int drawn = atoi(argv[3]);
  NAME_state* states = memory((size_t)n * 2 * sizeof *states);
  NAME_state** alone = memory((size_t)n * sizeof *alone);
  NAME_state** many = memory((size_t)n * sizeof *many);
  NAME_group* groups = memory((size_t)NAME_GROUPS(n) * sizeof *groups);
  PORTS
  for (int64_t k = 0; k < n; ++k) {
    NAME_init(alone[k] = &states[k]);
    NAME_init(many[k] = &states[n + k]);
    INPUTS
  }
  for (int64_t k = n - 1; drawn && k > 0; --k) {
    const int64_t other = (int64_t)(drand48() * (double)(k + 1));
    NAME_state *a = alone[k], *m = many[k];
    alone[k] = alone[other], many[k] = many[other];
    alone[other] = a, many[other] = m;
  }
  NAME_group_init(groups, n);
  double best[3] = {1e9, 1e9, 1e9};
  for (int pass = 0; pass < 7; ++pass) {
    const double begin = now();
    for (int64_t r = 0; r < rounds; ++r)
      for (int64_t k = 0; k < n; ++k) NAME_step(alone[k]ROW);
    const double one = now();
    for (int64_t r = 0; r < rounds; ++r) NAME_step_many(many, nMANY);
    const double two = now();
    for (int64_t r = 0; r < rounds; ++r) NAME_group_step(groups, nSIDE);
    const double took[3] = {one - begin, two - one, now() - two};
    for (int w = 0; w < 3; ++w)
      if (took[w] < best[w]) best[w] = took[w];
  }
  int same = 1;
  COMPARE
  for (int w = 0; w < 3; ++w) printf("%.2f ", best[w] / ((double)n * (double)rounds * 1e-9));
  printf("%d\n", same);
  return 0;
}
"""


def program(header, name, value):
    """Returns the C text of the benchmark for a library, generated from its ports."""
    text = header.read_text()
    elements = {}
    for way, port, _, shape in re.findall(r"^ \*   (in|out)\s+(\w+): (\w+)(\[[\d, ]*\])?", text, re.M):
        count = 1
        for extent in re.findall(r"\d+", shape):
            count *= int(extent)
        elements[port] = (way == "in", count)
    declared = re.search(rf"{name}_step\({name}_state\* state(.*?)\);", text, re.S)[1]
    ports, inputs, compared, rows, many, side = [], [], [], "", "", ""
    for parameter in declared.split(",")[1:]:
        words = parameter.replace("*", " ").split()
        port, kind = words[-1], [w for w in words if w != "const"][0]
        known = port if port in elements else port.removesuffix("_")
        is_input, count = elements.get(known, (elements.get(known.removesuffix("_present"), (False, 1))[0], 1))
        ways = ("own", "side") if is_input else ("own", "many", "side")
        for way in ways:
            ports.append(f"{kind} *{way}_{port} = memory((size_t)n * {count} * sizeof({kind}));")
        drawn = "0" if not is_input else f"({kind})(lrand48() & 1)" if kind == "uint8_t" else f"({kind})({value})"
        copies = " = ".join(f"{way}_{port}[" + ("e * n + k]" if way == "side" else f"k * {count} + e]") for way in ways)
        inputs.append(f"for (int e = 0; e < {count}; ++e) {copies} = {drawn};")
        if not is_input:
            compared.append(f"for (int64_t k = 0; k < n; ++k) for (int e = 0; e < {count}; ++e) same &= "
                            f"memcmp(&own_{port}[k * {count} + e], &side_{port}[e * n + k], sizeof({kind})) == 0 && "
                            f"memcmp(&own_{port}[k * {count} + e], &many_{port}[k * {count} + e], sizeof({kind})) == 0;")  # fmt: skip
        rows += f", own_{port} + k * {count}" if "*" in parameter else f", own_{port}[k]"
        many, side = many + f", {'own' if is_input else 'many'}_{port}", side + f", side_{port}"
    made = MAIN.replace("nMANY", "n" + many).replace("nSIDE", "n" + side).replace("ROW", rows).replace("NAME", name)
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
        for drawn in ("0", "1"):
            said = subprocess.run([folder / "bench", str(n), str(rounds), drawn], capture_output=True, text=True, check=True)
            *times, same = said.stdout.split()
            if same != "1":
                sys.exit(f"{case}: {n} states in lanes do not say what they say one by one")
            alone, many, side = (float(t) for t in times)
            print(f"{case:10} {n:9,} states {'drawn   ' if drawn == '1' else 'in order'}  one by one {alone:6.2f}  apart {many:6.2f} "
                  f"({alone / many:.1f} x)  side by side {side:6.2f} ({alone / side:.1f} x)", flush=True)  # fmt: skip


for chosen in sys.argv[2:] or CASES:
    with tempfile.TemporaryDirectory() as place:
        measure(chosen, pathlib.Path(place))
