"""`cmake --install` after the target of scripts/demo must give a tree that works in any place."""

import pathlib
import re
import subprocess
import sys
import tempfile

CMAKE, BUILD = sys.argv[1:3]
SOURCE = "node main(end: bool, x: i32) -> (o: i32)\n  o = backfill(x, end);\n"


def run(*command, **options):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True, **options).stdout


# As in the README: `cmake --install build/release` after scripts/demo. Everything that is
# installed from the build folder is made by the demo's target or by configuring.
ROOT = pathlib.Path(__file__).resolve().parents[3]
build = pathlib.Path(BUILD).resolve()
script = (build / "packaging" / "cmake_install.cmake").read_text()
lists = re.findall(r"file\(INSTALL [^)]*?FILES\s([^)]*)\)", script)
installed = [pathlib.Path(file).relative_to(build) for each in lists for file in re.findall(r'"([^"]+)"', each)
             if pathlib.Path(file).is_relative_to(build) and not file.endswith("/")]
target = re.search(r"cmake --build --preset release --target (\w+)", (ROOT / "scripts" / "demo").read_text())[1]
made = set(run("ninja", "-C", BUILD, "-t", "commands", target).split())
by_configuring = {".pc", ".cmake"}
left_out = [str(file) for file in installed if file.suffix not in by_configuring and str(file) not in made]
assert len(installed) > 8 and not left_out, f"scripts/demo does not build {left_out}"
# If a file was not built, nothing is installed.
with tempfile.TemporaryDirectory() as place:
    folder = pathlib.Path(place)
    (folder / "i.cmake").write_text(script.replace("librml_channel.a", "librml_channel_that_is_not_built.a"))
    done = subprocess.run([CMAKE, "-D", f"CMAKE_INSTALL_PREFIX={folder}/there", "-P", folder / "i.cmake"], capture_output=True,
                          text=True)
    assert done.returncode != 0 and "--target parts" in " ".join(done.stderr.split()) and not (folder / "there").exists(), done.stderr

with tempfile.TemporaryDirectory() as place:
    folder = pathlib.Path(place)
    run(CMAKE, "--install", BUILD, "--prefix", folder / "first")
    (folder / "first").rename(folder / "moved")
    (folder / "p.rml").write_text(SOURCE)
    rmlc = folder / "moved" / "bin" / "rmlc"
    rows = "end,x\nF,1\nT,2\n"
    expected = "o\n2\n2\n"
    assert run(rmlc, "run", "p.rml", cwd=folder, input=rows) == expected
    run(rmlc, "build", "p.rml", cwd=folder)
    assert run("./p", cwd=folder, input=rows) == expected
    # LAPACK is part of the programs that use it, and of no others. Systems of up to 12 rows do without.
    assert b"rml_lapack" not in (folder / "p").read_bytes()
    (folder / "s.rml").write_text("node main(d: f64) -> (x: f64[2])\n  x = solve(d * eye(13), ones([13]))[0:2];\n")
    run(rmlc, "build", "s.rml", cwd=folder)
    assert b"rml_lapack_solve" in (folder / "s").read_bytes()
    assert run("./s", cwd=folder, input="d\n1\n0.5\n") == "x[0],x[1]\n1,1\n2,2\n"
    assert "libgfortran" not in run("ldd", folder / "s")
    assert (folder / "moved" / "lib" / "rmlc" / "include" / "rmlrt.h").is_file()
