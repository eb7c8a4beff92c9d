#!/usr/bin/env python3
"""Release builds and clean builds compile ten files of a room, or of a test, as one unit. This
checks that every batch compiles, which compiling the single files does not show.

  batches.py BUILD    a build folder in which the generated files exist
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def refused(entry, folder, build):
    """The compiler's message about a batch, after a check of syntax and names only; empty if
    there is none."""
    batch = pathlib.Path(entry["file"])
    batch.write_text(batch.read_text(encoding="utf-8").replace(folder, str(build)), encoding="utf-8")
    command = [word.replace(folder, str(build)) if word != entry["file"] else word
               for word in shlex.split(entry["command"])]
    command = command[command[0].endswith("ccache"):]
    done = subprocess.run([*command, "-fsyntax-only", "-w"], cwd=build, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else "\n".join(
        [entry["file"]] + [line for line in done.stderr.splitlines() if "error" in line][:5])


def several_files(file):
    return "/Unity/" in file and pathlib.Path(file).read_text(encoding="utf-8").count("#include") > 1


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cmake", "--preset", "release", "-B", folder], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        entries = json.loads(pathlib.Path(folder, "compile_commands.json").read_text(encoding="utf-8"))
        batches = [entry for entry in entries if several_files(entry["file"])]
        assert len(batches) > 20, f"{len(batches)} batches"
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            problems = [text for text in pool.map(lambda entry: refused(entry, folder, build), batches) if text]
    print("\n".join(problems) or f"{len(batches)} batches")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
