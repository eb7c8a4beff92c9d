"""Expected values of losses, by torch.nn.functional."""

import numpy as np
import torch
import torch.nn.functional as F
from groups import INF, NAN, Entry, Group, Series, values_only

WEIGHTS = torch.tensor([1.0, 3.0, 0.5], dtype=torch.float64)


def binary_of(p, target):
    """PyTorch limits logarithms to at least -100, the library limits probabilities to at least
    1e-37."""
    return torch.mean(-target * torch.log(p.clamp(min=1e-37)) - (1 - target) * torch.log((1 - p).clamp(min=1e-37)))


def binary_small(x, target):
    """PyTorch's own function loses its digits far below 0."""
    return (target * F.softplus(-x) + (1 - target) * F.softplus(x)).mean()


def hinge(score, target):
    return torch.relu(1 - target * score).mean()


PAIRS = [
    Entry("mse", "loss.mse(x, t)", F.mse_loss),
    Entry("mae", "loss.mae(x, t)", F.l1_loss),
    Entry("huber", "loss.huber(1.0, x, t)", lambda x, t: F.huber_loss(x, t, delta=1.0)),
]
LOGITS = [Entry("bce", "loss.binary_cross_entropy(x, t)", F.binary_cross_entropy_with_logits)]
SMALL = [Entry("bce", "loss.binary_cross_entropy(x, t)", binary_small, scale=1e9)]
OF = [Entry("bce_of", "loss.binary_cross_entropy_of(x, t)", binary_of)]
HINGE = [Entry("hinge", "loss.hinge(x, t)", hinge)]
CLASSES = [
    Entry("ce", "loss.cross_entropy(x, k)", lambda x, k: F.cross_entropy(x, k.long())),
    Entry("ce_with", "loss.cross_entropy_with([1.0, 3.0, 0.5], -1, x, k)",
          lambda x, k: F.cross_entropy(x, k.long(), weight=WEIGHTS, ignore_index=-1)),
]
SMOOTHED = [
    Entry("smoothed_ce", "loss.cross_entropy_smoothed(0.1, [1.0, 3.0, 0.5], -1, x, k)",
          lambda x, k: F.cross_entropy(x, k.long(), weight=WEIGHTS, ignore_index=-1, label_smoothing=0.1)),
    Entry("even_ce", "loss.cross_entropy_smoothed(1.0, [1.0, 1.0, 1.0], -1, x, k)",
          lambda x, k: F.cross_entropy(x, k.long(), ignore_index=-1, label_smoothing=1.0)),
    Entry("sharp_ce", "loss.cross_entropy_smoothed(0.0, [1.0, 3.0, 0.5], -1, x, k)",
          lambda x, k: F.cross_entropy(x, k.long(), weight=WEIGHTS, ignore_index=-1)),
]
# The targets are smoothed towards a wanted distribution, which PyTorch does not offer.
SPREAD = [Entry("spread", "loss.soft_cross_entropy(x, loss.smoothed(0.2, t))",
                lambda x, t: F.cross_entropy(x, t, label_smoothing=0.2))]
WEIGHTED = [Entry("bce_with", "loss.binary_cross_entropy_with(3.0, x, t)",
                  lambda x, t: F.binary_cross_entropy_with_logits(x, t, pos_weight=torch.tensor(3.0, dtype=x.dtype))),
            Entry("bce_each", "loss.binary_cross_entropy_with([0.5, 2.0], x[:2], t[:2])",
                  lambda x, t: F.binary_cross_entropy_with_logits(x[:2], t[:2], pos_weight=torch.tensor([0.5, 2.0], dtype=x.dtype)))]
SOFT = [Entry("soft", "loss.soft_cross_entropy(x, t)", lambda x, t: F.cross_entropy(x, t))]
FIT = [Entry("fitting", "loss.fitting(x, t)", lambda x, t: t, gradient=False)]


def ctc(reduction):
    return lambda x: F.ctc_loss(torch.log_softmax(x, -1), torch.tensor([[1, 2], [2, 0]]), torch.tensor([4, 3]),
                                torch.tensor([2, 1]), blank=0, reduction=reduction)


CTC = [
    Entry(name, f"loss.{name}(0, false, log_softmax(x), [[1, 2], [2, 1]], [4, 3], [2, 1])", ctc(reduction))
    for name, reduction in (("ctc", "none"), ("ctc_mean", "mean"), ("ctc_sum", "sum"))
]
IMPOSSIBLE = [
    Entry(name, f"loss.{name}(0, true, log_softmax(x), [[1, 1], [2, 1]], [2, 1], [2, 0])", peer, gradient=False)
    for name, peer in (("ctc", lambda x: torch.stack([0 * x.sum(), -torch.log_softmax(x, -1)[0, 1, 0]])),
                       ("ctc_mean", lambda x: -torch.log_softmax(x, -1)[0, 1, 0] / 2),
                       ("ctc_sum", lambda x: -torch.log_softmax(x, -1)[0, 1, 0]))
]

