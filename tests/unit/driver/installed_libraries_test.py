"""Builds the programs of the manual's pages from a moved installation alone, by pkg-config and by
CMake.

installed_libraries_test.py CMAKE BUILD REPOSITORY
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CMAKE, BUILD, ROOT = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
sys.path.insert(0, str(ROOT / "tests/lint"))
from blocks import blocks, saved_name  # noqa: E402  (its folder is known only here)

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(user CXX)
find_package(rml {version} REQUIRED COMPONENTS channel fibers tasks)
"""
PROGRAM = """add_executable({name} {name}.cc)
target_link_libraries({name} PRIVATE rml::{component})
"""


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def wanted(component, body):
    return "fibers" if "channel/fibers.h" in body else component


def programs():
    """Each program of a page, with its output if the page contains it."""
    for page, component in (("channels.md", "channel"), ("scheduler.md", "tasks")):
        name = body = None
        for _, fence, text in blocks((ROOT / "docs/manual" / page).read_text()):
            if fence == "cpp":
                name, body = pathlib.Path(saved_name(text)).stem, text
            elif fence == "text" and name:
                yield wanted(component, body), name, body, text
                name = None
        if name:
            yield wanted(component, body), name, body, None


def check(found, place, build):
    for component, name, body, expected in found:
        (place / f"{name}.cc").write_text(body)
    build(place)
    for _, name, _, expected in found:
        printed = run(place / name, cwd=place)
        assert expected is None or printed == expected, f"{name} prints\n{printed}"


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    run(CMAKE, "--install", BUILD, "--prefix", folder / "first")
    tree = folder / "moved"
    (folder / "first").rename(tree)
    config = next(tree.rglob("rmlConfig.cmake")).parent
    packages = next(tree.rglob("pkgconfig"))
    found = list(programs())
    assert len(found) >= 4, found
    assert not any(str(ROOT) in text.read_text() for text in [*config.iterdir(), *packages.iterdir()])

    # Every header must compile alone, in C++ and, if it is for C, in C.
    headers = tree / "include/rml"
    for header in headers.rglob("*.h"):
        run("g++", "-std=c++20", "-fsyntax-only", "-x", "c++", f"-I{headers}", header)
        if header.name in ("channel.h", "rmlrt.h"):
            run("gcc", "-std=c99", "-pedantic", "-Werror", "-fsyntax-only", "-x", "c", f"-I{headers}", header)

    if not shutil.which("pkg-config"):
        print("without pkg-config: CMake alone")
    else:
        environment = dict(os.environ, PKG_CONFIG_PATH=str(packages))

        def by_pkg_config(place):
            for component, name, _, _ in found:
                flags = run("pkg-config", "--cflags", "--libs", f"rml-{component}", env=environment).split()
                run("g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", f"{name}.cc", "-o", name, *flags, cwd=place)

        (folder / "flags").mkdir()
        check(found, folder / "flags", by_pkg_config)

    def by_cmake(place):
        version = (ROOT / "CMakeLists.txt").read_text().split("VERSION ")[2].split()[0]
        text = PROJECT.format(version=version)
        for component, name, _, _ in found:
            text += PROGRAM.format(name=name, component=component)
        (place / "CMakeLists.txt").write_text(text)
        run(CMAKE, "-S", place, "-B", place / "build", "-G", "Ninja", f"-Drml_DIR={config}", "-DCMAKE_BUILD_TYPE=Release")
        run(CMAKE, "--build", place / "build")
        for _, name, _, _ in found:
            (place / "build" / name).rename(place / name)

    (folder / "project").mkdir()
    check(found, folder / "project", by_cmake)

    # A missing component is reported by name.
    (folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(user CXX)\n"
                                           "find_package(rml REQUIRED COMPONENTS chanel)\n")
    done = subprocess.run([CMAKE, "-S", folder, "-B", folder / "wrong", "-G", "Ninja", f"-Drml_DIR={config}"],
                          capture_output=True, text=True)
    assert done.returncode != 0 and "no component 'chanel'" in done.stderr, done.stderr
