"""Loops over inlined functions must be vectorised: for plain x86-64, with AVX2, and with AVX-512
in vectors of the size that LLVM prefers. They may call only the vector forms of sin and cos; with
strict math, and at -O0, they call the C library. Small tensors are stored to their cells as the
vectors in which they were computed. A long list of them is stored in parts, because LLVM took
minutes for a function that stores the elements of a hundred tensors one by one.

Run by ctest: vectorised_test.py RMLC
"""
import pathlib
import re
import subprocess
import sys
import tempfile

RMLC = sys.argv[1]
FUNCTIONS = "exp", "log", "tanh", "sigmoid", "sin", "cos"
BITS = {"x86-64": 128, "haswell": 256, "skylake-avx512": 256, "icelake-server": 256, "znver4": 512}
LANES = {(cpu, f"f{size}"): bits // size for cpu, bits in BITS.items() for size in (32, 64)}


def text(folder, function, dtype, *options):
    source, out = folder / "f.rml", folder / "f.ll"
    source.write_text(f"node f(x: {dtype}[1000]) -> (y: {dtype}[1000])\n  y = 2.0 * {function}(3.0 * x);\n")
    subprocess.run([RMLC, "build", source, "--target", "x86_64-linux-gnu", "--emit", "llvm", *options, "-o", out],
                   check=True)
    return out.read_text()


def many_small_tensors(folder, count):
    """Writes a program with many small tensors, each of which has a cell."""
    source, out = folder / "many.rml", folder / "many.ll"
    source.write_text("node many(x: f64[16]) -> (y: f64)\n  v0 = x;\n" + "".join(
        f"  v{k} = tanh(0.5 * (zeros([16]) fby v{k}) + v{k - 1});\n" for k in range(1, count + 1)) +
                      f"  y = sum(v{count});\n")
    subprocess.run([RMLC, "build", source, "--target", "x86_64-linux-gnu", "--emit", "llvm", "-o", out], check=True)
    code = out.read_text()
    vectors, elements = code.count("store <16 x double>"), len(re.findall(r"store double %\S*extract", code))
    parts = len(re.findall(r"^define .*@\S+\.part", code, re.M))
    if vectors < count or elements > 0 or parts < count // 30:
        return [f"{count} small tensors: {vectors} vectors and {elements} elements are stored, in {parts} parts"]
    return []


def main():
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for function in FUNCTIONS:
            for (cpu, dtype), lanes in LANES.items():
                code = text(folder, function, dtype, "--cpu", cpu)
                kind = "float" if dtype == "f32" else "double"
                loop = re.search(rf"^vector\.body.*?^\}}", code, re.M | re.S)
                store = loop and re.search(rf"store <{lanes} x {kind}>", loop.group())
                circular = re.search(rf"call <{lanes} x {kind}> @rml\.{function}\.", code)
                called = re.search(rf"call {kind} @{function}f?\(", code)
                if not store or (called if function not in ("sin", "cos") else not circular):
                    problems.append(f"{function} of {dtype} for {cpu} is not a loop over {lanes} lanes")
        for options in (["--strict-math"], ["-O", "0"]):
            for function in ("exp", "tanh", "cos"):
                if not re.search(rf"call float @{function}f\(", text(folder, function, "f32", *options)):
                    problems.append(f"{' '.join(options)} does not call {function}f")
        problems += many_small_tensors(folder, 100)
    sys.exit("\n".join(problems) or 0)


main()
