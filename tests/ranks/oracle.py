"""Sums over ranks must have the bits of the tree that runtime/ranks/tree.h describes, evaluated
here by NumPy.

oracle.py FROM COUNT RANKS COMMAND…: COMMAND prints the totals of cases FROM to FROM + COUNT - 1
(tests/ranks/sums.cc). `{ranks}` in it is replaced by each of the numbers RANKS, such as 1-9 or
1,2,4.
"""

import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "micro_batches"))
from tree_sum import tree_sum

MASK = (1 << 64) - 1


def mixed(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def to_bf16(f):
    bits = f.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


class Type:
    """Makes a value from 64 random bits, and adds two values."""

    def __init__(self, name):
        self.name = name

    def make(self, words):
        numbers = np.array([np.ldexp((x >> 11) * 2.0**-52 - 1.0, (x & 15) - 8) for x in words], np.float64)
        if self.name == "bf16":
            return to_bf16(numbers.astype(np.float32))
        if self.name in ("f32", "f64"):
            return numbers.astype(np.dtype(self.name[0] + str(int(self.name[1:]) // 8)))
        if self.name == "f16":
            return numbers.astype(np.float32).astype(np.float16)
        return np.array(words, np.uint64).astype(np.dtype("u" + str(int(self.name[1:]) // 8)))

    def add(self, a, b):
        return to_bf16(from_bf16(a) + from_bf16(b)) if self.name == "bf16" else (a + b).astype(a.dtype)


TYPES = [Type(name) for name in ("f32", "f64", "f16", "bf16", "i32", "i64")]
COUNTS = (0, 1, 2, 3, 17, 250)


def expected(number):
    draws = 0

    def draw(below):
        nonlocal draws
        draws += 1
        return mixed((mixed(number) + draws - 1) & MASK) % below

    per_step = 1 + draw(16)
    steps = 1 + draw(4)
    in_last_step = 1 + draw(per_step)
    sites = [None] * (1 + draw(3))
    for s in range(len(sites)):
        kind = TYPES[draw(6)]
        sites[s] = (kind, COUNTS[draw(6)])
    for step in range(steps):
        present = in_last_step if step + 1 == steps else per_step
        for s, (kind, count) in enumerate(sites):
            values = []
            for slot in range(per_step):
                key = mixed(mixed(mixed(number) ^ (step * per_step + slot)) ^ s)
                words = [mixed((key + i) & MASK) for i in range(count)]
                values.append(kind.make(words) if slot < present else None)
            yield "=" + tree_sum(values, kind.add).tobytes().hex()


def numbers(text):
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def main():
    first, count, ranks = int(sys.argv[1]), int(sys.argv[2]), list(numbers(sys.argv[3]))
    wanted = []
    for number in range(first, first + count):
        wanted += [f"case {number}", *expected(number)]
    for r in ranks:
        command = [part.replace("{ranks}", str(r)) for part in sys.argv[4:]] + [str(first), str(count)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=300)
        got = run.stdout.split("\n")[:-1]
        if run.returncode != 0 or got != wanted:
            at = next((k for k, (a, b) in enumerate(zip(got, wanted)) if a != b), min(len(got), len(wanted)))
            print(f"{r} ranks: status {run.returncode}, {len(got)} lines, {len(wanted)} expected; line {at}: "
                  f"{got[at:at + 1]}, not {wanted[at:at + 1]}\n{run.stderr}")
            return 1
    print(f"{count} cases, {len(ranks)} numbers of ranks: same bits")
    return 0


sys.exit(main())
