"""examples/charlm on its bundled excerpt: charlm_test.py RMLC REPOSITORY, run by ctest.

The losses of a small network, over segments that it learns, learns in part and does not learn,
must be those of expected_charlm.py, and so must the text that it writes with the saved
parameters. A larger network must predict text that it has not learned better than counts of
pairs."""

import csv
import io
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

from expected_charlm import Network

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
EXAMPLE = ROOT / "examples/charlm"
PROGRAM = str(EXAMPLE / "charlm.rml")
SMALL = ["-D", "units=5", "-D", "segment=20", "-D", "lessons=250"]
PATHS = {"table": "embedding_end.table", "kernel": "memory.kernel", "recurrent": "memory.recurrent",
         "bias": "memory.bias", "out": "dense_end.kernel", "out_bias": "dense_end.bias"}


def output_of(command, text=""):
    done = subprocess.run([str(part) for part in command], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def parameters_in(state):
    """The parameters in a saved state, each as a list of rows."""
    data = state.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    head, found = json.loads(data[8 : 8 + size]), {}
    for name, path in PATHS.items():
        entry = head["model." + path]
        begin, end = entry["data_offsets"]
        flat = struct.unpack(f"<{(end - begin) // 4}f", data[8 + size + begin : 8 + size + end])
        width = entry["shape"][-1]
        found[name] = [flat[k : k + width] for k in range(0, len(flat), width)]
    return found


def bits_of(table):
    return [float(row["bits"]) for row in csv.DictReader(io.StringIO(table))]


def close(found, wanted):
    return len(found) == len(wanted) and all(abs(a - b) < 1e-3 * (1 + abs(b)) for a, b in zip(found, wanted))


def small_network(text, folder):
    """Compares with plain Python: fifteen segments, of which learning stops within the
    twelfth."""
    rows = "byte,learn\n" + "".join(f"{b},{'true' if k < 235 else 'false'}\n" for k, b in enumerate(text[:300]))
    first, last = folder / "first.state", folder / "last.state"
    output_of([RMLC, "run", PROGRAM, *SMALL, "--save", first], "byte,learn\n" + 20 * "65,false\n")
    found = bits_of(output_of([RMLC, "run", PROGRAM, *SMALL, "--save", last], rows))
    short = "".join(rows.splitlines(keepends=True)[:101])
    if not close(bits_of(output_of([RMLC, "run", PROGRAM, *SMALL, "--engine", "reference"], short)), found[:100]):
        yield "the engines do not agree"
    network = Network(parameters_in(first))
    classes = [0 if b == 10 else b - 31 for b in text[:300]]
    wanted = network.learn(classes, 20, 250, [k < 235 for k in range(300)])
    if not close(found, wanted):
        yield f"bits of characters: {found[:30]}… instead of {wanted[:30]}…"
    for name, rows in parameters_in(last).items():
        for k, (a, b) in enumerate(zip(rows, network.p[name])):
            if not close(a, b):
                yield f"{name}[{k}] after learning: {a} instead of {b}"
                break

    written = output_of([RMLC, "run", PROGRAM, "--node", "write", "-D", "units=5", "-D", "warmth=0.0", "--load-params", last, "--cycles", 60])
    wanted = [10 if k == 0 else k + 31 for k in Network(parameters_in(last)).write(60)]
    if [int(row["byte"]) for row in csv.DictReader(io.StringIO(written))] != wanted:
        yield f"writes {written.split()} instead of {wanted}"


def larger_network(text, folder):
    """Learns 27000 characters and is tested on 3000."""
    (folder / "text").write_bytes(text[:30000])
    rows = output_of([sys.executable, EXAMPLE / "text.py", "rows", folder / "text", 1])
    (folder / "bits.csv").write_text(output_of([RMLC, "run", PROGRAM, "-D", "units=32", "-D", "segment=20", "-D", "rate=0.01",
                                              "-D", "lessons=27000"], rows))
    report = output_of([sys.executable, EXAMPLE / "text.py", "report", folder / "text", folder / "bits.csv"])
    bits = {line.rsplit(None, 1)[0].strip(): float(line.split()[-1]) for line in report.splitlines()[1:]}
    if not bits["network"] < bits["pairs (bigram)"]:
        yield f"the network is not better than counts:\n{report}"


def main():
    text = (EXAMPLE / "excerpt.txt").read_bytes()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        problems = [*small_network(text, folder), *larger_network(text, folder)]
    sys.exit("\n".join(problems) or 0)


main()
