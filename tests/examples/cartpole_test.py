"""examples/cartpole: cartpole_test.py RMLC REPOSITORY, run by ctest.

The cart and the pole must move by Lagrange's equations, which this script solves in another
way than the program. Episodes must end at the limits. The agent must learn from several seeds,
and must not learn if its rate is 0. Both engines must agree."""

import csv
import io
import math
import subprocess
import sys

RMLC, ROOT = sys.argv[1:]
PROGRAM = f"{ROOT}/examples/cartpole/cartpole.rml"
LONGEST = 500


def rows_of(*options):
    done = subprocess.run([RMLC, "run", PROGRAM, *options], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{options}: exit status {done.returncode}\n{done.stderr}")
    return list(csv.DictReader(io.StringIO(done.stdout)))


def moved(state, force):
    """The state after 0.02 s. Accelerations from momentum and torque, two linear equations:
    total a + m l cos s = force + m l spin^2 sin,   cos a + 4/3 l s = g sin."""
    x, speed, angle, spin = state
    pole, half, total, gravity = 0.1, 0.5, 1.1, 9.8
    matrix = [[total, pole * half * math.cos(angle)], [math.cos(angle), 4 / 3 * half]]
    right = [force + pole * half * spin**2 * math.sin(angle), gravity * math.sin(angle)]
    determinant = matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0]
    push = (right[0] * matrix[1][1] - matrix[0][1] * right[1]) / determinant
    turn = (matrix[0][0] * right[1] - right[0] * matrix[1][0]) / determinant
    return [a + 0.02 * b for a, b in zip(state, (speed, push, spin, turn))]


def lost(state):
    return abs(state[0]) > 2.4 or abs(state[2]) > 0.2094


def episodes(rows):
    """(is test, length, states and pushes if it is a test) for each complete episode."""
    cycles, states = 0, []
    for row in rows:
        cycles += 1
        test = row["test"] == "true"
        if test:
            states.append(([float(row[f"state[{k}]"]) for k in range(4)], row["right"] == "true"))
        if row["end"] == "true":
            if int(row["steps"]) != cycles:
                sys.exit(f"an episode of {cycles} cycles says {row['steps']}")
            yield test, cycles, states
            cycles, states = 0, []


def wrong_physics(states):
    """Returns an error in the physics of a test episode, if there is one."""
    if max(map(abs, states[0][0])) > 0.05:
        return f"begins at {states[0][0]}"
    for (state, right), (following, _) in zip(states, states[1:]):
        if lost(state):
            return f"goes on after {state}"
        wanted = moved(state, 10 if right else -10)
        if any(abs(a - b) > 1e-12 for a, b in zip(wanted, following)):
            return f"{state} is followed by {following} instead of {wanted}"
    if len(states) < LONGEST and not lost(states[-1][0]):
        return f"ends after {len(states)} cycles at {states[-1][0]}"
    return None


def mean(values):
    return sum(values) / len(values)


def main():
    problems = []
    for seed in range(3):
        all_of_it = list(episodes(rows_of("--cycles", "100000", "--seed", str(seed))))
        problems += [f"seed {seed}: a test {p}" for p in map(wrong_physics, (s for t, _, s in all_of_it if t)) if p][:3]
        learning = [length for test, length, _ in all_of_it if not test]
        tests = [length for test, length, _ in all_of_it if test]
        if [test for test, _, _ in all_of_it[:10]] != 2 * [False, False, False, False, True]:
            problems.append(f"seed {seed}: not every fifth episode is a test")
        if mean(learning[:20]) > 80:
            problems.append(f"seed {seed}: balances before it can have learned: {learning[:20]}")
        if min(tests[-10:]) < LONGEST or mean(learning[-20:]) < 400:
            problems.append(f"seed {seed}: has not learned: tests {tests[-10:]}, learning {learning[-20:]}")
    untaught = [length for test, length, _ in episodes(rows_of("--cycles", "10000", "-D", "rate=0.0")) if not test]
    if mean(untaught[-20:]) > 80:
        problems.append(f"balances without learning: {untaught[-20:]}")
    if rows_of("--cycles", "400", "--strict-math") != rows_of("--cycles", "400", "--engine", "reference"):
        problems.append("the compiled and the reference engine print different rows")
    sys.exit("\n".join(problems) or 0)


main()
