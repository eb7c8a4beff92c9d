"""State and parameters across programs, engines and tools: state_test.py RMLC."""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

RMLC = sys.argv.pop(1)

# One layer. The training node and the inference node know its parameters by the same paths.
LAYERS = """
const rate: f64 = 0.1;
node layer(x: f64[2], w: f64[2], b: f64) -> (y: f64)
  y = sum(w * x) + b;
node net(x: f64[2]) -> (y: f64)
  w = param(normal([2]));
  b = param(0.5);
  y = layer(x, w, b);
node infer(x: f64[2]) -> (y: f64)
  y = net(x);
node keep(c: bool, x: f64[2]) -> (y: f64 when c)
  y = net(x when c);
"""


def rmlc(*arguments, **options):
    return subprocess.run([RMLC, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)


def tensors(path):
    """The file's metadata and its f64 tensors, read without any library."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    values = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        if entry["dtype"] == "F64":
            values[name] = struct.unpack(f"<{(end - begin) // 8}d", data[8 + length + begin : 8 + length + end])
    return metadata, values


def write(path, values):
    """Writes a safetensors file of f64 tensors, given as {name: (shape, values)}."""
    header, data = {}, b""
    for name, (shape, numbers) in values.items():
        piece = struct.pack(f"<{len(numbers)}d", *numbers)
        header[name] = {"dtype": "F64", "shape": shape, "data_offsets": [len(data), len(data) + len(piece)]}
        data += piece
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


class State(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)
        self.file = self.folder / "layers.rml"
        self.file.write_text(LAYERS)
        self.weights = self.folder / "w.safetensors"
        self.input = self.folder / "x.csv"
        self.input.write_text("x[0],x[1]\n1,2\n3,4\n")

    def tearDown(self):
        self.place.cleanup()

    def infer(self, *arguments):
        done = rmlc("run", self.file, "--node", "infer", "--input", self.input, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [float(y) for y in done.stdout.split()[1:]]

    def test_parameters_from_elsewhere(self):
        write(self.weights, {"net.w": ([2], [10.0, 100.0]), "net.b": ([], [0.25]), "unused": ([1], [0.0])})
        for engine in ("compiled", "reference"):
            self.assertEqual(self.infer("--engine", engine, "--load-params", self.weights), [210.25, 430.25])

    def test_parameters_of_another_program(self):
        state = self.folder / "state"
        y = self.infer("--seed", 7, "--save", state)
        metadata, values = tensors(state)
        self.assertEqual(metadata["cycle"], "2")
        self.assertEqual(values["net.b"], (0.5,))
        w = values["net.w"]
        self.assertEqual(y, [w[0] + 2 * w[1] + 0.5, 3 * w[0] + 4 * w[1] + 0.5])
        rows = self.folder / "c.csv"
        rows.write_text("c,x[0],x[1]\nF,0,0\nT,1,2\n")
        done = rmlc("run", self.file, "--node", "keep", "--input", rows, "--load-params", state)
        self.assertEqual([float(v) for v in done.stdout.split()[1:] if v != '""'], y[:1])

    def test_parameters_of_an_unfinished_segment(self):
        """The unit that stores the parameter waits for its first instant; nevertheless the
        state contains the value."""
        model, rows, state = self.folder / "m.rml", self.folder / "rows.csv", self.folder / "state"
        model.write_text("""
node model(end, x) -> (y)
  y = param_end(end, param(5.0)) * x;
node train(end: bool, x: f64) -> (y: f64)
  y, _ = diff model(end, x, true, 1.0);
node infer(x: f64) -> (y: f64)
  y = model(true, x);
""")
        rows.write_text("end,x\nF,1\n")
        done = rmlc("run", model, "--node", "train", "--input", rows, "--save", state)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows.write_text("x\n2\n")
        done = rmlc("run", model, "--node", "infer", "--input", rows, "--load-params", state)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "y\n10\n", ""))

    def test_what_is_learned_by_moving(self):
        """Running statistics and counts are parameters: `train` does not read them, `use`
        does."""
        source, state = self.folder / "moving.rml", self.folder / "state"
        source.write_text("""
import nn;
node rows(train: bool, x: f64[2, 1]) -> (y: f64[2, 1])
  y = nn.batch_norm_rows(0.25, 0.5, train, x);
node single(train: bool, end: bool, x: f64) -> (y: f64)
  y = nn.batch_norm(0.25, 0.5, train, end, x);
node seen(train: bool) -> (n: i32)
  n = param(0, train, 1 when train);
node model(train: bool, x: f64[2, 1]) -> (y: f64[2, 1], z: f64, n: i32)
  y = rows(train, x);
  z = single(train, true, x[0, 0]);
  n = seen(train);
node learn(x: f64[2, 1]) -> (y: f64)
  m, z, _, _ = diff model(true, x, true, 0.0, 0.0);
  y = m[0, 0] + z;
node either(train: bool, x: f64[2, 1]) -> (y: f64)
  m, z, _ = model(train, x);
  y = m[0, 0] + z;
node use() -> (y: f64[2], z: f64, n: i32)
  m, z, n = model(false, [[1.5], [3.0]]);
  y = m[:, 0];
""")
        # Each running statistic moves halfway towards that of a batch. The batches have the averages
        # 2 and 2 and the unbiased variances 2 and 4.5, so the mean is 0, 1, 1.5 and the variance
        # 1, 1.5, 3. The node for single samples reads 1 and 0.5: 0, 0.5, 0.5 and 1, 0.5, 0.25.
        learned = [[0.0, 1.5 / 3.25**0.5], 1.0 / 0.5**0.5, 2]
        always, at_times = "x[0,0],x[1,0]\n1,3\n0.5,3.5\n", "train,x[0,0],x[1,0]\nT,1,3\nF,9,9\nT,0.5,3.5\n"
        for node, batches in (("learn", always), ("either", at_times)):
            self.input.write_text(batches)
            done = rmlc("run", source, "--node", node, "--input", self.input, "--save", state)
            self.assertEqual(done.returncode, 0, done.stderr)
            for engine in ("compiled", "reference"):
                done = rmlc("run", source, "--node", "use", "--cycles", 1, "--engine", engine, "--load-params", state)
                self.assertEqual(done.returncode, 0, done.stderr)
                got = [float(v) for v in done.stdout.split()[1].split(",")]
                for value, wanted in zip(got, [*learned[0], *learned[1:]], strict=True):
                    self.assertAlmostEqual(value, wanted, 12)

    def test_a_file_without_what_is_learned_by_moving(self):
        source = self.folder / "moving.rml"
        source.write_text("""
import nn;
node main(x: f64[2, 1]) -> (y: f64[2, 1])
  y = nn.batch_norm_rows(1e-5, 0.1, false, x);
""")
        write(self.weights, {f"batch_norm_rows.{name}": ([1, 1], [1.0]) for name in ("gamma", "beta")})
        self.input.write_text("x[0,0],x[1,0]\n1,3\n")
        done = rmlc("run", source, "--input", self.input, "--load-params", self.weights)
        self.assertEqual(done.returncode, 1)
        for name in ("running_average", "running_variance"):
            self.assertIn(f"no parameter 'batch_norm_rows.{name}' (f64[1,1,1]) in the file", done.stderr)

    def test_parameters_that_no_output_needs(self):
        source = self.folder / "counts.rml"
        source.write_text("""
node f(x: f64) -> (o: f64)
  o = param(0.5) * x;
node main(x: f64) -> (n: i32)
  n = 0 fby n + 1;
  o, _ = diff f(x, true, 0.1 * (1.0 - o));
""")
        state = self.folder / "state"
        done = rmlc("run", source, "--save", state, input="x\n1\n2\n")
        self.assertEqual((done.returncode, done.stdout), (0, "n\n0\n1\n"), done.stderr)
        p = 0.5
        for x in (1.0, 2.0):
            p += 0.1 * (1.0 - p * x) * x
        self.assertAlmostEqual(tensors(state)[1]["f.o"][0], p, places=15)

    def test_what_differs_is_named(self):
        state = self.folder / "state"
        self.infer("--save", state)
        done = rmlc("run", self.file, "--node", "keep", "--load", state, input="c,x[0],x[1]\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("saved by a program whose state differs from that of 'keep'", done.stderr)
        self.assertIn("'start of base on c' (bool) is not in the file", done.stderr)

    def test_equations_and_optimisation_may_change(self):
        text = "const step: i32 = 1;\nnode main() -> (n: i32)\n  n = 0 fby n + step;\n"
        self.file.write_text(text)
        state = self.folder / "state"
        rmlc("run", self.file, "-O0", "--cycles", 3, "--save", state)
        done = rmlc("run", self.file, "-O3", "-D", "step=10", "--cycles", 3, "--load", state)
        self.assertEqual(done.stdout, "n\n3\n13\n23\n")
        rmlc("build", self.file, "-o", self.folder / "program")
        done = subprocess.run([self.folder / "program", "--load", state, "--cycles", "2"], capture_output=True, text=True)
        self.assertEqual(done.stdout, "n\n3\n4\n")

    def test_the_reference_engine_says_no(self):
        done = rmlc("run", self.file, "--node", "infer", "--engine", "reference", "--save", self.folder / "s", input="")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the reference engine cannot save", done.stderr)

    def test_python_reads_and_writes_the_same(self):
        try:
            import numpy
            from safetensors.numpy import load_file, save_file
        except ImportError:
            self.skipTest("the Python package safetensors is not installed")
        state = self.folder / "state"
        y = self.infer("--save", state)
        values = load_file(state)
        self.assertEqual(values["net.w"].shape, (2,))
        save_file({name: values[name] for name in ("net.w", "net.b")}, self.weights)
        self.assertEqual(self.infer("--load-params", self.weights), y)
        save_file({name: values[name].astype(numpy.float32) for name in ("net.w", "net.b")}, self.weights)
        narrow = float(numpy.float32(values["net.w"][0])) + 2 * float(numpy.float32(values["net.w"][1])) + 0.5
        self.assertEqual(self.infer("--load-params", self.weights)[0], narrow)


unittest.main(verbosity=0)
