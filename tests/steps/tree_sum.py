"""The sum of a step, as the language describes it: what steps and ranks are held to."""

import operator


def tree_sum(values, add=operator.add):
    """Of n that are left, number k becomes k + (k + h), h the half of n, rounded up. None is a gap: nothing is added."""
    values = list(values)
    while len(values) > 1:
        half = (len(values) + 1) // 2
        for k, right in enumerate(values[half:]):
            if right is not None:
                values[k] = add(values[k], right)
        values = values[:half]
    return values[0]
