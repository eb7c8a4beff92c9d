"""Expected values of adaptive windows, compared with River's, and with a list of buckets that keeps
all values."""

import numpy as np
from groups import INF, NAN, Group, Series
from river._river_rust.drift import AdaptiveWindowing


def adaptive(clock, buckets, least, grace, delta):
    """River's window class; its `drift.ADWIN` would start again after a change."""
    def run(x):
        peer, out = AdaptiveWindowing(delta, clock, buckets, least, grace), []
        average, width = 0.0, 0
        for v in x:
            changed = bool(np.isfinite(v)) and peer.update(float(v))
            if np.isfinite(v):
                width = int(peer.get_width())
                average = peer.get_total() / width
            out.append((changed, average, np.int32(width)))
        return tuple(np.array(row) for row in zip(*out))

    return run


class Buckets:
    """Rows of buckets of three sizes, at most two buckets in each. Values that leave the largest
    size are dropped."""

    def __init__(self):
        self.rows = [[], [], []]

    def add(self, value):
        moving = [value]
        for row in self.rows:
            row.append(moving)
            if len(row) <= 2:
                return
            moving = row.pop(0) + row.pop(0)

    def values(self):
        return [v for row in self.rows[::-1] for bucket in row for v in bucket]


def bounded(x):
    kept, out = Buckets(), []
    for v in x:
        kept.add(v)
        out.append((np.mean(kept.values()), np.int32(len(kept.values()))))
    return tuple(np.array(row) for row in zip(*out))


def inserted(x):
    """A window with two buckets of two values each, 3, 3 and x/2, x/2: described by sums and
    variances."""
    return np.array([[4.0, 6 + v, np.var([3, 3, v / 2, v / 2]) * 4] for v in x])


def without(x):
    """The window of the values 1, 2, 6 and x without its first two."""
    return np.array([[2.0, 6 + v, np.var([6, v]) * 2] for v in x])


def described(x):
    return f"[4.0, 9.0 + {x}, 41.0 + {x} * {x} - (9.0 + {x}) * (9.0 + {x}) / 4.0]"


NODES = f"""node few(x) -> (average, width)
  _, average, width = streams.adwin_with(1, 2, 1, 1000000, 3, 0.5, x);

node put(x) -> (next)
  next, _, _, _, _ = streams.adwin_insert([2.0, x, 0.0], true, [6.0, 0.0], [0.0, 0.0], 1);

node less(x) -> (rest)
  rest = streams.adwin_less({described("x")}, [2.0, 3.0, 0.5]);

node pairs(x) -> (differs)
  differs = streams.adwin_differs(cast(f64, [[1.0, 2.0, 0.0], [6.0 + x, 0.0, 0.0]]), [2, 1], cast(f64, {described("x")}), 1.0, 0.9);

node shorter(x) -> (count)
  _, _, _, counts, _ = streams.adwin_shorten(true, cast(f64, [[1.0, 2.0, 0.0], [6.0 + x, 0.0, 0.0]]), zeros([2, 3]), [2, 1],
      cast(f64, {described("x")}), 0, 1.0, 0.9);
  count = counts[1];
"""


def differing(x):
    """The test of Bifet and Gavaldà for the window [6, x], 1, 2, with cuts after one bucket and
    after two."""
    out = []
    for v in x:
        window = np.array([6.0, v, 1.0, 2.0])
        found = False
        for cut in (2, 3):
            share = 1 / cut + 1 / (4 - cut)
            bound = np.log(2 * np.log(4) / 0.9)
            limit = np.sqrt(2 * share * window.var() * bound) + 2 / 3 * bound * share
            found |= bool(abs(window[:cut].mean() - window[cut:].mean()) > limit)
        out.append(found)
    return np.array(out)


PARTS = [
    Series("average, width", "few(x)", bounded),
    Series("put", "put(x)", inserted),
    Series("less", "less(x)", without),
    Series("differs", "pairs(x)", differing),
    Series("count", "shorter(x)", lambda x: np.where(differing(x), 0, 1).astype(np.int32)),
]
LONG = [
    Series("changed, average, width", "streams.adwin(0.002, x)", adaptive(32, 5, 5, 10, 0.002)),
    Series("found, middle, length", "streams.adwin_with(1, 3, 2, 4, 8, 0.05, x)", adaptive(1, 3, 2, 4, 0.05)),
]
FINITE = [Series("changed, average, width", "streams.adwin_of(3, 5, 2, 4, 8, 0.25, x)", adaptive(3, 5, 2, 4, 0.25))]
random = np.random.default_rng(227)


def stepping(*levels):
    return list(np.concatenate([level + np.round(random.normal(0, 0.5, 40) * 16) / 16 for level in levels]))


shifting = stepping(0.0, 2.0, 2.5, -1.0)
spoilt = [(NAN, INF, -INF)[k // 7 % 3] if k % 7 == 0 else v for k, v in enumerate(stepping(1.0, -2.0, 1e3))]
LOOSE = {"f32": "2e-5", "f64": "1e-10"}
GROUPS = [
    Group("changes_long", "ordinary", "River", {"x": shifting}, LONG, LOOSE),
    Group("changes_long_edges", "edge", "River", {"x": spoilt}, LONG, LOOSE),
    Group("changes_constant", "edge", "River", {"x": [7.0] * 40}, LONG, LOOSE),
    Group("changes_finite", "ordinary", "River", {"x": shifting[:60]}, FINITE, LOOSE),
    Group("changes_finite_edges", "edge", "River", {"x": [0.0] * 8 + [1e6] * 8 + [-0.0] * 8}, FINITE, LOOSE),
    Group("changes_parts", "ordinary", "NumPy", {"x": shifting[30:50]}, PARTS, LOOSE, NODES),
    Group("changes_parts_edges", "edge", "NumPy", {"x": [0.0, -0.0, 1e3, 1.0, 1.0, 1.0, 1.0, 64.0, -64.0, 0.0]}, PARTS, LOOSE, NODES),
]
