"""Tests the examples of docs/manual/channels.md: page_test.py PAGE REPOSITORY CC CXX FIBERS
LIBRARY [FLAG…], run by ctest.

Each ```c and ```cpp block is compiled and run. Its output must be the ```text block that
follows."""

import pathlib
import subprocess
import sys
import tempfile

PAGE, ROOT, CC, CXX, FIBERS, LIBRARY, *FLAGS = sys.argv[1:]
sys.path.insert(0, ROOT + "/tests/lint")
from blocks import blocks, saved_name  # noqa: E402


def output_of(body, language, folder):
    source, program, object_file = folder / saved_name(body), folder / "program", folder / "example.o"
    source.write_text(body, encoding="utf-8")
    warnings = ["-Wall", "-Wextra", "-Werror"]
    compiler = [CXX, "-std=c++20"] if language == "cpp" else [CC, "-std=c99"]
    subprocess.run([*compiler, *warnings, *FLAGS, "-I", ROOT, "-c", source, "-o", object_file], check=True)
    libraries = [FIBERS, LIBRARY, "-lboost_context"] if "on_fibers" in body else [LIBRARY]
    subprocess.run([CXX, *FLAGS, object_file, *libraries, "-pthread", "-o", program], check=True)
    return subprocess.run([program], capture_output=True, text=True, timeout=60, check=True).stdout


def main():
    problems, printed, count = [], None, 0
    with tempfile.TemporaryDirectory() as folder:
        for line, fence, body in blocks(pathlib.Path(PAGE).read_text(encoding="utf-8")):
            if fence in ("c", "cpp"):
                printed = output_of(body, fence, pathlib.Path(folder))
                count += 1
            elif fence == "text" and body != printed:
                problems.append(f"{PAGE}:{line}: the example prints\n{printed}")
    if count < 5:
        problems.append("examples are missing")
    sys.exit("\n".join(problems) or 0)


main()
