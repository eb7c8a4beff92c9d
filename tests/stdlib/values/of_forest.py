"""Expected values of half-space trees, compared with River's trees, which are made from the same
draws."""

import random as python_random

import numpy as np
from groups import INF, NAN, Group, Series
from river import anomaly
from river.tree.padded import make_padded_tree

HEIGHT, AXES = 3, 2
INNER = 2**HEIGHT - 1


def preorder(k=0):
    """The nodes in the order in which River draws them; the children of k are 2 k + 1 and 2 k +
    2."""
    return [] if k >= INNER else [k] + preorder(2 * k + 1) + preorder(2 * k + 2)


class Drawn(python_random.Random):
    """The random numbers that River gets: for each node, one that selects the axis and one that
    selects the threshold."""

    def __init__(self, picks, places):
        super().__init__()
        self.numbers = iter([u for k in preorder() for u in (picks[k], places[k])])

    def random(self):
        return next(self.numbers)


def branches(tree):
    """The inner nodes of a tree, ordered by number."""
    nodes = {0: tree}
    for k in range(INNER):
        nodes[2 * k + 1], nodes[2 * k + 2] = nodes[k].children
    return [nodes[k] for k in range(INNER)]


def grown(picks, places, low, high):
    limits = {axis: (low[axis], high[axis]) for axis in range(AXES)}
    return make_padded_tree(limits, HEIGHT, 0.15, Drawn(picks, places), r_mass=0, l_mass=0)


def trees(u, v):
    rows = [branches(grown(a, b, (-1.0, 0.0), (1.0, 3.0))) for a, b in zip(u, v)]
    return (np.array([[node.feature for node in row] for row in rows]).astype(np.int32),
            np.array([[node.threshold for node in row] for row in rows]))


def root(u, v):
    """The first draw of each row: its axis, its threshold, and the lower corner of the upper
    half."""
    features, thresholds = trees(u, v)
    upper = [[t if axis == f else low for axis, low in enumerate((-1.0, 0.0))] for f, t in zip(features[:, 0], thresholds[:, 0])]
    return features[:, 0], thresholds[:, 0], np.array(upper)


def rows_of(x, scored):
    """River's score of each row before it learns from the row. A missing element is a missing
    key."""
    out = []
    for row in np.atleast_2d(x.T).T:
        known = {axis: float(v) for axis, v in enumerate(row) if not np.isnan(v)}
        out.append(scored.score_one(known))
        scored.learn_one(known)
    return np.array(out)


random = np.random.default_rng(229)


def numbers(*shape):
    return np.round(random.uniform(0, 1, shape) * 256) / 256


FOREST = []
for tree in range(4):
    made = grown(numbers(INNER), numbers(INNER), (0.0, 0.0), (1.0, 1.0))
    for node in branches(made):
        node.threshold = round(node.threshold * 1024) / 1024
    FOREST.append(made)
FEATURES = [[node.feature for node in branches(tree)] for tree in FOREST]
THRESHOLDS = [[node.threshold for node in branches(tree)] for tree in FOREST]
WINDOW = 8


def emptied(tree):
    for node in tree.iter_dfs():
        node.l_mass = node.r_mass = 0
    return tree


def with_forest(x):
    peer = anomaly.HalfSpaceTrees(n_trees=len(FOREST), height=HEIGHT, window_size=WINDOW)
    peer.trees = [emptied(tree) for tree in FOREST]
    peer._tree_nodes = [list(tree.iter_dfs()) for tree in peer.trees]
    return rows_of(x, peer)


def any_forest(x):
    """A tree of height 1 separates values below 0.15 of its only axis from those above 0.85,
    whatever is drawn."""
    return rows_of(x, anomaly.HalfSpaceTrees(n_trees=5, height=1, window_size=4, seed=1))


COUNTS = np.array([[0, 3, 1, 1, 2, 0, 1, 0, 1, 2, 0, 0, 0, 1, 0], [0, 1, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0]])
BELOW = [0, 2]


