"""Programs must give the same rows, to the bit, in any number of threads: threads_test.py RMLC.

Every node of wide.rml and of the segments in ../batching runs without threads, and built for 8
threads in 1, 2, 3 and 8.
"""
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

RMLC = sys.argv[1]
HERE = pathlib.Path(__file__).parent
WIDE, BATCHED = HERE / "wide.rml", HERE.parent / "batching" / "batched.rml"
problems = []


def output(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def compare(what, expected, found):
    if found == expected:
        return
    status, rows, errors = found
    lines = [f"{a!r} against {b!r}" for a, b in zip(expected[1].split("\n"), rows.split("\n")) if a != b]
    problems.append(f"{what}: status {status}, {errors.strip()}\n" + "\n".join(lines[:3]))


def check(folder, program, node, cycles, options):
    """Compares a program without threads with one built for 8 threads, in 8 and in fewer."""
    expected = output(RMLC, "run", program, "--node", node, "--cycles", cycles, *options)
    if expected[0] != (1 if node == "faults" else 0) or len(expected[1].split("\n")) < min(cycles, 4):
        problems.append(f"{node}: {expected}")
    built = pathlib.Path(folder) / "-".join([node, *options])
    status = output(RMLC, "build", program, "--node", node, *options, "--threads", 8, "--cpu", "native", "-o", built)
    if status[0] != 0:
        problems.append(f"build: {status}")
    for threads in (1, 2, 3, 8):
        found = output(built, "--cycles", cycles, "--threads", threads)
        compare(f"{node} {options} in {threads} threads", expected, found)
    if program == BATCHED and options or node == "narrow":
        small = output(RMLC, "run", program, "--node", node, "--cycles", cycles, *options,
                       "--threads", 3, "--work-of-thread", 0)
        compare(f"{node} {options}, all loops shared out", expected, small)
    return built


SEGMENTS = ["--chunk", "segment"]
CASES = [
    (WIDE, "mlp", 5, []), (WIDE, "lenet", 3, []), (WIDE, "averages", 3, []), (WIDE, "elementwise", 4, []),
    (WIDE, "rows", 4, []), (WIDE, "faults", 5, []), (WIDE, "narrow", 4, []),
    (WIDE, "channels", 3, []), (WIDE, "samples", 140, []), (WIDE, "samples", 140, SEGMENTS),
    *((BATCHED, node, 760, options) for node in ("lstm", "samples", "rows", "deep") for options in ([], SEGMENTS)),
]
with tempfile.TemporaryDirectory() as folder:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        programs = list(pool.map(lambda case: check(folder, *case), CASES))
    expected = output(RMLC, "run", WIDE, "--node", "mlp", "--cycles", 5)
    compare("in 2 threads, compiled in memory", expected,
            output(RMLC, "run", WIDE, "--node", "mlp", "--cycles", 5, "--threads", 2))
    compare("built, as it was built", expected, output(programs[0], "--cycles", 5))
    refused = output(programs[0], "--cycles", 5, "--threads", 9)
    if refused[0] != 2 or "built for 8 threads" not in refused[2]:
        problems.append(f"9 of 8 threads: {refused}")
    # A C library in a shared object: the same results, and no thread remains after it is
    # unloaded.
    archive = pathlib.Path(RMLC).resolve().parent.parent / "lib" / "rmlc" / "librmlrt.a"
    results = []
    for threads in (1, 3):
        place = pathlib.Path(folder) / str(threads)
        place.mkdir()
        for command in (
            [RMLC, "build", WIDE, "--node", "rows", "--emit", "lib", "--threads", threads, "-o", place / "rows.o"],
            ["cc", "-shared", "-o", place / "rows.so", place / "rows.o", archive, "-lm", "-Wl,--gc-sections"],
            ["cc", "-Wall", "-Werror", "-I", place, "-o", place / "use", HERE / "use_library.c", "-ldl"],
        ):
            done = output(*command)
            if done[0] != 0:
                problems.append(f"{command}: {done}")
        results.append(output(place / "use", place / "rows.so", threads))
    if results[0][0] != 0:
        problems.append(f"a library: {results[0]}")
    compare("a library in 3 threads", results[0], results[1])
sys.exit("\n".join(problems)[:4000] or 0)
