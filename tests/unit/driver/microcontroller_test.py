"""Objects for microcontrollers call the C library and the compiler's library only: of every operator, and of programs
that use other parts of the runtime. A program that needs an archive of the runtime is refused; the message names the
operator, its place and the archive.

    microcontroller_test.py RMLC REPOSITORY
"""

import pathlib
import re
import subprocess
import sys
import unittest

from in_folder import InFolder
from undefined_symbols import undefined

RMLC, ROOT = pathlib.Path(sys.argv.pop(1)).resolve(), pathlib.Path(sys.argv.pop(1)).resolve()
CHIP = ("--target", "thumbv7em-none-eabihf", "--cpu", "cortex-m4")
# The functions that docs/manual/c_interface.md lists. Those of the compiler's library begin with two underscores.
MEMORY = {"memcpy", "memset", "memmove"}
LIBM = {name + suffix for suffix in ("", "f") for name in (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "erf", "erfc",
    "exp", "exp2", "expm1", "fabs", "floor", "fma", "fmax", "fmin", "fmod", "frexp", "hypot", "ldexp", "log", "log10",
    "log1p", "log2", "nearbyint", "nextafter", "pow", "rint", "round", "roundeven", "sin", "sinh", "sqrt", "tan", "tanh",
    "trunc")}  # fmt: skip
# The operators that need an archive for operands of any size.
RANDOM = {"uniform", "normal", "bernoulli", "truncated_normal", "glorot_uniform", "glorot_normal", "he_uniform",
          "he_normal", "lecun_uniform", "lecun_normal", "orthogonal"}  # fmt: skip
ARCHIVED = RANDOM | {
    "add_at", "gather_elements", "take_along_axis", "gather_nd", "scatter_elements", "scatter_nd",
    "scatter_elements_gradient", "scatter_nd_gradient", "scatter_elements_tangent", "scatter_nd_tangent", "cumsum",
    "cumprod", "weighted_cumsum", "conv", "conv_transpose", "conv_input_gradient", "conv_weight_gradient", "max_pool",
    "max_pool_indices", "max_pool_select", "max_pool_gradient", "sum_pool", "sum_pool_gradient", "im2col", "col2im",
    "resize", "sum_resize", "grid_sample", "sum_grid_sample", "grid_sample_gradient", "det", "cofactor",
    "slogdet_parts", "qr_parts", "svd_parts", "eigh_parts", "fourier", "real_fourier", "real_fourier_terms", "frames",
    "overlap_add", "ctc_loss", "ctc_loss_gradient"}  # fmt: skip
# Operators of optimisers, which read other parameters than their operand.
OF_OPTIMISERS = {"sum_over_parameters", "sum_over_elements", "sum_over_sharers"}


def split(text):
    """The parts of a text between the commas that are not in brackets or quotes."""
    parts, depth, quoted, part = [], 0, False, ""
    for c in text:
        quoted ^= c == '"'
        depth += 0 if quoted else (c in "([") - (c in ")]")
        if c == "," and depth == 0 and not quoted:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return [*parts, part.strip()] if part.strip() else parts


def at_run_time(text):
    """The value, which depends on the inputs `n: i32` and `c: bool`, which are 0 and false."""
    if "true" in text or "false" in text:
        return f"logical_xor({text}, c)"
    return f"({text} + cast_like(n, {text}))"


def examples():
    """The example of each operator on its page, with operands that the compiler does not know."""
    page = (ROOT / "docs/manual/operators.md").read_text(encoding="utf-8")
    for name, signature, example in re.findall(r"^### (\w+)\n\n`\w+\((.*?)\) -> .*?^- example: `(.*?) -- ", page, re.S | re.M):
        call = re.sub(r"^shape\((\w+\(.*\))\)$", r"\1", example)
        operands, attributes = call[len(name) + 1:-1], split(signature)
        arguments, place = [], 0
        for argument in split(operands):
            parameter = attributes[place] if place < len(attributes) else ""
            is_operand = ":" in parameter and re.match(r"\w+=", argument) is None
            place += "…" not in parameter
            arguments.append(at_run_time(argument) if is_operand and name != "param" else argument)
        yield name, f"{name}({', '.join(arguments)})"


