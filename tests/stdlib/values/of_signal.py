"""Expected values of filters, windows, transforms and rates, by SciPy, PyTorch and ONNX's
reference."""

import numpy as np
import torch
from groups import INF, NAN, Entry, Group, Series, values_only
from onnx import helper
from onnx.reference import ReferenceEvaluator
from scipy import signal

# Numerators of the analogue prototypes over s^2 + s / quality + 1. The cookbook's filters are
# their bilinear transforms.
PROTOTYPES = {"lowpass": lambda q: [1], "highpass": lambda q: [1, 0, 0], "notch": lambda q: [1, 0, 1]}


def design(kind):
    """The cookbook's formulae in PyTorch's arithmetic; SciPy's transform agrees where it is
    defined."""

    def run(f, q):
        c, alpha = torch.cos(2 * torch.pi * f), torch.sin(2 * torch.pi * f) / (2 * q)
        b = {"lowpass": [(1 - c) / 2, 1 - c, (1 - c) / 2], "highpass": [(1 + c) / 2, -1 - c, (1 + c) / 2],
             "notch": [1 + 0 * c, -2 * c, 1 + 0 * c]}[kind]
        found = torch.stack([v / (1 + alpha) for v in b + [-2 * c, 1 - alpha]])
        for k, (at, quality) in enumerate(zip(f.detach().numpy(), q.detach().numpy())):
            if 1e-3 < at < 0.499 and quality > 0.1:
                rate = 1 / (2 * np.tan(np.pi * at))
                scipys = signal.bilinear(PROTOTYPES[kind](quality), [1, 1 / quality, 1], rate)
                np.testing.assert_allclose(found[:, k].detach().numpy(), [*scipys[0], *scipys[1][1:]], 1e-6, 1e-9)
        return found

    return run


def decimated(n):
    return lambda x: (np.arange(len(x)) % n == 0, np.where(np.arange(len(x)) % n == 0, x, -1.0))


def held(c, x):
    out, value = [], -1.0
    for there, v in zip(c, x):
        value = v if there else value
        out.append(value)
    return np.array(out)


def window(name, n, periodic):
    scipys = getattr(signal.windows, name)(n, sym=not periodic)
    return lambda x: x * torch.tensor(scipys)


def blackman_harris(x):
    """The Blackman-Harris window with three terms."""
    return x * torch.tensor(signal.windows.general_cosine(5, [0.42323, 0.49755, 0.07922], sym=False))


def stft(part, hop, w):
    return lambda x: part(torch.stft(x, len(w), hop, len(w), torch.tensor(w, dtype=x.dtype), center=False, return_complex=True)).mT


