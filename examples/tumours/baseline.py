#!/usr/bin/env python3
"""Classifies the same parts of the table by methods of scikit-learn: baseline.py TABLE.csv
[WEIGHTS.state]. It needs scikit-learn.

If a state is given that tumours.rml has saved for the last part, it also prints the distance of
its weights from scikit-learn's."""
import pathlib
import sys

from cells import standardised
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

METHODS = {
    "the more frequent kind": DummyClassifier(),
    "decision tree": DecisionTreeClassifier(random_state=0),
    "naive Bayes": GaussianNB(),
    "nearest neighbour": KNeighborsClassifier(1),
    "five nearest neighbours": KNeighborsClassifier(5),
    "support vectors (radial)": SVC(),
    "logistic regression": LogisticRegression(tol=1e-10, max_iter=10000),
}


def main():
    for name, method in METHODS.items():
        right = seen = 0
        for part in range(5):
            learned, held = standardised(sys.argv[1], part)
            method.fit(*zip(*learned))
            right += sum(method.predict([x for x, _ in held]) == [malignant for _, malignant in held])
            seen += len(held)
        print(f"{name}: {right} of {seen}, {100 * right / seen:.1f} %")
    if len(sys.argv) > 2:
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/examples"))
        from safetensors import parameters

        ours = parameters(sys.argv[2])["score.w"][0]
        theirs = [*METHODS["logistic regression"].intercept_, *METHODS["logistic regression"].coef_[0]]
        print(f"largest difference of a weight: {max(abs(a - b) for a, b in zip(ours, theirs)):.1e}")


main()
