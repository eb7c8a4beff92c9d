"""Statistics of long streams of f32: long_test.py RMLC.

A mean that is stored in f32 stops changing after some ten thousand cycles. The input 1000 for
40,000 cycles and 1001 for as many gives 1000, because no further element changes its last digit.
The expected numbers are those of NumPy:

    x = numpy.repeat(numpy.float32([1000, 1001]), 40000)
    x.mean(dtype="f8"), x.var(dtype="f8"), (x > 1000).mean()
"""

import pathlib
import subprocess
import sys
import tempfile

CYCLES = 80000
PROGRAM = """
import metrics;
node main() -> (average: f32, mean: f32, variance: f32, since: f32, right: f64)
  n = 0 fby n + 1;
  x: f32 = if n < 40000 then 1000.0 else 1001.0;
  average = metrics.average(x);
  mean, variance = metrics.moments(x);
  since = metrics.average_end(n < 0, x);
  right = metrics.accuracy(x > 1000.0, true);
"""
EXPECTED = {"average": 1000.5, "mean": 1000.5, "variance": 0.25, "since": 1000.5, "right": 0.5}


def main():
    with tempfile.TemporaryDirectory() as folder:
        source, rows = pathlib.Path(folder) / "long.rml", pathlib.Path(folder) / "rows.csv"
        source.write_text(PROGRAM)
        for engine in ("compiled", "reference"):
            subprocess.run([sys.argv[1], "run", source, "--cycles", str(CYCLES), "--engine", engine, "--output", rows],
                           check=True)
            lines = rows.read_text().splitlines()
            found = dict(zip(lines[0].split(","), map(float, lines[-1].split(",")), strict=True))
            for name, value in EXPECTED.items():
                assert abs(found[name] - value) <= 2e-7 * value, f"{engine}: {name} is {found[name]}, not {value}"


main()
