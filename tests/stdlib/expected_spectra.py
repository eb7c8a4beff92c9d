"""Expected values of Fourier transforms, by NumPy."""

import numpy as np
from common import uniform, write


def pairs(z):
    return np.stack([z.real, z.imag], -1)


def main():
    random = np.random.default_rng(14)
    x, z, long = ([uniform(random, *shape) for _ in range(3)] for shape in ((3, 7), (3, 5, 2), (74,)))
    write("spectra.in.chron", {"x": x, "z": z, "long": long})
    rows = []
    for a, b, c in zip(x, z, long):
        whole, down, complex_b = np.fft.rfft(a), np.fft.rfft(a, axis=0), b[..., 0] + 1j * b[..., 1]
        cut = np.lib.stride_tricks.sliding_window_view(c, 16)[::5]
        window = np.hanning(17)[:-1]
        short = np.fft.rfft(cut * window)
        rows.append({
            "re": whole.real, "im": whole.imag, "down_re": down.real, "down_im": down.imag, "back": a,
            "even": np.fft.irfft(np.concatenate([down, down[:1]]), 4, axis=0),
            "f": pairs(np.fft.fft(complex_b)), "g": pairs(np.fft.fft(complex_b, axis=0)),
            "h": pairs(np.fft.ifft(complex_b)), "prime_re": np.fft.rfft(c).real, "prime_im": np.fft.rfft(c).imag,
            "hann": np.hanning(9)[:-1], "hann_symmetric": np.hanning(9), "hamming": np.hamming(9),
            "blackman": np.blackman(9), "one": np.ones(1), "short_re": short.real,
            "short_im": short.imag, "single": np.fft.rfft([1, 2, 0, -1, 0.5, 0.25]).real,
        })
    write("spectra.out.chron", {name: [row[name] for row in rows] for name in rows[0]})


main()
