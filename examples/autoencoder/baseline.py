#!/usr/bin/env python3
"""Encodes the same images by principal components, for comparison: baseline.py SOURCE [SEED…]. It
needs scikit-learn."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "digits"))
from images import from_csv
from sklearn.decomposition import PCA


def main():
    source, *seeds = sys.argv[1:]
    for components in 8, 16:
        errors = []
        for seed in seeds or ["1"]:
            learned, held = ([[v / 16 for v in image] for image, _ in part]
                             for part in from_csv(pathlib.Path(source), random.Random(int(seed))))
            model = PCA(components, svd_solver="full").fit(learned)
            errors.append(((model.inverse_transform(model.transform(held)) - held) ** 2).mean())
        print(f"{components} principal components: " + ", ".join(f"{e:.5f}" for e in errors))


main()
