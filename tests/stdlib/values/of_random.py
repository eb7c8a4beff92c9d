"""Expected values of random draws: the statistics of many draws with one seed against SciPy's
distributions, and properties that always hold.

A fit is accepted if Pearson's or Kolmogorov's statistic is below the value that one of ten
thousand samples exceeds."""

import numpy as np
from groups import INF, NAN, Group, Series
from scipy import stats

DRAWS, RARE = 4000, 1e-4
COUNTS = np.arange(6)
LOGITS = np.array([0.0, 1.0, -1.0, 0.5, -INF])
KEPT = 0.7


def pearson(expected):
    return stats.chi2.isf(RARE, np.count_nonzero(expected) - 1)


def always(*xs):
    return np.ones(len(xs[0]), bool)


CHANCES = np.exp(LOGITS) / np.exp(LOGITS).sum()
NODES = f"""-- Whether the counts of `drawn` are as expected of so many draws.
node fits(drawn, chances, bound) -> (fit)
  hits = cast_like(one_hot(drawn, size(chances)), chances);
  expected = {DRAWS}.0 * chances;
  there = chances > 0.0;
  far = sum(hits, axis=0) - expected;
  fit = sum(select(there, far * far / select(there, expected, 1.0), far * far * 1e9)) < bound;

node binomials(chances) -> (fit)
  fit = fits(cast(i32, tensor.binomial(5, 0.3, [{DRAWS}]) + 0.0 * chances[0]), chances, {pearson(stats.binom.pmf(COUNTS, 5, 0.3)):.6g});

node categories(logits, chances) -> (fit)
  rows = broadcast_to(logits, [{DRAWS}, 5]);
  fit = fits(tensor.categorical(rows), chances, {pearson(CHANCES):.6g});

node losses(chances) -> (fit)
  y = nn.dropout(0.3, true, ones([{DRAWS}]) + 0.0 * chances[0]);
  fit = fits(cast(i32, y > 0.0), chances, {pearson([0.3, KEPT]):.6g}) and all(y == 0.0 or abs(y - 1.0 / {KEPT}) < 1e-6);

-- Kolmogorov's distance of the elements, in order, from a uniform distribution between -limit and limit.
node uniforms(limit) -> (fit)
  ordered = sort(reshape([-1], nn.kernels(4, 10, 50) + 0.0 * limit));
  n = cast_like(size(ordered), limit);
  below = cast_like(iota(size(ordered)), limit) / n;
  at = (ordered / limit + 1.0) / 2.0;
  inside = at[0] >= 0.0 and at[size(ordered) - 1] <= 1.0;
  fit = inside and max(maximum(at - below, below + 1.0 / n - at)) < {stats.kstwo.isf(RARE, 2000):.6g};

node bounded(limit) -> (inside)
  inside = max(abs(nn.kernels(2, 1, 1) + 0.0 * limit)) <= limit;
"""
FITS = [
    Series("binomial", "binomials(b)", always),
    Series("categorical", "categories(l, p)", always),
    Series("dropout", "losses(k)", always),
    Series("kernels", "uniforms(limit)", always),
]
CERTAIN = [
    Series("never", "tensor.binomial(4, 0.0, [3]) + 0.0 * x", lambda x: stats.binom.ppf(0.5, 4, 0.0) + 0.0 * x),
    Series("ever", "tensor.binomial(4, 1.0, [3]) + 0.0 * x", lambda x: stats.binom.ppf(0.5, 4, 1.0) + 0.0 * x),
    Series("one", "cast_like(tensor.categorical(0.0 * x[:1]), x)", np.zeros_like),
    Series("surest", "tensor.categorical(100000.0 * o)", lambda o: o.argmax(-1).astype(np.int32)),
    Series("only", "tensor.categorical(select(o == 1.0, o, log(0.0 * o)))", lambda o: o.argmax(-1).astype(np.int32)),
]
KEEPING = [
    Series("not_trained", "nn.dropout(0.5, false, x)", lambda x: x),
    Series("nothing_lost", "nn.dropout(0.0, true, x)", lambda x: x),
    Series("at_times", "nn.dropout(0.0, t, x)", lambda t, x: x),
    Series("zeros", "nn.dropout(0.9, true, 0.0 * finite(x))", lambda x: 0.0 * np.nan_to_num(x)),
]
FINITE = """node finite(x) -> (y)
  y = select(x - x == 0.0, x, zeros_like(x));
"""
LIMIT = np.sqrt(6 / 60)
one_hot = [np.eye(3)[k] for k in (0, 2, 1)]
GROUPS = [
    Group("random_fits", "ordinary", "SciPy",
          {"b": [stats.binom.pmf(COUNTS, 5, 0.3)] * 3, "l": [LOGITS] * 3, "p": [CHANCES] * 3, "k": [np.array([0.3, KEPT])] * 3,
           "limit": [LIMIT] * 3}, FITS, nodes=NODES),
    Group("random_certain", "edge", "SciPy", {"x": [np.array([1.0, 2.0, -3.0])] * 3, "o": one_hot}, CERTAIN),
    Group("random_kept", "edge", "NumPy", {"t": [np.bool_(b) for b in (1, 0, 1)],
          "x": [np.array([1.0, -0.0, 1e30]), np.array([INF, -INF, NAN]), np.array([0.0, 1e-30, -1.0])]}, KEEPING, nodes=FINITE),
    Group("random_small", "edge", "NumPy", {"limit": [np.sqrt(3.0)] * 3}, [Series("kernels", "bounded(limit)", always)], nodes=NODES),
]
