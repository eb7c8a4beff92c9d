#!/usr/bin/env python3
"""Programs with many equations of one shape must compile within limits that are far above their
normal time and memory.

  growth_test.py RMLC

Each takes a second or less of processor time. Quadratic or cubic growth would take minutes or
gigabytes. `scripts/soak growth` measures the growth of time with size.
"""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

from shapes import SHAPES

SECONDS, MEGABYTES = 40, 700  # limits of processor time and of resident memory


def main():
    rmlc = os.path.abspath(sys.argv[1])
    failed = 0
    for shape, (command, *options), count in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "m.rml").write_text(shape(count))
            output = ["-o", "m.out"] if command == "build" else []
            process = subprocess.Popen(
                [rmlc, command, "m.rml", *options, *output], cwd=folder, stdout=subprocess.DEVNULL,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)))
            _, status, usage = os.wait4(process.pid, 0)
        seconds, megabytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss >> 10
        well = status == 0 and megabytes < MEGABYTES
        failed += not well
        print(f"{shape.__name__} {count}, {command} {' '.join(options)}: {seconds:.2f} s, {megabytes} MB"
              f"{'' if well else f', status {os.waitstatus_to_exitcode(status)}: WRONG'}")
    sys.exit(1 if failed else 0)


main()
