"""Writes chronograms: the inputs and expected outputs of the tests beside this file."""

import numpy as np

ABSENT, UNDETERMINED = object(), object()


def number(value):
    if isinstance(value, (bool, np.bool_)):
        return "T" if value else "F"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def cell(value):
    if value is ABSENT:
        return "."
    if value is UNDETERMINED:
        return "?"
    array = np.asarray(value)
    if array.ndim == 0:
        return number(array[()])
    if array.ndim == 1:
        return "[" + ",".join(number(x) for x in array) + "]"
    if array.size == 0:
        return "[]"
    if array.ndim > 2:
        return "[" + ",".join(cell(part) for part in array) + "]"
    return "[" + ";".join(",".join(number(x) for x in row) for row in array) + "]"


def write(path, rows):
    """rows: name -> one value per cycle."""
    lengths = {len(values) for values in rows.values()}
    assert len(lengths) == 1, {name: len(values) for name, values in rows.items()}
    width = max(len(name) for name in rows)
    with open(path, "w") as out:
        for name, values in rows.items():
            out.write(name.ljust(width) + " | " + " ".join(cell(v) for v in values) + "\n")


def check_gradient(loss, parameters, gradients, step=1e-5, tolerance=1e-7):
    """Compares gradients with central differences of loss() for every element of the arrays."""
    for p, g in zip(parameters, gradients):
        for at in np.ndindex(p.shape):
            kept = p[at]
            p[at] = kept + step
            above = loss()
            p[at] = kept - step
            below = loss()
            p[at] = kept
            numeric = (above - below) / (2 * step)
            assert abs(numeric - g[at]) <= tolerance * max(1.0, abs(numeric)), (at, numeric, g[at])
