#!/usr/bin/env python3
"""Draws the spectrograms of a sound before and after: plot.py NOISY.wav CLEAN.wav PICTURE.svg"""
import base64
import pathlib
import struct
import sys
import zlib

import numpy as np
from sound import RATE, read

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from chart import FAINT, INK, Panel, Picture

LENGTH, HOP = 512, 128
LOW, HIGH = -80, 0  # lowest and highest level, in dB relative to the loudest one
# From silent to loud: dark blue, violet, orange, light yellow.
COLOURS = np.array([(8, 8, 40), (74, 20, 110), (178, 50, 90), (240, 130, 40), (252, 250, 180)], float)


def spectrogram(samples, loudest=None):
    """Returns the levels in dB as [frequency, time], with the lowest frequency last; and the
    loudest amplitude."""
    frames = np.lib.stride_tricks.sliding_window_view(samples, LENGTH)[::HOP] * np.hanning(LENGTH)
    amplitude = np.abs(np.fft.rfft(frames)).T[::-1]
    loudest = loudest or amplitude.max()
    return 20 * np.log10(np.maximum(amplitude / loudest, 1e-9)), loudest


def colour(part):
    """Returns the colour for a level from 0 (silent) to 1 (loud)."""
    at = part * (len(COLOURS) - 1)
    return tuple(int(np.interp(at, range(len(COLOURS)), COLOURS[:, c])) for c in range(3))


def png(levels, shades=48):
    """Returns levels from LOW to HIGH as the bytes of a PNG picture."""
    index = (np.clip((levels - LOW) / (HIGH - LOW), 0, 1) * (shades - 1)).round().astype(np.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in index)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">2I5B", index.shape[1], index.shape[0], 8, 3, 0, 0, 0)
    palette = bytes(c for k in range(shades) for c in colour(k / (shades - 1)))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"PLTE", palette)
            + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def show(picture, top, name, levels, seconds):
    box = (80, top, 880, 230)
    # The picture is drawn over the grid of the axes.
    Panel(picture, box, (0, seconds), (0, RATE / 2000), name, "seconds", "kHz")
    data = base64.b64encode(png(levels)).decode()
    picture.out.append(f'<image x="{box[0]}" y="{box[1]}" width="{box[2]}" height="{box[3]}" preserveAspectRatio="none" '
                       f'href="data:image/png;base64,{data}"/>')


def main():
    noisy, clean = read(sys.argv[1]), read(sys.argv[2])
    clean = clean[: len(noisy)]
    before, loudest = spectrogram(noisy)
    after, _ = spectrogram(clean, loudest)
    # The level of the noise: that of the quietest tenth of the frames.
    level = [np.percentile(10 * np.log10((10 ** (s / 10)).sum(0)), 10) for s in (before, after)]
    picture = Picture(1000, 720, "Speech without its noise",
                      f"The quietest tenth of the frames is {level[0] - level[1]:.0f} dB quieter afterwards.")
    seconds = len(noisy) / RATE
    show(picture, 110, "As recorded", before, seconds)
    show(picture, 420, "By denoise.rml", after, seconds)
    for k in range(100):
        picture.box(700 + 2 * k, 50, 2, 12, "#%02x%02x%02x" % colour(k / 99))
    picture.text(692, 60, f"\u2212{-LOW} dB", 11, "end", FAINT)
    picture.text(908, 60, "loudest", 11, colour=FAINT)
    picture.text(26, 705, "Networks: DTLN (Westhausen and Meyer, 2020), imported from ONNX. Computed by denoise.rml.", 11,
                 colour=INK)
    picture.save(sys.argv[3])


main()
