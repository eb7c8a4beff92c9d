"""examples/anomaly on its bundled excerpt: anomaly_test.py RMLC REPOSITORY, run by ctest.

All values must be those of expected_anomaly.py, which begins with the same random weights.
They must be written row by row, by both engines, and the alarms must overlap the labelled
windows."""

import csv
import io
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

from expected_anomaly import expected

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
EXAMPLE = ROOT / "examples/anomaly"
PROGRAM = str(EXAMPLE / "anomaly.rml")


def output_of(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def initial_parameters(values, folder):
    """The parameters in a state saved after the first hour, before anything is learned."""
    state = folder + "/first.state"
    output_of([RMLC, "run", PROGRAM, "--save", state], "".join(values[:13]))
    data = pathlib.Path(state).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    head, parameters = json.loads(data[8 : 8 + size]), {}
    for name in ("kernel", "bias", "out", "out_bias"):
        begin, end = head["detect.predictor." + name]["data_offsets"]
        parameters[name] = struct.unpack(f"<{(end - begin) // 8}d", data[8 + size + begin : 8 + size + end])
    return parameters


def main():
    record = list(csv.reader(io.StringIO((EXAMPLE / "excerpt.csv").read_text())))
    values = [row[1] + "\n" for row in record]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        parameters = initial_parameters(values, folder)
        table = output_of([RMLC, "run", PROGRAM], "".join(values))
        (pathlib.Path(folder) / "table.csv").write_text(
            "".join(f"{','.join(row)},{line}\n" for row, line in zip(record, table.splitlines())))
        report = output_of([sys.executable, EXAMPLE / "report.py", folder + "/table.csv", EXAMPLE / "windows.csv"], "")
    if len(set(parameters["kernel"])) < 150 or max(map(abs, parameters["kernel"])) > math.sqrt(6 / 32):
        problems.append("the kernel is not drawn as it should be")
    temperatures = [float(row[1]) for row in record[1:]]
    hours = [sum(temperatures[k : k + 12]) / 12 for k in range(0, len(temperatures) - 11, 12)]
    rows = list(csv.DictReader(io.StringIO(table)))
    if len(rows) != len(temperatures) or any((row["hour"] == "true") != (k % 12 == 11) for k, row in enumerate(rows)):
        problems.append("not every twelfth row is the end of an hour")
    for k, (row, wanted) in enumerate(zip(rows[11::12], expected(hours, parameters))):
        found = (float(row["forecast"]), float(row["score"]), row["alarm"] == "true")
        if not math.isclose(float(row["temperature"]), hours[k], rel_tol=1e-9) or found[2] != wanted[2] or any(
                not math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6) for a, b in zip(found, wanted)):
            problems.append(f"hour {k}: {row['temperature']}, {found} instead of {hours[k]}, {wanted}")
    if report.count("alarm from") != 3 or "NOT FOUND" in report or report.count("false alarm") != 1:
        problems.append(f"not two windows found and one false alarm:\n{report}")
    short = "".join(values[:1000])
    if output_of([RMLC, "run", PROGRAM, "--engine", "reference"], short).splitlines() != table.splitlines()[:1000]:
        problems.append("the reference engine prints other rows")
    sys.exit("\n".join(problems[:10]) or 0)


main()
