#!/usr/bin/env python3
"""Builds the wheel of this folder from the archives of a build folder: make_wheel.py BUILD OUTPUT.

It runs in the environment that has scikit-build-core and nanobind, and asks no network.
"""
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def main():
    build, output = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    shutil.rmtree(output, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps",
               "--no-build-isolation", "--no-index", "--wheel-dir", output,
               "-C", f"build-dir={build / 'python' / '{wheel_tag}'}", "-C", f"cmake.define.RMLC_BUILD={build}"]
    if shutil.which("ccache"):
        command += ["-C", "cmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache"]
    subprocess.run([*command, HERE], check=True)


if __name__ == "__main__":
    main()
