"""Expected values of distinct elements, by NumPy."""

import numpy as np
from groups import EDGES, INF, NAN, Group, Series


def unique(bound):
    """The least `bound` elements (the greatest is repeated in unused places), the count of
    each, and the number of elements."""

    def of_cycle(x):
        values, counts = np.unique(x, return_counts=True)
        places = np.minimum(np.arange(bound), len(values) - 1)
        return values[places], np.where(np.arange(bound) < len(values), counts[places], 0), len(values)

    return lambda xs: tuple(np.array(column) for column in zip(*map(of_cycle, xs)))


def series(bound, x, where=""):
    values, counts, count = (f"{name}{bound}{where}" for name in ("values", "counts", "count"))
    return [Series(f"{values}, {counts}, {count}", f"sets.unique_counts({bound}, {x})", unique(bound)),
            Series(f"{values}_, {count}_", f"sets.unique({bound}, {x})", lambda xs: unique(bound)(xs)[::2])]


FLOATS = series(1, "x") + series(4, "x") + series(12, "x")
random = np.random.default_rng(193)
DRAWN = [np.round(random.uniform(-1, 1, (2, 5)), 1) for _ in range(4)]
GROUPS = [
    Group("sets", "ordinary", "NumPy", {"x": DRAWN, "k": [random.integers(-2, 3, 7) for _ in range(4)]}, FLOATS + series(3, "k", "k")),
    Group("sets_edges", "edge", "NumPy", {"x": [np.array(row) for row in (EDGES, [NAN, 1.0, NAN, INF, -INF, INF, 0.0, -0.0, NAN, 1.0, 2.0],
          [NAN] * 11, [0.5] * 11)]}, FLOATS),
    Group("sets_one", "edge", "NumPy", {"x": [np.array([v]) for v in (3.0, NAN)]}, FLOATS),
]
