"""Expected values of sums over the micro-batches of a step, by NumPy: the values are added in the
order of a tree, with a rounding each time."""

import numpy as np
from groups import INF, NAN, Group, Series

N = 3
NODES = f"""node shown(last, value) -> (z)
  z = merge last value (broadcast_to(-1.0, shape(value)) when not last);

node summed(end, x) -> (last, z)
  total, last = steps.all_sum({N}, end, x when end);
  z = shown(last, total);

node averaged(end, x) -> (last, z)
  average, last = steps.all_mean({N}, end, x when end);
  z = shown(last, average);

node kept(x) -> (z)
  k = 0 fby (k + 1) % {N};
  z = steps.gathered({N}, k, x);

node sent(end, x) -> (last, z)
  total, last = steps.all_sum({N}, end, x when end);
  z = shown(last, steps.broadcast(total));

node alone(end) -> (n)
  n = 2 * steps.ranks() - (if end then steps.ranks() else steps.rank());

node moved(end, act, x) -> (moves, z)
  k, moves = steps.ends({N}, end, act);
  total = steps.gradient({N}, end, k, moves, act, x when act, zeros_like(x));
  z = shown(moves, total);
"""


def tree(values):
    """Adds x[k] + x[k + 2] first, then the two sums."""
    return (values[0] + values[2]) + values[1]


def at_steps(end, values, of_step, present):
    """The values at the ends of micro-batches, N per step; the result is shown at the step's
    last cycle, -1 elsewhere."""
    last, shown = np.zeros(len(end), bool), np.full((len(end), *np.shape(values[0])), -1.0)
    ends = np.flatnonzero(end)
    for first in range(0, len(ends) - N + 1, N):
        if any(present[first:first + N]):
            at = ends[first + N - 1]
            last[at], shown[at] = True, of_step(values[first:first + N])
    return last, shown


def over_steps(of_step):
    return lambda end, x: at_steps(end, x[end], of_step, [True] * len(x))


def gathered(x):
    rows = [[x[t - (t - k) % N] if t >= k else 0 * x[0] for k in range(N)] for t in range(len(x))]
    return np.array(rows)


def gradient(end, act, x):
    values, present, begin = [], [], 0
    for at in np.flatnonzero(end):
        total = None
        for t in range(begin, at + 1):
            if act[t]:
                total = x[t] if total is None else total + x[t]
        values.append(0.0 if total is None else total)
        present.append(total is not None)
        begin = at + 1
    return at_steps(end, np.array(values), tree, present)


FORMS = [
    Series("last, total", "summed(end, x)", over_steps(tree)),
    Series("last_mean, average", "averaged(end, x)", over_steps(lambda v: tree(v) / N)),
    Series("last_sent, sent", "sent(end, x)", over_steps(tree)),
    Series("alone_by", "alone(end)", lambda end: np.where(end, 1, 2)),
    Series("slots", "kept(x)", gathered),
    Series("moves, gradient", "moved(end, act, x)", gradient),
]
random = np.random.default_rng(197)
ENDS = [np.bool_(e) for e in (0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0)]
ACTS = [np.bool_(a) for a in (1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1)]
EDGES = [1e30, -1e30, 1.0, 0.0, -0.0, 1e-30, INF, 1.0, -INF, 2.0, 3.0, NAN, 1.0, 1.0, 5.0, -0.0, -0.0, 0.0]
GROUPS = [
    Group("steps_sums", "ordinary", "NumPy", {"end": ENDS, "act": ACTS, "x": list(np.round(random.uniform(-2, 2, 18), 2))},
          FORMS, nodes=NODES),
    Group("steps_sums_edges", "edge", "NumPy", {"end": ENDS, "act": ACTS, "x": EDGES}, FORMS, nodes=NODES),
]
