"""Expected values of precision, recall, F1 and the area under the curve, by scikit-learn; if a
class is missing, by their definitions."""

import numpy as np
from groups import INF, NAN, Group, Series
from sklearn import metrics


def so_far(statistic, n=None, end=None, rows=False):
    """A statistic of the labels and predictions so far, since the beginning of the segment, or
    of the last n."""

    def run(*given):
        given = list(given)
        ends = given.pop(0) if end else np.zeros(len(given[0]), bool)
        first, out = 0, []
        for t, e in enumerate(ends):
            start = t if rows else max(first, t + 1 - n) if n else first
            out.append(statistic(*[x[start:t + 1].ravel() for x in given]))
            first = t + 1 if e else first
        return np.array(out)

    return run


def millionths(y):
    """Rates are always f64, so they are compared as integers in millionths."""
    return int(1e6 * y + 0.5)


def rate(name):
    found = getattr(metrics, name)
    return lambda p, k: millionths(found(k, p, zero_division=0.0))


def area(score, label):
    """scikit-learn takes no infinities, so they are replaced by a number larger than all
    others."""
    if label.all() or not label.any():
        return 0  # returns 0, to which a program casts NaN
    return millionths(metrics.roc_auc_score(label, np.clip(score, -1e31, 1e31)))


def cast(call):
    return f"cast(i32, 1e6 * {call} + 0.5)"


RATES = {"precision": "precision_score", "recall": "recall_score", "f1": "f1_score"}
STREAMS = [Series(name, cast(f"metrics.{name}(p, k)"), so_far(rate(peer))) for name, peer in RATES.items()]
STREAMS += [Series(f"{name}_end", cast(f"metrics.{name}_end(e, p, k)"), so_far(rate(peer), end=True)) for name, peer in RATES.items()]
STREAMS += [
    Series("auc", cast("metrics.auc(100, s, k)"), so_far(area)),
    Series("auc_last", cast("metrics.auc(4, s, k)"), so_far(area, 4)),
    Series("auc_end", cast("metrics.auc_end(5, e, s, k)"), so_far(area, 5, True)),
    Series("hits, false_alarms, misses", "cast_hits(e, p, k)",
           lambda e, p, k: tuple(so_far(lambda a, b, f=f: int(f(a, b).sum()), end=True)(e, p, k)
                                 for f in (lambda a, b: a & b, lambda a, b: a & ~b, lambda a, b: ~a & b))),
    Series("counted", "cast(i32, metrics.counted_end(e, p))", so_far(lambda p: int(p.sum()), end=True)),
]
BATCHES = [Series(name, cast(f"metrics.{name}_of(p, k)"), so_far(rate(peer), rows=True)) for name, peer in RATES.items()]
BATCHES += [
    Series("area", cast("metrics.auc_of(s, k)"), so_far(area, rows=True)),
    Series("between", cast("metrics.auc_between(s, p and k, p and not k)"),
           so_far(lambda s, p, k: area(s[p], k[p]), rows=True)),
    Series("share", cast("metrics.rate_of(sum(cast(i64, p)), sum(cast(i64, k)))"),
           so_far(lambda p, k: millionths(p.sum() / max(k.sum(), 1)), rows=True)),
]
HITS = """node cast_hits(e, p, k) -> (hits, false_alarms, misses)
  a, b, c = metrics.hits_end(e, p, k);
  hits = cast(i32, a);
  false_alarms = cast(i32, b);
  misses = cast(i32, c);
"""
random = np.random.default_rng(161)


def booleans(*shape):
    return random.uniform(size=shape) < 0.5


def drawn(*shape):
    """Draws from few values, so that some are equal."""
    return np.round(random.uniform(-1, 1, shape), 1)


GROUPS = [
    Group("metrics_streams", "ordinary", "scikit-learn",
          {"e": list(random.uniform(size=30) < 0.2), "s": list(drawn(30)), "p": list(booleans(30)), "k": list(booleans(30))},
          STREAMS, nodes=HITS),
    Group("metrics_streams_edges", "edge", "scikit-learn",
          {"e": list(random.uniform(size=12) < 0.3), "s": [0.0, -0.0, 1e30, INF, -INF, INF, 0.0, 1e-30, -INF, INF, 1.0, 1.0],
           "p": [np.bool_(v) for v in (0,) * 6 + (1,) * 6], "k": [np.bool_(v) for v in (0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1)]}, STREAMS, nodes=HITS),
    Group("metrics_batches", "ordinary", "scikit-learn",
          {"s": [drawn(8) for _ in range(5)], "p": [booleans(8) for _ in range(5)], "k": [booleans(8) for _ in range(5)]}, BATCHES),
    Group("metrics_batches_edges", "edge", "scikit-learn",
          {"s": [np.array(v, float) for v in ([1, 1, 1], [1, 2, 3], [INF, 0, 1], [INF, INF, -INF], [-0.0, 0, 1e30])],
           "p": [np.array(v, bool) for v in ([0, 0, 0], [1, 1, 1], [1, 0, 1], [1, 1, 1], [1, 1, 1])],
           "k": [np.array(v, bool) for v in ([1, 1, 0], [0, 0, 0], [1, 1, 1], [1, 0, 1], [0, 1, 0])]}, BATCHES),
]
