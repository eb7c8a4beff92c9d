#!/usr/bin/env python3
"""Classifies the same images by methods of scikit-learn: baseline.py SOURCE [SEED…]. It needs
scikit-learn."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "digits"))
from images import from_csv
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

METHODS = {
    "logistic regression": LogisticRegression(max_iter=10000),
    "nearest neighbour": KNeighborsClassifier(1),
    "network with 128 hidden units": MLPClassifier(128, max_iter=1000, random_state=0),
    "support vectors (radial)": SVC(),
}


def main():
    source, *seeds = sys.argv[1:]
    for name, method in METHODS.items():
        shares = []
        for seed in seeds or ["1"]:
            learned, held = from_csv(pathlib.Path(source), random.Random(int(seed)))
            method.fit([[v / 16 for v in image] for image, _ in learned], [label for _, label in learned])
            told = method.predict([[v / 16 for v in image] for image, _ in held])
            shares.append(sum(told == [label for _, label in held]) / len(held))
        print(f"{name}: " + ", ".join(f"{100 * share:.2f} %" for share in shares))


main()
