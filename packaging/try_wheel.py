"""Checks that the installed Python package works without other packages except NumPy: it compiles, runs and builds."""
import pathlib
import subprocess
import sys
import tempfile

import rmlc

assert "numpy" not in sys.modules, "importing rmlc imports NumPy"
node = rmlc.compile("node main(x: f64) -> (sum: f64) sum = (0.0 fby sum) + x;").node()
instance = node.start()
assert [instance.step(x=k) for k in range(4)] == [0.0, 1.0, 3.0, 6.0]
assert instance.run(x=[4.0, 5.0]).sum.tolist() == [10.0, 15.0]
assert rmlc.Instance(node, load=instance.save()).step(1.0) == 16.0
with tempfile.TemporaryDirectory() as folder:
    program = node.build(pathlib.Path(folder) / "sum")
    done = subprocess.run([program], input="x\n1\n2\n", capture_output=True, text=True, check=True)
    assert done.stdout == "sum\n1\n3\n", done.stdout
command = pathlib.Path(sys.executable).with_name("rmlc")
assert subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout.startswith("rmlc ")
