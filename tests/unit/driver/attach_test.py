"""Executables are made without a linker; each must behave like `rmlc run`, whatever it calls
of the runtime."""

import os
import pathlib
import platform
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

RMLC = pathlib.Path(sys.argv.pop(1))
RUNNER = RMLC.parent.parent / "lib" / "rmlc" / "runner"

PROGRAMS = {
    "straight": "node main() -> (n: i32, y: f64)\n  n = 0 fby n + 1;\n  y = 0.5 fby 3.75 * y * (1.0 - y);\n",
    "segments": "node main() -> (y: i32)\n  n = 0 fby n + 1;\n  y = backfill(n, n % 3 == 2);\n",
    # Functions of the C library that are selected by the processor, and kernels.
    "functions": "node main() -> (y: f64, z: f32)\n  n = 0.25 fby n + 1.0;\n  y = pow(n, 1.5) + atan2(n, 3.0);\n"
    "  z = acos(0.01 * cast(f32, n));\n",
    "kernels": "node main() -> (y: f64[4], r: f64[3])\n  n = 0.0 fby n + 1.0;\n"
    "  y = sort([n, 2.0, 0.5 * n, 1.0]);\n  r = uniform([3], 0.0, 1.0);\n",
    "constants": "node main() -> (y: f64)\n  n = 0 fby (n + 1) % 200;\n"
    "  y = take(cast(f64, iota(200)) / 7.0, n);\n",
    "threads": "node main() -> (y: f32)\n  m = zeros([300, 300]) fby m * 0.5 + 1.0;\n  y = sum(matmul(m, m));\n",
    "demand": "node main(end: bool, x: f64) -> (y: f64)\n  y = x + (if end then 0.0 else post (post y));\n",
    "faults": "node main() -> (y: i32)\n  n = 3 fby n - 1;\n  y = 6 / n;\n",
}


@unittest.skipUnless(RUNNER.exists(), "this machine's rmlc uses a linker")
class Attach(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())

    def tearDown(self):
        shutil.rmtree(self.folder)

    def rmlc(self, *arguments, **options):
        return subprocess.run([RMLC, *arguments], cwd=self.folder, capture_output=True, **options)

    def build(self, name, *options, **more):
        (self.folder / f"{name}.rml").write_text(PROGRAMS[name])
        done = self.rmlc("build", f"{name}.rml", *options, env={"PATH": str(self.folder)}, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / name

    def test_addresses_that_are_offsets(self):
        """A runner whose length makes the attached data load at an address equal to its offset
        in the file."""
        own = self.folder / "own"
        shutil.copytree(RUNNER.parent, own / "lib" / "rmlc")
        (own / "bin").mkdir()
        shutil.copy(RMLC, own / "bin" / "rmlc")
        runner = own / "lib" / "rmlc" / "runner"
        data = bytearray(runner.read_bytes())
        (first,), (rows,) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<H", data, 56)
        loaded = [row for row in range(first, first + 56 * rows, 56) if struct.unpack_from("<I", data, row)[0] == 1]
        last = max(loaded, key=lambda row: struct.unpack_from("<Q", data, row + 16))
        address, _, _, size = struct.unpack_from("<4Q", data, last + 16)
        page = 65536 if platform.machine() == "aarch64" else 4096
        excess = -(-len(data) // page) * page - -(-(address + size) // page) * page
        if excess > 0:
            struct.pack_into("<Q", data, last + 40, size + excess)
        runner.write_bytes(data + bytes(max(-excess, 0)))
        (self.folder / "straight.rml").write_text(PROGRAMS["straight"])
        subprocess.run([own / "bin" / "rmlc", "build", "straight.rml"], cwd=self.folder, check=True,
                       env={"PATH": str(self.folder)})
        expected = self.rmlc("run", "straight.rml", "--cycles", "3").stdout
        found = subprocess.run([self.folder / "straight", "--cycles", "3"], capture_output=True, timeout=60)
        self.assertEqual(found.stdout, expected)

    def test_programs(self):
        for name in PROGRAMS.keys() - {"threads", "demand"}:
            for level in ("-O0", "-O2"):
                with self.subTest(name=name, level=level):
                    program = self.build(name, level)
                    expected = self.rmlc("run", f"{name}.rml", level, "--cycles", "20")
                    found = subprocess.run([program, "--cycles", "20"], capture_output=True)
                    self.assertEqual(found.stdout, expected.stdout)
                    self.assertEqual(found.returncode, expected.returncode)
                    self.assertEqual(found.returncode, 1 if name == "faults" else 0)

    def test_loops_in_threads(self):
        program = self.build("threads", "--threads", "2")
        expected = self.rmlc("run", "threads.rml", "--threads", "2", "--cycles", "3")
        found = subprocess.run([program, "--cycles", "3"], capture_output=True)
        self.assertEqual((found.stdout, found.returncode), (expected.stdout, 0))

    def test_rows_on_demand(self):
        program = self.build("demand")
        rows = "end,x\n" + "".join(f"{'true' if n % 3 == 2 else 'false'},{n}\n" for n in range(12))
        (self.folder / "in.csv").write_text(rows)
        expected = self.rmlc("run", "demand.rml", "--input", "in.csv")
        found = subprocess.run([program, "--input", "in.csv"], cwd=self.folder, capture_output=True)
        self.assertGreater(found.stdout.count(b"\n"), 5)
        self.assertEqual((found.stdout, found.returncode), (expected.stdout, expected.returncode))

    def test_permissions(self):
        (self.folder / "straight").write_text("not a program")
        before = os.umask(0o027)
        try:
            program = self.build("straight")
        finally:
            os.umask(before)
        self.assertEqual(program.stat().st_mode & 0o777, 0o750)

    def test_standard_output(self):
        (self.folder / "p.rml").write_text(PROGRAMS["straight"])
        program = self.folder / "p"
        program.write_bytes(self.rmlc("build", "p.rml", "-o", "/dev/stdout").stdout)
        program.chmod(0o700)
        self.assertEqual(subprocess.run([program, "--cycles", "1"], capture_output=True).stdout, b"n,y\n0,0.5\n")

    def test_an_external_function_takes_a_linker(self):
        (self.folder / "e.rml").write_text("node twice(x: f64) -> (y: f64)\n\nnode main(x: f64) -> (y: f64)\n  y = twice(x);\n")
        done = self.rmlc("build", "e.rml", text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("E0805", done.stderr)

    @unittest.skipUnless(shutil.which("readelf"), "no readelf")
    def test_debuggers_find_functions_and_lines(self):
        program = self.build("straight")
        symbols = subprocess.run(["readelf", "-sW", program], capture_output=True, text=True, check=True)
        self.assertEqual(symbols.stderr, "")
        self.assertIn("main.push", symbols.stdout)
        lines = subprocess.run(["readelf", "--debug-dump=decodedline", program], capture_output=True, text=True)
        self.assertEqual(lines.stderr, "")
        self.assertIn("straight.rml", lines.stdout)


if __name__ == "__main__":
    unittest.main()
