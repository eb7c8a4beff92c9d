"""Inputs and outputs of values.rml and gradients.rml: exact functions, at inputs where the
written formulas lose digits."""
import pathlib
import sys

import numpy as np
from scipy import special

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent.parent / "figures"))
from chronogram import write  # noqa: E402

xs = [0.0, 1e-20, -1e-20, 3e-9, 0.5, -0.75, 2.0, -40.0, 40.0, 300.0, -300.0, 1000.0, -1000.0]
rows = [np.array([x, 0.0, -x]) for x in xs]


def softplus(x):
    return float(np.logaddexp(0.0, x))


def sigmoid(x):
    return float(special.expit(x))


def good(name, columns):
    """The exact values are inputs beside x; the outputs are true where the program agrees to
    the last digits."""
    write(f"{name}.in.chron", columns)
    write(f"{name}.out.chron", {key.removeprefix("exact_"): [True] * len(xs) for key in columns if key != "x"})


picked = np.array([1.0, 0.0, 0.0])
good("values", {
    "x": xs,
    "exact_log_of_sum": [float(np.log1p(abs(x))) for x in xs],
    "exact_log_of_sum_turned": [float(np.log1p(x * x)) for x in xs],
    "exact_log_of_difference": [float(np.log1p(-min(x, 0.5))) for x in xs],
    "exact_exp_less_one": [float(np.expm1(-abs(x))) for x in xs],
    "exact_one_less_sigmoid": [sigmoid(-x) for x in xs],
    "exact_log_sigmoid": [-softplus(-x) for x in xs],
    "exact_log_of_rest": [-softplus(x) for x in xs],
    "exact_log_of_sum_of_exp": [softplus(x) for x in xs],
})
good("softmax_values", {
    "x": rows,
    "exact_log_softmax": [special.log_softmax(x) for x in rows],
    "exact_scaled": [np.log(1e-3) + special.log_softmax(x) for x in rows],
})
# Gradients by x, for an adjoint of 1.
good("gradients", {
    "x": xs,
    "exact_log_sigmoid": [sigmoid(-x) for x in xs],
    "exact_log_of_rest": [-sigmoid(x) for x in xs],
    "exact_softplus": [sigmoid(x) for x in xs],
})
good("softmax_gradients", {"x": rows, "exact_log_softmax": [picked - special.softmax(x) for x in rows]})
