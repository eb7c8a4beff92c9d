"""Expected values of CTC, by adding all alignments, and by PyTorch, whose gradient is that of the
same numbers."""

import itertools

import numpy as np
from common import same, tensor, torch, uniform, write

CLASSES, BLANK = 3, 0


def log_softmax(x):
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def alignments(target, length):
    for path in itertools.product(range(CLASSES), repeat=length):
        if [c for k, c in enumerate(path) if (k == 0 or path[k - 1] != c) and c != BLANK] == list(target):
            yield path


def ctc(x, target, length):
    """Loss and gradient by x, [frames, classes], the argument of log_softmax."""
    log_probs, total, share = log_softmax(x), 0.0, np.zeros_like(x)
    for path in alignments(target, length):
        p = np.exp(sum(log_probs[t, c] for t, c in enumerate(path)))
        total += p
        for t, c in enumerate(path):
            share[t, c] += p
    gradient = np.zeros_like(x)
    if total > 0:
        gradient[:length] = np.exp(log_probs[:length]) - share[:length] / total
    return -np.log(total) if total > 0 else np.inf, gradient


def main():
    random = np.random.default_rng(15)
    xs = [uniform(random, 5, 4, 3) for _ in range(3)]
    targets = [np.array(t) for t in ([[1, 2, 1], [1, 1, 2], [2, 1, 2], [2, 2, 2]], [[1, 1, 1], [2, 2, 1], [2, 1, 1], [1, 2, 2]],
                                     [[2, 1, 2], [1, 1, 1], [2, 2, 2], [1, 1, 1]])]
    frames = [np.array(f) for f in ([5, 5, 4, 3], [5, 4, 1, 2], [3, 5, 5, 0])]
    lengths = [np.array(n) for n in ([3, 2, 0, 1], [3, 2, 2, 2], [3, 1, 3, 0])]
    write("ctc.in.chron", {"x": xs, "targets": targets, "frames": frames, "lengths": lengths})
    scale, rows = np.array([1.0, 0.5, -2.0, 1.0]), []
    for x, target, frame, length in zip(xs, targets, frames, lengths):
        plain, gradient = np.zeros(4), np.zeros_like(x)
        for n in range(4):
            plain[n], gradient[:, n] = ctc(x[:, n], target[n, : length[n]], frame[n])
        l = np.where(np.isinf(plain), 0, plain)
        share = 1 / np.maximum(length, 1) / 4
        row = {"l": l, "dx": gradient * scale[:, None], "mean": (l * share).sum(), "dmean": gradient * share[:, None],
               "total": l.sum(), "plain": plain, "single": l}
        rows.append(row)
        if torch:
            keep = frame > 0  # skips sequences without frames, which PyTorch 1.13 refuses
            y = tensor(x[:, keep], gradient=True)
            given = [torch.tensor(v[keep]) for v in (target, frame, length)]
            log_probs = torch.nn.functional.log_softmax(y, -1)
            losses = torch.nn.functional.ctc_loss(log_probs, *given, reduction="none", zero_infinity=True)
            same(row["l"][keep], losses.detach(), 1e-9)
            (losses * tensor(scale[keep])).sum().backward()
            same(row["dx"][:, keep], y.grad, 1e-9)
            if keep.all():
                same(row["mean"], torch.nn.functional.ctc_loss(log_probs.detach(), *given, zero_infinity=True), 1e-9)
    write("ctc.out.chron", {name: [row[name] for row in rows] for name in rows[0]})


main()