def next_nodes(x):
    out = []
    for row in x:
        stepped = []
        for tree, k in enumerate(BELOW):
            v, left = row[FEATURES[tree][k]], 2 * k + 1
            right = COUNTS[tree][left] < COUNTS[tree][left + 1] if np.isnan(v) else v >= THRESHOLDS[tree][k]
            stepped.append(left + int(right))
        out.append(stepped)
    return np.array(out).astype(np.int32)


NODES = f"""node forest(x) -> (score)
  score = streams.half_space_scores({HEIGHT}, {WINDOW}, {FEATURES}, {THRESHOLDS}, x);

node single(x) -> (score)
  score = streams.half_space_trees(5, 1, 4, 0.0, 1.0, [x]);

node below(x) -> (next)
  next, _ = streams.half_space_step({BELOW}, 0, {FEATURES[:2]}, {THRESHOLDS[:2]}, {COUNTS.tolist()}, x);
"""
TREES = """node drawn(u, v) -> (features, thresholds)
  features, thresholds = streams.half_space_tree(u, v, [-1.0, 0.0], [1.0, 3.0]);

node first(u, v) -> (feature, threshold, upper)
  lows = broadcast_to([-1.0, 0.0], [3, 2]);
  new_lows, _, feature, threshold = streams.half_space_split(lows, broadcast_to([1.0, 3.0], [3, 2]), 0, u[0], v[0]);
  upper = new_lows[2];
"""
# All rows except the last are in a small box. After two windows, any forest gives the last row a
# high score; many seeds were tried.
UNUSUAL = """node unusual(x) -> (right)
  score = streams.half_space_trees(25, 6, 10, 0.0, 1.0, x);
  right = score >= 0.0 and score <= 1.0 and (max(x) > 0.9) == (score > 0.9);
"""
SCORES = [Series("score", "forest(x)", with_forest), Series("next", "below(x)", next_nodes)]
DRAWS = [Series("features, thresholds", "drawn(u, v)", trees), Series("feature, threshold, upper", "first(u, v)", root)]
near = list(0.25 + numbers(24, AXES) / 8)
far = list(np.where(random.uniform(size=(24, AXES)) < 0.2, numbers(24, AXES), near))
holes = list(np.where(random.uniform(size=(24, AXES)) < 0.2, random.choice([NAN, INF, -INF], (24, AXES)), near))
GROUPS = [
    Group("forest_scores", "ordinary", "River", {"x": far}, SCORES, nodes=NODES),
    Group("forest_scores_edges", "edge", "River", {"x": holes}, SCORES, nodes=NODES),
    Group("forest_single", "ordinary", "River", {"x": [0.125, 0.0, 0.0625, 0.125, 0.125, 0.875, 0.0, 0.125, 0.9375, 0.125, 0.5 ** 4, 0.875, 0.0]},
          [Series("score", "single(x)", any_forest)], nodes=NODES),
    Group("forest_single_edges", "edge", "River", {"x": [-1.0, -INF, 0.0, -0.0, -1e30, 1e30, INF, 0.0, 2.0]},
          [Series("score", "single(x)", any_forest)], nodes=NODES),
    Group("forest_unusual", "ordinary", "NumPy", {"x": [np.round(0.2 + row / 10, 4) for row in numbers(24, 3)] + [np.array([0.95, 0.98, 0.97])]},
          [Series("right", "unusual(x)", lambda x: np.ones(len(x), bool))], nodes=UNUSUAL),
    Group("forest_trees", "ordinary", "River", {"u": list(numbers(4, INNER)), "v": list(numbers(4, INNER))}, DRAWS, nodes=TREES),
    Group("forest_trees_edges", "edge", "River", {"u": [np.zeros(INNER), np.full(INNER, 1 - 2.0**-20), np.full(INNER, 0.5)],
          "v": [np.zeros(INNER), np.full(INNER, 1 - 2.0**-20), np.arange(INNER) / INNER]}, DRAWS, nodes=TREES),
]
