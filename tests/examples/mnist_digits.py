"""Digits in MNIST's format: those of examples/digits, enlarged to images of 28 by 28."""

import gzip
import struct


def enlarged(row):
    """Enlarges each of 8 by 8 pixels (0 to 16) to 3 by 3 (0 to 240), with a border of 2."""
    image = bytearray(28 * 28)
    for y in range(24):
        for x in range(24):
            image[(y + 2) * 28 + x + 2] = 15 * row[y // 3 * 8 + x // 3]
    return bytes(image)


def write(folder, name, samples):
    with gzip.open(folder / f"{name}-images-idx3-ubyte.gz", "wb") as file:
        file.write(struct.pack(">4i", 2051, len(samples), 28, 28) + b"".join(image for image, _ in samples))
    with gzip.open(folder / f"{name}-labels-idx1-ubyte.gz", "wb") as file:
        file.write(struct.pack(">2i", 2049, len(samples)) + bytes(label for _, label in samples))


def samples(root):
    """The (image, label) pairs."""
    lines = (root / "examples/digits/excerpt.csv").read_text().split()
    return [(enlarged(row[:-1]), row[-1]) for row in (list(map(int, line.split(","))) for line in lines)]
