"""NODE_step_many of the C interface: step_many_test.py RMLC, run by ctest.

A program in C99 steps the same states by NODE_step_many and one by one, in a permuted order,
and compares all outputs and results: with the loop in the header, and with lanes."""

import pathlib
import subprocess
import sys
import tempfile

RMLC = sys.argv[1]

NODES = {
    # Scalars, tensors as input and output, a port that may be absent, and a fault that persists.
    "mixed": """node mixed(n: i32, c: bool, x: f32[3], z: f64 when c) -> (y: f32[3], total: f64 when c, part: i32)
  y = x + (zeros([3]) fby y);
  total = z + (0.0 fby total);
  part = 100 / n + (0 fby part);
""",
    # A node in which nothing can fail.
    "plain": """node plain(x: f64) -> (y: f64, k: i64)
  y = x + (0.5 fby y);
  k = 1 fby 2 * k;
"""}

MAIN = {
    "mixed": """#include "mixed.h"
#include <stdio.h>
enum { states = 5, steps = 4 };
static mixed_state many[states], alone[states];
int main(void) {
  mixed_state* order[states];
  int wrong = 0;
  for (int k = 0; k < states; ++k) { mixed_init(&many[k]); mixed_init(&alone[k]); order[k] = &many[(3 * k + 1) % states]; }
  for (int s = 0; s < steps; ++s) {
    int32_t n[states], part[states], fault = 0;
    uint8_t c[states], z_present[states], total_present[states];
    float x[3 * states], y[3 * states];
    double z[states], total[states];
    for (int k = 0; k < states; ++k) {
      n[k] = s == 2 && k == 3 ? 0 : 1 + k + s;
      c[k] = z_present[k] = (uint8_t)((k + s) % 2);
      z[k] = 0.25 * k - s;
      for (int e = 0; e < 3; ++e) x[3 * k + e] = (float)(k * e) + 0.5f * (float)s;
    }
    const int32_t result = mixed_step_many(order, states, n, c, x, z_present, z, y, total_present, total, part);
    for (int k = 0; k < states; ++k) {
      int32_t p = 0; uint8_t there = 0; float one[3] = {0}; double t = 0;
      const int32_t now = mixed_step(&alone[(3 * k + 1) % states], n[k], c[k], x + 3 * k, z_present[k], z[k], one, &there, &t, &p);
      if (fault == 0) fault = now;
      if (now != 0) continue;
      if (memcmp(one, y + 3 * k, sizeof one) != 0 || there != total_present[k] || (there && t != total[k]) || p != part[k]) ++wrong;
    }
    if (result != fault || (s >= 2) != (result == 1)) ++wrong;
  }
  printf("%d\\n", wrong);
  return 0;
}
""",
    "plain": """#include "plain.h"
#include <stdio.h>
int main(void) {
  plain_state a, b, c;
  plain_state* both[] = {&b, &a};
  plain_init(&a); plain_init(&b); plain_init(&c);
  int wrong = 0;
  for (int s = 0; s < 3; ++s) {
    const double x[] = {s * 2.0, 7.0};
    double y[2], one; int64_t k[2], n;
    plain_step_many(both, 0, x, y, k);
    plain_step_many(both, 2, x, y, k);
    plain_step(&c, x[0], &one, &n);
    if (one != y[0] || n != k[0] || n != k[1] || y[1] != 0.5 + 7.0 * (s + 1)) ++wrong;
  }
  printf("%d\\n", wrong);
  return 0;
}
"""}


def run(*command, folder):
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for node, source in NODES.items():
            (folder / f"{node}.rml").write_text(source)
            (folder / "main.c").write_text(MAIN[node])
            for lanes in ([], ["--lanes"]):
                run(RMLC, "build", f"{node}.rml", "--node", node, "--emit", "lib", *lanes, folder=folder)
                declared = f"int32_t {node}_step_many(" if node == "mixed" else f"void {node}_step_many("
                inline = f"static inline {declared}" in (folder / f"{node}.h").read_text()
                if inline == bool(lanes):
                    raise AssertionError(f"{node}: NODE_step_many is {'the header' if inline else 'the object'}'s")
                for compiler in (["cc", "-std=c99"], ["c++", "-x", "c++"]):
                    run(*compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "main.c", "-x", "none", f"{node}.o",
                        "-lm", "-o", "program", folder=folder)
                    wrong = run("./program", folder=folder)
                    if wrong != "0\n":
                        raise AssertionError(f"{node}, {compiler[0]}, {lanes}: {wrong} steps differ")


main()
