#!/usr/bin/env python3
"""Writes the batches of mnist.rml: batches.py FOLDER LEARN.npz TEST.npz [--passes N] [--batch N]
[--seed S]

FOLDER contains the four files of MNIST. LEARN gets the images to learn from `passes` times, each
time in another order and followed by the test images. TEST gets only the test images. Images that
do not fill a batch are left out."""
import argparse
import gzip
import pathlib
import random
import struct
import zipfile


def samples(folder, name):
    """Returns pairs (image, label) of the files `name`: big-endian headers, then bytes."""
    with gzip.open(folder / f"{name}-images-idx3-ubyte.gz") as file:
        _, count, height, width = struct.unpack(">4i", file.read(16))
        pixels = file.read()
    with gzip.open(folder / f"{name}-labels-idx1-ubyte.gz") as file:
        labels = file.read()[8:]
    size = height * width
    return [(pixels[k * size : (k + 1) * size], labels[k]) for k in range(count)]


def batches(rows, size):
    return [rows[k : k + size] for k in range(0, len(rows) - size + 1, size)]


def add(archive, name, kind, shape, values):
    """Adds one array in NumPy's format."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    with archive.open(name + ".npy", "w", force_zip64=True) as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header)
        for value in values:
            file.write(value)


def write(path, chosen, **flags):
    count, size = len(chosen), len(chosen[0])
    pixels = len(chosen[0][0][0])
    with zipfile.ZipFile(path, "w") as archive:
        add(archive, "image", "|u1", (count, size, pixels), (image for batch in chosen for image, _ in batch))
        add(archive, "label", "|u1", (count, size), (bytes(label for _, label in batch) for batch in chosen))
        for name, values in flags.items():
            add(archive, name, "|b1", (count,), [bytes(values)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("learn")
    parser.add_argument("test")
    parser.add_argument("--passes", type=int, default=8)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    learned, held = samples(options.folder, "train"), samples(options.folder, "t10k")
    tested = batches(held, options.batch)
    chosen, train, pass_end = [], [], []
    for _ in range(options.passes):
        draw.shuffle(learned)
        for learn, part in (True, batches(learned, options.batch)), (False, tested):
            chosen += part
            train += [learn] * len(part)
            pass_end += [False] * (len(part) - 1) + [True]
    write(options.learn, chosen, train=train, pass_end=pass_end)
    write(options.test, tested)


main()
