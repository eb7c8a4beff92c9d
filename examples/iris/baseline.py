#!/usr/bin/env python3
"""Classifies the same parts of the table by methods of scikit-learn: baseline.py TABLE.csv. It
needs scikit-learn."""
import sys

from flowers import parts
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

METHODS = {
    "the most frequent species": DummyClassifier(),
    "nearest centroid": NearestCentroid(),
    "decision tree": DecisionTreeClassifier(random_state=0),
    "nearest neighbour": KNeighborsClassifier(1),
    "logistic regression": LogisticRegression(),
    "linear discriminant": LinearDiscriminantAnalysis(),
}


def main():
    folds = parts(sys.argv[1])
    for name, method in METHODS.items():
        right = 0
        for k, held in enumerate(folds):
            learned = sum(folds[:k] + folds[k + 1 :], [])
            model = make_pipeline(StandardScaler(), method)
            model.fit([x for x, _ in learned], [species for _, species in learned])
            right += sum(model.predict([x for x, _ in held]) == [species for _, species in held])
        print(f"{name}: {right} of {sum(map(len, folds))}")


main()
