"""The sum of a step, as the language defines it, for the tests of steps and ranks."""

import operator


def tree_sum(values, add=operator.add):
    """In each round, element k of the remaining n becomes element k plus element k + h, where
    h is n / 2 rounded up. None is a gap, to which nothing is added."""
    values = list(values)
    while len(values) > 1:
        half = (len(values) + 1) // 2
        for k, right in enumerate(values[half:]):
            if right is not None:
                values[k] = add(values[k], right)
        values = values[:half]
    return values[0]
