"""Options and programs that `--emit c` refuses: machine code options, and programs that need
the runtime."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

RMLC = str(pathlib.Path(sys.argv[1]).resolve())
PLAIN = "node main(x: f32) -> (y: f32)\n  y = x + 1.0;\n"
SORTS = "node main(x: f32[17]) -> (y: f32[17])\n  y = sort(x) + 1.0;\n"
MEETS = "node main(x: f32, b: bool) -> (y: f32)\n  y = if b then x else post y;\n"


class Refusals(unittest.TestCase):
    def build(self, program, *options):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "p.rml"
            source.write_text(program)
            done = subprocess.run([RMLC, "build", source, "--emit", "c", "-o", pathlib.Path(folder) / "p.c",
                                   "--color", "never", *options], capture_output=True, text=True)
            return done, sorted(path.name for path in pathlib.Path(folder).iterdir())

    def test_plain(self):
        done, files = self.build(PLAIN)
        self.assertEqual((done.returncode, files), (0, ["p.c", "p.h", "p.rml"]))

    def test_options_of_machine_code(self):
        for options, named in [(["--target", "aarch64-linux-gnu"], "--target"), (["--cpu", "native"], "--cpu"),
                               (["-O", "3"], "-O3"), (["-O", "s"], "-O s"),
                               (["--threads", "2"], "--threads"), (["--fast-math"], "--fast-math")]:
            done, files = self.build(PLAIN, *options)
            self.assertEqual((done.returncode, done.stderr, files),
                             (2, f"rmlc: {named} cannot be combined with --emit c: the C compiler decides it\n", ["p.rml"]))

    def test_networks(self):
        done, files = self.build(PLAIN, "--parallel")
        self.assertEqual((done.returncode, done.stderr, files),
                         (2, "rmlc: --parallel works with programs only, not with --emit c\n", ["p.rml"]))

    def test_programs_of_the_runtime(self):
        done, files = self.build(SORTS)
        self.assertEqual((done.returncode, files), (1, ["p.rml"]))
        self.assertIn("error[E0903]: --emit c does not support `sort`, a kernel of the runtime", done.stderr)
        self.assertIn("p.rml:2:7", done.stderr)

    def test_rows_that_wait(self):
        done, files = self.build(MEETS)
        self.assertEqual((done.returncode, files), (0, ["p.c", "p.h", "p.rml"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