def mel(bands, length, rate, low, high):
    """ONNX's reference of MelWeightMatrix, times x."""
    node = helper.make_node("MelWeightMatrix", list("abcde"), ["w"], output_datatype=11)
    ints = [helper.make_tensor_value_info(n, t, []) for n, t in zip("abcde", (7, 7, 7, 11, 11))]
    graph = helper.make_graph([node], "g", ints, [helper.make_tensor_value_info("w", 11, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    given = dict(zip("abcde", [np.int64(bands), np.int64(length), np.int64(rate), np.float64(low), np.float64(high)]))
    w = ReferenceEvaluator(model).run(None, {n: np.array(v) for n, v in given.items()})[0]
    return Entry(f"mel_{bands}_{length}", f"x * signal.mel_weights({bands}, {length}, {rate}.0, {low}, {high})",
                 lambda x: x * torch.tensor(w.astype(np.float64)))


def inverse(n):
    return lambda x: torch.fft.irfft(torch.complex(x[0], torch.cat([torch.zeros(1).double(), x[1, 1:]])), n)


DESIGNS = [Entry(kind, f"both_{kind}(f, q)", design(kind)) for kind in PROTOTYPES] + [
    Entry("pole", "both_pole(f, q)", lambda f, q: torch.stack([torch.cos(2 * torch.pi * f), torch.sin(2 * torch.pi * f) / (2 * q)]))]
BOTH = "\n".join(f"node both_{kind}(f, q) -> (c)\n  b, a = signal.{kind}(f, q);\n  c = concat(b, a);\n" for kind in PROTOTYPES)
BOTH += "\nnode both_pole(f, q) -> (c)\n  cosine, width = signal.pole(f, q);\n  c = concat(expand_dims(cosine, 0), expand_dims(width, 0));\n"
NOTCH = """node removed(x) -> (y)
  b, a = signal.notch(0.1, 3.0);
  y = signal.biquad(b, a, x);
"""
NOTCHED = signal.bilinear([1, 0, 1], [1, 1 / 3.0, 1], 1 / (2 * np.tan(np.pi * 0.1)))
RATES = [
    Series("keep, third", "thirds(x)", decimated(3)),
    Series("keep_all, all", "every(x)", decimated(1)),
    Series("held", "signal.hold(-1.0, c, x when c)", held),
]
THIRDS = "\n".join(f"""node {name}(x) -> (keep, z)
  keep, y = signal.decimate({n}, x);
  z = merge keep y (broadcast_to(-1.0, shape(x)) when not keep);
""" for name, n in (("thirds", 3), ("every", 1)))
WINDOWS = [Entry(f"{name}_{'whole' if p else 'even'}", f"x * signal.{name}({str(p).lower()}, 5)", window(name, 5, p))
           for name in ("hann", "hamming", "blackman") for p in (False, True)]
WINDOWS += [Entry("cosine", "x * signal.cosine_window(1, 5, 0.42323, 0.49755, 0.07922)", blackman_harris)]
SHORT = [Entry(f"{name}_{n}_{p}", f"x * signal.{name}({p}, {n})", window(name, n, p), gradient=False)
         for name in ("hann", "hamming", "blackman") for n in (1, 2) for p in (0, 1)]
SHORT += [Entry("cosine", "x * signal.cosine_window(0, 1, 0.1, 0.2, 0.3)", lambda x: x.reshape(1), gradient=False)]
HANN = signal.windows.hann(8, sym=False)
SPECTRA = [
    Entry("re", "re_of(3, signal.hann(1, 8), x)", stft(torch.real, 3, HANN)),
    Entry("im", "im_of(3, signal.hann(1, 8), x)", stft(torch.imag, 3, HANN)),
    Entry("odd", "re_of(5, [1.0, 2.0, 0.5], x)", stft(torch.real, 5, [1.0, 2.0, 0.5])),
    Entry("single", "re_of(4, [2.0], x)", stft(torch.real, 4, [2.0])),
]
PARTS = """node re_of(hop, w, x) -> (re)
  re, _ = signal.stft(hop, w, x);

node im_of(hop, w, x) -> (im)
  _, im = signal.stft(hop, w, x);
"""
INVERSES = [Entry(f"x{n}", f"signal.irfft({n}, 0, x[0, :{n // 2 + 1}], x[1, :{n // 2 + 1}])", lambda x, n=n: inverse(n)(x[:, :n // 2 + 1]))
            for n in (1, 2, 5, 6, 7)]
MEL_FINE = [mel(3, 96, 16000, 100.0, 7000.0), mel(5, 64, 8000, 20.0, 3000.0)]
MEL = [mel(2, 8, 8000, 0.0, 4000.0), mel(4, 16, 16000, 20.0, 8000.0), mel(8, 8, 8000, 0.0, 1000.0), mel(1, 4, 8000, 0.0, 4000.0)]
random = np.random.default_rng(151)


def drawn(*shape):
    return np.round(random.uniform(-2, 2, shape), 2)


FREQUENCIES = [np.array([0.05, 0.2, 0.4]), np.array([0.1, 0.25, 0.31]), np.array([0.01, 0.45, 0.3])]
QUALITIES = [np.array([0.7071, 2.0, 0.5]), np.array([1.0, 10.0, 0.3]), np.array([0.8, 0.8, 5.0])]
LOOSE = {"f32": "1e-3", "f64": "1e-11"}
GROUPS = [
    Group("signal_designs", "ordinary", "SciPy", {"f": FREQUENCIES, "q": QUALITIES}, DESIGNS, LOOSE, BOTH),
    Group("signal_designs_edges", "edge", "SciPy", {"f": [np.array([0.0, 0.5, 0.25]), np.array([1e-6, 0.499, 0.5])],
          "q": [np.array([1.0, 0.7, 1e-6]), np.array([1e6, 1e9, 1e9])]}, values_only(DESIGNS), LOOSE, BOTH),
    Group("signal_designs_one", "edge", "SciPy", {"f": [np.array([v]) for v in (0.2, 0.0, 0.5)], "q": [np.array([1.0])] * 3}, DESIGNS, LOOSE, BOTH),
    Group("signal_removed", "ordinary", "SciPy", {"x": list(drawn(12))},
          [Series("removed", "removed(x)", lambda x: signal.lfilter(*NOTCHED, x))], LOOSE, NOTCH),
    Group("signal_rates", "ordinary", "NumPy", {"c": [np.bool_(b) for b in (0, 1, 0, 1, 1, 0, 0)], "x": list(drawn(7))}, RATES, nodes=THIRDS),
    Group("signal_rates_edges", "edge", "NumPy", {"c": [np.bool_(b) for b in (0, 1, 0, 1, 0, 1, 1)],
          "x": [NAN, INF, 0.0, -0.0, 1e30, NAN, -INF]}, RATES, nodes=THIRDS),
    Group("signal_windows", "ordinary", "SciPy", {"x": [drawn(5) for _ in range(2)]}, WINDOWS, LOOSE),
    Group("signal_windows_edges", "edge", "SciPy", {"x": [np.zeros(5), np.ones(5), np.array([0.0, -1.0, INF, NAN, 1.0])]},
          values_only(WINDOWS), LOOSE),
    Group("signal_windows_short", "edge", "SciPy", {"x": [1.0, 0.0, -2.0]}, SHORT, LOOSE),
    Group("signal_frames", "ordinary", "PyTorch", {"x": [drawn(20) for _ in range(2)]}, SPECTRA, LOOSE, PARTS),
    Group("signal_frames_edges", "edge", "PyTorch", {"x": [np.zeros(8), np.ones(8), 1e6 * drawn(8)]}, values_only(SPECTRA), LOOSE, PARTS),
    Group("signal_frames_not_finite", "edge", "PyTorch", {"x": [np.full(8, NAN), np.full(8, INF)]},
          values_only(SPECTRA[:1] + SPECTRA[2:]), LOOSE, PARTS),
    Group("signal_inverses", "ordinary", "PyTorch", {"x": [drawn(2, 4) for _ in range(3)]}, INVERSES, LOOSE),
    Group("signal_inverses_edges", "edge", "PyTorch", {"x": [np.zeros((2, 4)), 1e6 * drawn(2, 4), np.eye(2, 4)]}, values_only(INVERSES), LOOSE),
    Group("signal_mel_fine", "ordinary", "ONNX's reference", {"x": [1.0, -2.5]}, MEL_FINE, LOOSE),
    Group("signal_mel", "ordinary edge", "ONNX's reference", {"x": [1.0, -2.5, 0.0, 1e6]}, MEL),
]
