"""examples/fleet with 400 machines: fleet_test.py RMLC REPOSITORY, run by ctest.

NumPy computes the detectors again, hour by hour for all machines together. All machines that
break must be found, with few false alarms, and the script of the picture must print this."""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
EXAMPLE = ROOT / "examples/fleet"
MACHINES, HOURS = 400, 48


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def expected(load, weather, temperature):
    """Each result has the shape [hours, machines]."""
    machines = load.shape[1]
    weights, spread = np.zeros((machines, 3)), np.ones(machines)
    unsure = np.tile(1000.0 * np.eye(3), (machines, 1, 1))
    for hour in range(len(load)):
        x = np.stack([np.ones(machines), load[hour], 0.1 * weather[hour]], 1)
        guess = (weights * x).sum(1)
        error = temperature[hour] - guess
        score = np.abs(error) / np.sqrt(spread + 0.01)
        alarm = (score > 5) & (hour + 1 > 24)
        yield guess, score, alarm
        learn = np.where(alarm, 0.0, 1.0)
        towards = np.einsum("mij,mj->mi", unsure, x)
        gain = (learn / (1 + (x * towards).sum(1)))[:, None] * towards
        weights = weights + error[:, None] * gain
        unsure = unsure - np.einsum("mi,mj->mij", gain, towards)
        usual = ~alarm & (hour + 1 > 12)
        spread = np.where(usual, spread + 0.1 * (error**2 - spread), spread)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows, found, broken = folder / "rows.npz", folder / "found.npz", folder / "broken.csv"
        run(sys.executable, EXAMPLE / "simulate.py", rows, broken, MACHINES, HOURS, 5)
        run(RMLC, "run", EXAMPLE / "fleet.rml", "--key", "machine:i32", "--input", rows, "--output", found)
        told = run(sys.executable, EXAMPLE / "plot.py", rows, found, broken, folder / "fleet.svg")
        drawn = (folder / "fleet.svg").read_text()
        with np.load(rows) as of, np.load(found) as out:
            given, results = dict(of), dict(out)
    if not np.array_equal(given["machine"], results["machine"]):
        sys.exit("the rows are not in the order of the input")
    order = np.argsort(given["machine"] + MACHINES * given["hour"].astype(np.int64))
    shaped = [given[k][order].reshape(HOURS, MACHINES) for k in ("load", "weather", "temperature")]
    for hour, (guess, score, alarm) in enumerate(expected(*shaped)):
        at = order[hour * MACHINES:(hour + 1) * MACHINES]
        if not (np.allclose(results["expected"][at], guess, rtol=1e-6, atol=1e-6)
                and np.allclose(results["score"][at], score, rtol=1e-5, atol=1e-5)
                and np.mean(results["alarm"][at] != alarm) < 0.01):
            sys.exit(f"hour {hour} is not what NumPy computes")
    if told != f"{MACHINES} machines, 1 of them broke: 1 found, 1 in the same hour; 0 false alarms\n":
        sys.exit(f"the machine that broke is not found alone: {told}")
    if drawn.count("<circle") < 5 or "400 machines, a detector each" not in drawn:
        sys.exit("the picture does not show the alarms")


main()
