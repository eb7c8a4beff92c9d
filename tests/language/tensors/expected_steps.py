"""Writes the chronograms of steps.rml, by NumPy with the same slices."""
import pathlib
import re
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "figures"))
from chronogram import write  # noqa: E402

random = np.random.default_rng(7)
SHAPES = {"x": (7,), "m": (4, 5), "t": (2, 3, 4), "e": (0,), "i": ()}
CYCLES = 3


def drawn(name, shape):
    if name in "mt":
        return np.round(random.uniform(-2, 2, shape), 2)
    return random.integers(0, 100 if name == "x" else 4, shape)


given = {name: [drawn(name, shape) for _ in range(CYCLES)] for name, shape in SHAPES.items()}
known = {"back": -2, "matmul": np.matmul, "transpose": np.transpose, "part": lambda a, b, c, v: v[a:b:c]}
text = (HERE / "steps.rml").read_text()
equations = re.findall(r"^  (\w+) = (.*);$", text[text.index("node main"):], re.M)
found = {}
for cycle in range(CYCLES):
    for name, value in equations:
        cells = {n: v[cycle] for n, v in given.items()}
        found.setdefault(name, []).append(np.asarray(eval(value, known, cells)))
write("steps.in.chron", given)
write("steps.out.chron", found)
