#!/usr/bin/env python3
"""Code that is optimised for size: the same rows to the bit, and its number of bytes for a
microcontroller.

  small_code_test.py RMLC EXAMPLES
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

LSTM = """import nn;
import optim;
import recurrent;

node net(end, x, y) -> (l)
  error = nn.dense_end(2, end, recurrent.lstm_end(6, end, x)) - y;
  l = sum(error * error, 0);

node main() -> (l: f64)
  n = 0 fby n + 1;
  end = n % 5 == 4;
  l, _, _ = diff[optim.adam(0.01)] net(end, uniform([3]), [0.5, sin(cast(f64, n))], true, 1.0);
"""
# A program without products, because the sums of products may be in another order if they are
# loops.
FUNCTIONS = """node main() -> (m: f32[5], k: i32[7], s: f64, t: f64[16])
  n = 0 fby n + 1;
  a = normal([5, 6]);
  b = normal([6, 5]);
  m = softmax(cast(f32, sum(a, 1)), 0) + erf(cast(f32, a[:, 2])) + log1p(exp(cast(f32, b[0, :])));
  k = [n, n / 3, n % 3, n * n, -n, abs(3 - n), if n % 5 == 4 then 7 else n];
  s = sum(tanh(normal([16])), 0) + max(a, [0, 1]) + 0.5 * (0.0 fby s);
  x = normal([16]);
  t = exp(x) + exp2(x) + expm1(x) + log(abs(x)) + log2(abs(x)) + log10(abs(x)) + sigmoid(x) + softplus(x) + sin(x)
      + cos(3.0e6 * x);
"""


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}: {done.stderr}"
    return done.stdout


def code_bytes(path):
    """The size of the object's code and constant sections, as printed by `size`."""
    data = path.read_bytes()
    at, entry, count = *struct.unpack_from("<I", data, 32), *struct.unpack_from("<HH", data, 46)
    rows = [struct.unpack_from("<10I", data, at + k * entry) for k in range(count)]
    allocated, written = 2, 1
    return sum(size for _, _, flags, _, _, size, *_ in rows if flags & allocated and not flags & written)


def main():
    rmlc, examples = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lstm, functions = folder / "lstm.rml", folder / "functions.rml"
        lstm.write_text(LSTM, encoding="utf-8")
        functions.write_text(FUNCTIONS, encoding="utf-8")
        for program, cycles, *options in ((functions, 200), (lstm, 200, "--strict-math"),
                                          (examples / "cartpole/cartpole.rml", 3000, "--strict-math")):
            fast = run(rmlc, "run", program, "--cycles", cycles, *options)
            assert len(fast.splitlines()) > 100
            assert run(rmlc, "run", program, "--cycles", cycles, *options, "-O", "s") == fast, program
        chip = ("--emit", "lib", "--target", "thumbv7em-none-eabihf", "--cpu", "cortex-m4")
        sizes = {}
        # A microcontroller has no archive with random numbers: the chip begins with loaded parameters.
        cartpole, parameters = folder / "cartpole.rml", folder / "parameters"
        text = (examples / "cartpole/cartpole.rml").read_text(encoding="utf-8")
        text = text.replace("uniform([4], -0.05, 0.05)", "[0.01, 0.02, 0.03, 0.04]").replace("uniform([])", "0.5 + 0.25 * sin(now[0])")
        cartpole.write_text(text, encoding="utf-8")
        run(rmlc, "run", cartpole, "--cycles", "5", "--save", parameters)
        for program, source, *more in (("cartpole", cartpole, "--load-params", parameters), ("pid", examples / "pid/pid.rml")):
            for level in "2", "3":
                output = folder / f"{program}{level}.o"
                run(rmlc, "build", source, *chip, "-O", level, "-o", output, *more)
                sizes[program, level] = code_bytes(output)
        assert sizes["cartpole", "2"] <= 40_000, sizes
        assert sizes["pid", "2"] <= 2_000, sizes
        assert all(sizes[program, "2"] < sizes[program, "3"] / 2 for program in ("cartpole", "pid")), sizes
    print(sizes)


if __name__ == "__main__":
    main()
