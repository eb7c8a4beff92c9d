"""Writes the inputs of the two programs, as a chronogram: rows.py pinn|maml [COUNT].

pinn: points of [0, 2] in an irregular order. maml: tasks, each with the values of a sine at ten
points; amplitude and phase differ between tasks. The numbers come from a linear congruential
generator, so they are the same on every machine."""
import math
import sys


def drawn(seed=12345):
    while True:
        seed = (seed * 1103515245 + 12345) % 2**31
        yield seed / 2**31


def pinn(count):
    draw = drawn()
    return [{"t": 2 * next(draw)} for _ in range(count)]


def maml(count):
    draw, tasks = drawn(), []
    for _ in range(count):
        amplitude, phase = 0.5 + next(draw), math.pi * next(draw)
        x = [6 * next(draw) - 3 for _ in range(10)]
        t = [amplitude * math.sin(v + phase) for v in x]
        tasks.append({"x": [x[:5]], "t": [t[:5]], "later_x": [x[5:]], "later_t": [t[5:]]})
    return tasks


def text(value):
    if isinstance(value, list):
        return "[" + ";".join(",".join(map(repr, row)) for row in value) + "]"
    return repr(value)


if __name__ == "__main__":
    table = {"pinn": pinn, "maml": maml}[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 3000)
    for name in table[0]:
        print(name, "|", *(text(row[name]) for row in table))
