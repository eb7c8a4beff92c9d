#!/usr/bin/env python3
"""If memory does not suffice to read a text, rmlc must end with a message and exit status 70, not
by a signal.

  memory_test.py RMLC
"""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

TEXTS = {"branches": "if x > 0.0 then x else " * 9900, "signs": "- " * 9990}
KILOBYTES = 150_000, 200_000, 300_000, 500_000, 1_000_000  # limits of the address space


def main():
    rmlc = os.path.abspath(sys.argv[1])
    failed = 0
    for name, text in TEXTS.items():
        for most in KILOBYTES:
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "m.rml").write_text(f"node main(x: f64) -> (y: f64)\n  y = {text}x;\n")
                done = subprocess.run([rmlc, "check", "m.rml"], cwd=folder, capture_output=True, text=True,
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most << 10, most << 10)))
            well = done.returncode == 0 or (done.returncode == 70 and "out of memory" in done.stderr)
            failed += not well
            if not well:
                print(f"{name}, {most} kB: exit {done.returncode}: {done.stderr[:300]}")
    sys.exit(1 if failed else 0)


main()
