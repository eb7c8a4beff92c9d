"""Systems that are converted to discrete time when the program is compiled: constants_test.py RMLC.

A program for a microcontroller whose matrices are constants must contain the converted matrices, and neither a solver nor
a call of an iteration. The expected numbers are those of the double integrator, by hand.
"""

import pathlib
import subprocess
import sys
import tempfile

PROGRAM = """
import control;
const dt = 0.5;
node main(u: f64[1]) -> (y: f64[1])
  a, b = control.c2d(dt, [[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]]);
  y, _ = control.state_space(a, b, [[1.0, 0.0]], [[0.0]], [0.0, 0.0], u);
"""


def main():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "integrator.rml"
        source.write_text(PROGRAM)
        shown = subprocess.run([sys.argv[1], "show", "--after", "simplify", source], capture_output=True, text=True, check=True).stdout
        for operator in (" solve ", " call "):
            assert operator not in shown, f"`{operator.strip()}` is left:\n{shown}"
        for matrix in ("[1,0.5;0,1]", "[0.125;0.5]"):
            assert f"const {matrix}" in shown, f"the matrix {matrix} is not there:\n{shown}"


main()
