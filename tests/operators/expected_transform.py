"""Fourier transforms by NumPy, in f64; frames by its sliding windows; CTC by adding all
alignments."""
import itertools

import numpy as np

FLOATS = {"f32": (np.float32, 2e-3), "f64": (np.float64, 1e-9)}
LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 30, 37, 60, 61, 74]


def roots(n):
    return np.exp(-2j * np.pi * np.arange(n) / n)


def pairs(z):
    return np.stack([z.real, z.imag], -1)


def smooth(n, largest):
    for p in range(2, largest + 1):
        while n % p == 0:
            n //= p
    return n == 1


def complex_plan(n):
    """The roots of unity and, for a large prime factor, the sequences of Bluestein's method."""
    if smooth(n, 31):
        return roots(n)
    m = min(odd * 2**k for odd in (1, 3) for k in range(40) if odd * 2**k >= 2 * n - 1)
    k = np.arange(n)
    chirp = np.exp(-1j * np.pi * (k * k % (2 * n)) / n)
    kernel = np.zeros(m, complex)
    kernel[:n] = chirp.conj()
    kernel[m - k[1:]] = chirp[1:].conj()
    return np.concatenate([roots(n), roots(m), chirp, np.fft.fft(kernel) / m])


def plan(n, real, dtype):
    whole = np.concatenate([complex_plan(n // 2), roots(n)]) if real and n % 2 == 0 else complex_plan(n)
    return pairs(whole).reshape(-1).astype(dtype)


def fourier(case, rng):
    for dtype, tolerance in FLOATS.values():
        for n in LENGTHS:
            case("fourier_plan", [], plan(n, 0, np.float32), tolerance, n=n)
            case("fourier_plan", [], plan(n, 1, np.float32), tolerance, n=n, real=1)
            for batch in ((), (2, 2)) if n < 10 else ((),):
                x = rng.uniform(-1, 1, batch + (n, 2)).astype(dtype)
                z = x[..., 0].astype(np.float64) + 1j * x[..., 1]
                case("fourier", [x, plan(n, 0, dtype)], pairs(np.fft.fft(z)).astype(dtype), tolerance)
                case("fourier", [x, plan(n, 0, dtype)], pairs(np.fft.ifft(z) * n).astype(dtype), tolerance, inverse=1)
                x = rng.uniform(-1, 1, batch + (n,)).astype(dtype)
                case("real_fourier", [x, plan(n, 1, dtype)], pairs(np.fft.rfft(x.astype(np.float64))).astype(dtype),
                     tolerance)
                g = rng.uniform(-1, 1, batch + (n // 2 + 1, 2)).astype(dtype)
                z = g[..., 0].astype(np.float64) + 1j * g[..., 1]
                turns = np.exp(2j * np.pi * np.outer(np.arange(n // 2 + 1), np.arange(n)) / n)
                case("real_fourier_terms", [g, plan(n, 1, dtype)], (z @ turns).real.astype(dtype), tolerance, n=n)
        empty = np.zeros((0, 4, 2), dtype)
        case("fourier", [empty, plan(4, 0, dtype)], empty)


def frames(case, rng):
    for dtype, tolerance in FLOATS.values():
        for shape in ((7,), (2, 7), (2, 1, 9), (0, 5)):
            for length, hop in ((1, 1), (3, 1), (3, 2), (3, 5), (5, 5)):
                x = np.round(rng.uniform(-2, 2, shape), 2).astype(dtype)
                cut = np.lib.stride_tricks.sliding_window_view(x, length, axis=-1)[..., ::hop, :]
                case("frames", [x], cut, length=length, hop=hop)
                total = np.zeros(shape, np.float64)
                for f in range(cut.shape[-2]):
                    total[..., f * hop : f * hop + length] += cut[..., f, :]
                case("overlap_add", [cut], total.astype(dtype), tolerance, n=shape[-1], hop=hop)


def alignments(target, length, blank, classes):
    """Every sequence of classes that gives the target after repetitions, then blanks, are
    removed."""
    for path in itertools.product(range(classes), repeat=length):
        kept = [c for k, c in enumerate(path) if (k == 0 or path[k - 1] != c) and c != blank]
        if kept == list(target):
            yield path


def ctc(case, fault, rng):
    for dtype, tolerance in FLOATS.values():
        time, batch, classes, longest = 5, 6, 3, 3
        for blank, kind in ((0, np.int32), (2, np.int64), (1, np.uint8)):
            x = rng.normal(size=(time, batch, classes))
            x = (x - np.log(np.exp(x).sum(-1, keepdims=True))).astype(dtype)
            labels = [c for c in range(classes) if c != blank]
            targets = rng.choice(labels, (batch, longest)).astype(kind)
            targets[1] = labels[0]  # repeats a label; CTC then needs a blank in between
            frames, lengths = np.array([5, 5, 4, 3, 1, 0], kind), np.array([3, 3, 2, 0, 2, 0], kind)
            targets[2, 2:] = 99  # labels beyond the length, which are not read
            adjoint = rng.uniform(-1, 1, batch).astype(dtype)
            adjoint[0] = 0
            loss, gradient = np.zeros(batch), np.zeros((time, batch, classes))
            for n in range(batch):
                wide = x[:, n].astype(np.float64)
                total, share = 0.0, np.zeros((time, classes))
                for path in alignments(targets[n, : lengths[n]], int(frames[n]), blank, classes):
                    p = np.exp(sum(wide[t, c] for t, c in enumerate(path)))
                    total += p
                    for t, c in enumerate(path):
                        share[t, c] += p
                loss[n] = 0.0 - np.log(total)
                if adjoint[n] != 0 and frames[n] > 0:
                    gradient[: frames[n], n] = -share[: frames[n]] / total * adjoint[n]
            given = [x, targets, frames, lengths]
            case("ctc_loss", given, loss.astype(dtype), tolerance, blank=blank)
            case("ctc_loss_gradient", [adjoint] + given, gradient.astype(dtype), tolerance, blank=blank)
        one = [np.zeros((2, 1, 3), dtype), np.array([[1, 2]]), np.array([2]), np.array([2])]
        for k, wrong in ((1, [[1, 3]]), (1, [[-1, 1]]), (1, [[0, 1]]), (2, [3]), (2, [-1]), (3, [3]), (3, [-1])):
            given = list(one)
            given[k] = np.array(wrong)
            fault("ctc_loss", given, 2)
            fault("ctc_loss_gradient", [np.ones(1, dtype)] + given, 2)


def add(case, fault):
    rng = np.random.default_rng(7)
    fourier(case, rng)
    frames(case, rng)
    ctc(case, fault, rng)
