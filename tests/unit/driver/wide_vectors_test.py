"""The code that uses vectors of 512 bits: wide_vectors_test.py RMLC EXAMPLES, run by ctest.

Products use them where they are not slower. Steps of scalars never do, because one wide store
would slow them down."""

import pathlib
import subprocess
import sys
import tempfile

RMLC, EXAMPLES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
PRODUCT = "node main(w: f32[40, 40], x: f32[40]) -> (y: f32[40])\n  y = matmul(w, x);\n"
WIDE = {"haswell": False, "skylake-avx512": False, "x86-64-v4": False, "icelake-server": True, "sapphirerapids": True,
        "znver4": True}  # fmt: skip


def is_wide(source, cpu, folder):
    made = folder / "code.s"
    subprocess.run([RMLC, "build", source, "--target", "x86_64-linux-gnu", "--cpu", cpu, "--emit", "asm", "-o", made],
                   check=True)  # fmt: skip
    return "zmm" in made.read_text()


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        product = folder / "product.rml"
        product.write_text(PRODUCT)
        for cpu, wide in WIDE.items():
            if is_wide(product, cpu, folder) != wide:
                wrong.append(f"a product for {cpu}: {'not in' if wide else 'in'} vectors of 512 bits")
        if is_wide(EXAMPLES / "online/logistic.rml", "icelake-server", folder):
            wrong.append("a step of scalars is in vectors of 512 bits")
    sys.exit("\n".join(wrong) or 0)


main()
