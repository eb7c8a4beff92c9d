#!/usr/bin/env python3
"""Writes the images of digits.rml: images.py SOURCE LEARN.npz TEST.npz [--passes N] [--batch N]
[--seed S]

SOURCE is digits.csv.gz of scikit-learn or some of its lines, of which a random fifth is held out;
or a folder with the four files of MNIST, which has test images of its own. LEARN gets the images
to learn from `passes` times, each time in another order and followed by the held-out images. TEST
gets only the held-out images."""
import argparse
import gzip
import pathlib
import random
import struct
import zipfile


def from_csv(path, draw):
    """Returns two lists of (image, label): to learn from, and held out."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as file:
        rows = [bytes(map(int, line.split(","))) for line in file]
    samples = [(row[:-1], row[-1]) for row in rows]
    draw.shuffle(samples)
    held = len(samples) // 5
    return samples[held:], samples[:held]


def from_idx(folder, name):
    """Returns the samples of MNIST's files `name`: big-endian headers, then bytes."""
    with gzip.open(folder / f"{name}-images-idx3-ubyte.gz") as file:
        _, count, height, width = struct.unpack(">4i", file.read(16))
        pixels = file.read()
    with gzip.open(folder / f"{name}-labels-idx1-ubyte.gz") as file:
        labels = file.read()[8:]
    size = height * width
    return [(pixels[k * size : (k + 1) * size], labels[k]) for k in range(count)]


def passes(learned, held, options, draw):
    """Yields (train, end, pass_end, image, label)."""
    for _ in range(options.passes):
        draw.shuffle(learned)
        for k, (image, label) in enumerate(learned, 1):
            last = k == len(learned)
            yield True, last or k % options.batch == 0, last, image, label
        for k, (image, label) in enumerate(held, 1):
            yield False, True, k == len(held), image, label


def add(archive, name, kind, shape, values):
    """Adds one array in NumPy's format."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    with archive.open(name + ".npy", "w", force_zip64=True) as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header)
        for value in values:
            file.write(value)


def write(path, images, labels, **flags):
    count = len(labels)
    with zipfile.ZipFile(path, "w") as archive:
        add(archive, "image", "|u1", (count, len(images[0])), images)
        add(archive, "label", "|u1", (count,), [bytes(labels)])
        for name, values in flags.items():
            add(archive, name, "|b1", (count,), [bytes(values)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("learn")
    parser.add_argument("test")
    parser.add_argument("--passes", type=int, default=30)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    if options.source.is_dir():
        learned, held = from_idx(options.source, "train"), from_idx(options.source, "t10k")
    else:
        learned, held = from_csv(options.source, draw)
    train, end, pass_end, images, labels = zip(*passes(learned, held, options, draw))
    write(options.learn, images, labels, train=train, end=end, pass_end=pass_end)
    images, labels = zip(*held)
    write(options.test, images, labels)


if __name__ == "__main__":
    main()
