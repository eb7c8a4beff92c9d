"""A heater controller as a C library, whose gain changes while it runs, without a rebuild.

Run by ctest: tunable_test.py RMLC. The plant and the controller are also computed here, step by step. `--emit lib`, `--emit c`
and `--emit lib --lanes` must give the same numbers.
"""

import pathlib
import subprocess
import sys
import tempfile

RMLC = str(pathlib.Path(sys.argv[1]).resolve())
HEATER = """import control;

const gain: f64 = 2.0;
const weights = [1.0, 0.0];
const on = true;
const limit = 100.0;

-- The filter is a parameter, which has the same functions.
node smooth(x) -> (y)
  w = param(1.0);
  y = w * sum(weights * [x, 0.0 fby x]);

node heater(target: f64, measured: f64, night: bool) -> (power: f64)
  error = smooth(target) - measured;
  full = if on then gain * error else 0.0;
  saved = merge night ((0.5 * gain) * (error when night)) (full when not night);
  power = minimum(saved, limit) + 0.0 * control.pid(gain, 0.1, 0.0, 0.1, 0.0, limit, target, measured);
"""
HOST = """#include <stdio.h>
#include <string.h>
#include "heater.h"

static heater_state state, copy;

int main(void) {
  double temperature = 10.0, power = 0.0;
  const double weights[2] = {0.5, 0.5};
  double read[2];
  heater_init(&state);
  heater_set_gain(&state, 1.0); /* before the first cycle */
  for (int k = 0; k < 12; ++k) {
    if (k == 3) heater_set_gain(&state, 4.0);
    if (k == 5) heater_set_weights(&state, weights);
    if (k == 7) heater_set_on(&state, 0), copy = state;
    if (k == 9) state = copy, heater_set_on(&state, 7);
    if (k == 10) heater_set_smooth_w(&state, 2.0);
    heater_step(&state, 20.0, temperature, k % 4 == 1, &power);
    temperature += 0.1 * power - 0.05 * temperature;
    printf("%.17g\\n", power);
  }
  heater_get_weights(&state, read);
  printf("%g %g %d %g %g\\n", heater_get_gain(&state), heater_get_smooth_w(&state), heater_get_on(&state), read[0], read[1]);
  heater_reset(&state);
  heater_get_weights(&state, read);
  printf("%g %g %d %g %g\\n", heater_get_gain(&state), heater_get_smooth_w(&state), heater_get_on(&state), read[0], read[1]);
  return 0;
}
"""
TUNABLE = ["--tunable", "gain", "--tunable", "weights", "--tunable", "on"]


def run(folder, *words, status=0):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != status:
        sys.exit(f"{' '.join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def expected():
    """The same loop in floats of Python; the order of the sums does not matter for these numbers to 12 digits."""
    gain, weights, on, scale, before, temperature, copy = 1.0, [1.0, 0.0], True, 1.0, 0.0, 10.0, None
    for k in range(12):
        if k == 3:
            gain = 4.0
        if k == 5:
            weights = [0.5, 0.5]
        if k == 7:
            on, copy = False, before
        if k == 9:
            before, on = copy, True
        if k == 10:
            scale = 2.0
        error = (weights[0] * 20.0 + weights[1] * before) * scale - temperature
        before = 20.0
        power = min(0.5 * gain * error if k % 4 == 1 else gain * error if on else 0.0, 100.0)
        temperature += 0.1 * power - 0.05 * temperature
        yield power


def check(folder, emitted, product):
    run(folder, RMLC, "build", "heater.rml", "--node", "heater", *TUNABLE, *emitted)
    run(folder, "cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "host.c", product, "-lm", "-o", "host")
    *rows, last, after_reset = run(folder, "./host").splitlines()
    for k, (found, wanted) in enumerate(zip(rows, expected(), strict=True)):
        if abs(float(found) - wanted) > 1e-12 * max(1.0, abs(wanted)):
            sys.exit(f"{emitted}: cycle {k}: {found}, not {wanted}")
    if (last, after_reset) != ("4 2 1 0.5 0.5", "2 1 1 1 0"):
        sys.exit(f"{emitted}: parameters {last}; after reset {after_reset}")


def refused(folder, source, options, text):
    (folder / "refused.rml").write_text(source, encoding="utf-8")
    said = run(folder, RMLC, "build", "refused.rml", *options, status=1)
    if text not in said:
        sys.exit(f"{options}: no word of {text!r}:\n{said}")


def main():
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "heater.rml").write_text(HEATER, encoding="utf-8")
        (folder / "host.c").write_text(HOST, encoding="utf-8")
        for emitted, product in [(["--emit", "lib"], "heater.o"), (["--emit", "lib", "--lanes"], "heater.o"),
                                 (["--emit", "c"], "heater.c")]:
            check(folder, emitted, product)
        plain = run(folder, RMLC, "build", "heater.rml", "--node", "heater", "--emit", "header") + (folder / "heater.h").read_text()
        if "heater_set_gain" in plain or "heater_set_smooth_w" not in plain:
            sys.exit(f"without --tunable:\n{plain}")
        size = "const n = 2;\nnode main(x: f64[3]) -> (y: f64[n])\n  y = x[0:n];\n"
        refused(folder, size, ["--tunable", "n"], "must be known at compile time")
        refused(folder, size, ["--tunable", "m"], "no constant 'm' to tune")
        both = "const g = 2.0;\nnode main(x: f64, z: f32) -> (y: f64, w: f32)\n  y = g * x;\n  w = g * z;\n"
        refused(folder, both, ["--tunable", "g"], "`g` cannot be tunable: it is used as")
        mapped = "const g = 2.0;\nnode f(x) -> (y)\n  y = g * x;\nnode main(x: f64[3]) -> (y: f64[3])\n  y = map f(x);\n"
        refused(folder, mapped, ["--tunable", "g"], "give it to the node as a fixed argument")
        late = "const g = 2.0;\nnode main(x: f64) -> (y: f64)\n  y = g * post x;\n"
        refused(folder, late, ["--tunable", "g", "--emit", "lib"], "rows wait for later inputs")


main()
