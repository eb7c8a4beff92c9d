#!/usr/bin/env python3
"""Converts between sound files and blocks of samples, for denoise.rml.

  sound.py blocks NOISY.wav BLOCKS.npy    from 16 kHz, one channel, 16 bits, to rows of 128
samples per cycle
  sound.py wav BLOCKS.npy CLEAN.wav       from the output of denoise.rml, without its delay"""
import sys
import wave

import numpy as np

RATE, HOP, DELAY = 16_000, 128, 384


def read(path):
    """The samples of a sound file, from -1 to 1."""
    with wave.open(path) as file:
        if (file.getnchannels(), file.getsampwidth(), file.getframerate()) != (1, 2, RATE):
            sys.exit(f"{path}: not one channel of 16 bits at {RATE} Hz")
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768


def main():
    _, kind, source, target = sys.argv
    if kind == "blocks":
        samples = read(source)
        # Fill the last block with zeros, and append zeros so that the samples that the program
        # delays come out as well.
        padded = np.concatenate([samples, np.zeros(-len(samples) % HOP + DELAY, np.float32)])
        np.save(target, padded.reshape(-1, HOP))
    else:
        samples = np.load(source).ravel()[DELAY:]
        with wave.open(target, "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", ""))
            file.writeframes((np.clip(samples, -1, 32767 / 32768) * 32768).round().astype("<i2").tobytes())


if __name__ == "__main__":
    main()