FAR_CTC = [Entry("far", "loss.ctc(0, true, -x, [[1], [2]], [2, 1], [1, 0])",
                 lambda x: F.ctc_loss(-x, torch.tensor([[1], [2]]), torch.tensor([2, 1]), torch.tensor([1, 0]), reduction="none",
                                      zero_infinity=True), gradient=False)]


def likelihood(x, k):
    """The weighted terms of the negative log likelihood, and the weights, by NumPy."""
    weights, k = WEIGHTS.numpy(), k.astype(int)
    w = np.where(k >= 0, weights[k], 0.0)
    return -w * np.take_along_axis(x, np.maximum(k, 0)[..., None], -1)[..., 0], w


LIKELIHOOD = [Series("terms, w", "loss.negative_log_likelihood([1.0, 3.0, 0.5], -1, x, k)", likelihood)]
random = np.random.default_rng(41)


def drawn(*shape):
    return np.round(random.uniform(-3, 3, shape), 2)


def cells(*values):
    return [np.array(v, float) for v in values]


def labels(*values):
    return [np.array(v, np.int32) for v in values]


def later(*shape):
    return np.round(second.uniform(-3, 3, shape), 2)


second = np.random.default_rng(42)
GROUPS = [
    Group("loss_pairs", "ordinary", "PyTorch", {"x": [drawn(3) for _ in range(4)], "t": [drawn(3) for _ in range(4)]},
          PAIRS + FIT),
    Group("loss_pairs_edges", "edge", "PyTorch",
          {"x": cells([1, 2], [0, 0], [1e15, 1], [1, 0], [-0.0, 5]), "t": cells([1, 2], [1, -1], [0, 1], [0, 1], [0, 5])},
          PAIRS + FIT),
    Group("loss_pairs_not_finite", "edge", "PyTorch",
          {"x": cells([INF, 0], [-INF, 0], [NAN, 0]), "t": cells([0, 0], [0, 0], [0, 0])}, values_only(PAIRS + FIT)),
    Group("loss_logits", "ordinary", "PyTorch",
          {"x": [drawn(3) for _ in range(4)], "t": [np.abs(drawn(3)) / 3 for _ in range(4)]}, LOGITS),
    Group("loss_logits_edges", "edge", "PyTorch",
          {"x": cells([0, 0], [1000, -1000], [1e30, -1e30], [-1e7, 1e7], [0, 20]),
           "t": cells([0, 1], [0, 1], [1, 0], [0.5, 0], [0, 0])}, LOGITS),
    Group("loss_logits_small", "edge", "PyTorch",
          {"x": cells([20, -20], [20, 20], [-20, -20]), "t": cells([1, 0], [1, 1], [0, 0])}, SMALL),
    Group("loss_one_element", "edge", "PyTorch", {"x": cells([2.5], [-1.5]), "t": cells([1], [0])},
          PAIRS + LOGITS + HINGE + FIT),
    Group("loss_logits_not_finite", "edge", "PyTorch", {"x": cells([INF, 0], [NAN, 0]), "t": cells([0, 0], [1, 0])},
          values_only(LOGITS)),
    Group("loss_probabilities", "ordinary", "PyTorch",
          {"x": [np.abs(drawn(3)) / 3.1 for _ in range(3)], "t": [np.abs(drawn(3)) / 3 for _ in range(3)]}, OF),
    Group("loss_probabilities_edges", "edge", "PyTorch",
          {"x": cells([0, 1], [1, 0], [0.5, NAN]), "t": cells([0, 1], [0, 1], [0, 1])}, values_only(OF)),
    Group("loss_hinge", "ordinary", "PyTorch",
          {"x": [drawn(3) for _ in range(4)], "t": cells([1, 1, -1], [-1, 1, 1], [1, -1, 1], [1, 1, 1])}, HINGE),
    Group("loss_hinge_edges", "edge", "PyTorch",
          {"x": cells([1, -1], [0, 0], [1e30, -1e30], [1e30, 2], [NAN, 1]),
           "t": cells([1, -1], [1, -1], [1, -1], [-1, 1], [1, 1])}, values_only(HINGE)),
    Group("loss_classes", "ordinary", "PyTorch",
          {"x": [drawn(2, 3) for _ in range(4)], "k": labels([0, 2], [1, 1], [2, 0], [0, 1])}, CLASSES),
    Group("loss_classes_edges", "edge", "PyTorch",
          {"x": cells(*[[[1e7, 1e7 + 1, 1e7 - 1], [-1e7, -1e7 - 2, -1e7]], [[0, 0, 0], [5, 5, 5]],
                        [[1e30, 0, -1e30], [1000, -1000, 0]], [[1e7 + 1, 1e7, 1e7], [3, 3, -1e30]]]),
           "k": labels([0, 1], [2, 0], [0, 2], [0, 0])}, CLASSES),
    Group("loss_classes_not_finite", "edge", "PyTorch",
          {"x": cells([[INF, 0, 0], [0, 0, 0]], [[NAN, 0, 0], [0, 0, 0]], [[-INF, 0, 0], [0, -INF, 0]]),
           "k": labels([0, 1], [1, 1], [1, 0])}, values_only(CLASSES)),
    Group("loss_soft", "ordinary", "PyTorch",
          {"x": [drawn(2, 3) for _ in range(3)], "t": cells(*[[[0.2, 0.3, 0.5], [1, 0, 0]]] * 3)}, SOFT),
    Group("loss_soft_impossible", "edge", "PyTorch",
          {"x": cells([[0, -INF, 1]], [[-INF, 3, -INF]], [[0, -INF, 1]]), "t": cells([[0.5, 0, 0.5]], [[0, 1, 0]], [[0.5, 0.25, 0.25]])},
          # A class that is impossible and has target 0 contributes 0, as in xlogy; PyTorch's
          # cross_entropy gives NaN.
          values_only([Entry("soft", "loss.soft_cross_entropy(x, t)",
                             lambda x, t: -torch.special.xlogy(t, torch.softmax(x, -1)).sum(-1).mean())])),
    Group("loss_soft_edges", "edge", "PyTorch",
          {"x": cells([[1e7, 1e7 + 1, 1e7 - 1]], [[1e30, 0, -1e30]], [[0, 0, 0]], [[NAN, 0, 0]]),
           "t": cells([[0.5, 0.5, 0]], [[1, 0, 0]], [[0, 1, 0]], [[0, 1, 0]])}, values_only(SOFT)),
    Group("loss_ctc", "ordinary", "PyTorch", {"x": [drawn(4, 2, 3) for _ in range(3)]}, CTC,
          {"f32": "1e-4", "f64": "1e-12"}),
    Group("loss_ctc_edges", "edge", "PyTorch", {"x": [np.zeros((4, 2, 3)), 1e7 + drawn(4, 2, 3)]}, CTC,
          {"f32": "1e-4", "f64": "1e-12"}),
    Group("loss_ctc_impossible", "edge", "PyTorch", {"x": [drawn(2, 2, 3) for _ in range(2)]}, IMPOSSIBLE),
    Group("loss_ctc_far", "edge", "PyTorch", {"x": [np.full((2, 2, 3), v) for v in (1.6e38, 5.0)]}, FAR_CTC),
    Group("loss_likelihood", "ordinary edge", "NumPy",
          {"x": cells([[-1, -2, -3], [0, -1e30, -5]], [[0, -1, -2], [-1, -1, NAN]]), "k": labels([0, 1], [-1, 2])},
          LIKELIHOOD),
    Group("loss_smoothed", "ordinary", "PyTorch",
          {"x": [later(2, 3) for _ in range(4)], "k": labels([0, 2], [1, -1], [2, 0], [-1, 1])}, SMOOTHED),
    Group("loss_smoothed_edges", "edge", "PyTorch",
          {"x": cells(*[[[0, 0, 0], [5, 5, 5]], [[1000, -1000, 0], [1e7, 1e7 + 1, 1e7 - 1]], [[NAN, 0, 0], [0, 1, 2]]]),
           "k": labels([0, 1], [2, 0], [0, -1])}, values_only(SMOOTHED)),
    Group("loss_spread", "ordinary", "PyTorch",
          {"x": [later(2, 3) for _ in range(3)], "t": cells(*[[[0.2, 0.3, 0.5], [1, 0, 0]]] * 3)}, SPREAD, {"f32": "1e-5", "f64": "1e-12"}),
    Group("loss_spread_edges", "edge", "PyTorch",
          {"x": cells([[1e7, 1e7 + 1, 1e7 - 1]], [[1e30, 0, -1e30]], [[0, 0, 0]], [[NAN, 0, 0]]),
           "t": cells([[0.5, 0.5, 0]], [[1, 0, 0]], [[0, 1, 0]], [[0, 1, 0]])}, values_only(SPREAD)),
    Group("loss_weighted", "ordinary", "PyTorch",
          {"x": [later(3) for _ in range(4)], "t": [np.abs(later(3)) / 3 for _ in range(4)]}, WEIGHTED),
    Group("loss_weighted_edges", "edge", "PyTorch",
          {"x": cells([0, 0, 0], [1000, -1000, 1000], [1e30, -1e30, 0], [NAN, 0, 20]),
           "t": cells([0, 1, 0.5], [0, 1, 1], [1, 0, 1], [0, 1, 0])}, values_only(WEIGHTED)),
]