class Microcontroller(InFolder):
    def build(self, text, *options):
        (self.folder / "main.rml").write_text(text, encoding="utf-8")
        (self.folder / "chip.o").unlink(missing_ok=True)
        return subprocess.run([RMLC, "build", "main.rml", *CHIP, "-o", "chip.o", *options], cwd=self.folder,
                              capture_output=True, text=True)  # fmt: skip

    def needs_no_archive(self, text, *options):
        done = self.build(text, "--emit", "lib", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        missing = {name for name in undefined(self.folder / "chip.o") if not name.startswith("__")}
        self.assertLessEqual(missing, MEMORY | LIBM)

    def refused(self, done, *words):
        self.assertEqual(done.returncode, 1, done.stderr)
        for word in ("error[E0903]: ", *words):
            self.assertIn(word, done.stderr)
        self.assertFalse((self.folder / "chip.o").exists())

    def test_operators(self):
        calls = dict(examples())
        self.assertGreater(len(calls), 200)
        self.assertLessEqual(ARCHIVED | OF_OPTIMISERS, set(calls))
        for name in sorted(ARCHIVED):
            with self.subTest(name=name):
                done = self.build(f"node main(n: i32, c: bool) -> (y)\n  y = {calls[name]};\n", "--emit", "lib")
                # An operator may be composed of others: then the message names the one that needs the archive.
                self.refused(done, " calls librml", ".a, which is not built for 'thumbv7em-none-eabihf'", "main.rml:2:7")
        small = {name: call for name, call in calls.items() if name not in ARCHIVED | OF_OPTIMISERS}
        lines = "".join(f"  r{k} = {call};\n" for k, call in enumerate(small.values()))
        outputs = ", ".join(f"r{k}" for k in range(len(small)))
        self.needs_no_archive(f"node main(n: i32, c: bool) -> ({outputs})\n{lines}", "-O", "1")

    def test_random_numbers(self):
        """C source has them; and parameters that a file gives are not drawn."""
        layer = "import nn;\nnode main(x: f32[2]) -> (y: f32[2])\n  y = nn.dense(2, x);\n"
        self.refused(self.build(layer, "--emit", "lib"), "`glorot_uniform` of f32[2, 2] calls librmlrt.a", "--load-params")
        for command in ([RMLC, "run", "main.rml", "--cycles", "1", "--save", "trained.state", "--input", "in.csv"],
                        [RMLC, "build", "main.rml", "--emit", "c"], ["cc", "-std=c99", "-c", "main.c", "-o", "chip.o"]):  # fmt: skip
            (self.folder / "in.csv").write_text("x[0],x[1]\n1,2\n")
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(undefined(self.folder / "chip.o") - {"_GLOBAL_OFFSET_TABLE_"}, MEMORY | LIBM)
        self.needs_no_archive(layer, "--load-params", "trained.state")

    def test_programs_and_threads(self):
        plain = "node main(x: f32) -> (y: f32)\n  y = x + 1.0;\n"
        for kind in ("obj", "bc"):
            self.refused(self.build(plain, "--emit", kind), f"--emit {kind} makes a program, which calls librmlrt.a")
        self.refused(self.build(plain, "--emit", "lib", "--threads", "2"), "--threads: loops in several threads")
        self.needs_no_archive(plain)

    def test_learning(self):
        """A program that learns, with steps of several micro-batches and rows that wait for the end of a segment."""
        self.needs_no_archive("""import optim;
node line(x: f32) -> (y)
  y = param(0.5) * x;
node main(end: bool, x: f32 dealt end by 2, t: f32 dealt end by 2) -> (y: f32, mean: f32 when last, last: bool)
  y, _ = diff[optim.adam(0.01)] line(x, true, y - t);
  mean, last = all_mean(square(y - t) when end);
""")
        self.needs_no_archive((ROOT / "examples/higher_order/pinn.rml").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
