"""Numbers with derivatives, for tests of derivatives. They are exact to the last bits, while
differences lose half of the digits.

A number has K directions of differentiation. It is an array with K axes. Along axis k, index 0 is
the value itself and index m the derivative by variable m of direction k. Products of two
derivatives of one direction are zero, because a second derivative needs a second direction. A
float is a number without derivatives.
"""
import itertools
import math

import numpy

numpy.seterr(all="ignore")  # results that are not finite are not compared


def variable(value, axis, index, shape):
    """`value` (a number of this shape, or a float) plus the infinitesimal `index` of direction `axis`."""
    number = numpy.zeros(shape)
    if isinstance(value, numpy.ndarray):
        number += value
    else:
        number[(0,) * len(shape)] = value
    place = [0] * len(shape)
    place[axis] = index
    number[tuple(place)] += 1.0
    return number


def gradient(number, axis, index):
    """The derivative of a number by a variable of a direction: a number that is constant in that direction."""
    if not isinstance(number, numpy.ndarray):
        return 0.0
    part = numpy.zeros_like(number)
    first = [slice(None)] * number.ndim
    there = list(first)
    first[axis], there[axis] = 0, index
    part[tuple(first)] = number[tuple(there)]
    return part


def real(number):
    return float(number[(0,) * number.ndim]) if isinstance(number, numpy.ndarray) else number


def add(a, b):
    if isinstance(a, numpy.ndarray) == isinstance(b, numpy.ndarray):
        return a + b
    number, constant = (a, b) if isinstance(a, numpy.ndarray) else (b, a)
    total = number.copy()
    total[(0,) * number.ndim] += constant
    return total


def splits(directions):
    """The ways to distribute some directions over the two factors of a product, so that each
    factor has at least one."""
    for taken in itertools.product([0, 1, 2], repeat=directions):
        if 1 in taken and 2 in taken:
            yield taken


def part(number, taken, factor):
    """The derivatives by the directions of this factor, with axes of length 1 for all other
    directions."""
    return number[tuple(slice(1, None) if t == factor else slice(0, 1) for t in taken)]


def multiply(a, b):
    if not isinstance(a, numpy.ndarray) or not isinstance(b, numpy.ndarray):
        return a * b
    origin = (0,) * a.ndim
    product = a[origin] * b + b[origin] * a
    product[origin] = a[origin] * b[origin]
    for taken in splits(a.ndim):
        place = tuple(slice(1, None) if t else slice(0, 1) for t in taken)
        product[place] += part(a, taken, 1) * part(b, taken, 2)
    return product


def apply(derivatives, number):
    """Applies a function of one number, given its value and as many derivatives at a float as
    there are directions."""
    if not isinstance(number, numpy.ndarray):
        return derivatives(number, 0)[0]
    origin = (0,) * number.ndim
    terms = derivatives(float(number[origin]), number.ndim)
    rest = number.copy()
    rest[origin] = 0.0
    power, total = rest, terms[1] * rest
    for order in range(2, number.ndim + 1):
        power = multiply(power, rest)
        total = total + terms[order] / math.factorial(order) * power
    total[origin] = terms[0]
    return total


def sin_derivatives(x, order):
    return [math.sin(x), math.cos(x), -math.sin(x), -math.cos(x)][:order + 1]


def exp_derivatives(x, order):
    return [math.exp(x)] * (order + 1)


def tanh_derivatives(x, order):
    t = math.tanh(x)
    s = 1.0 - t * t
    return [t, s, -2.0 * t * s, s * (6.0 * t * t - 2.0)][:order + 1]


def reciprocal_derivatives(x, order):
    return [1.0 / x, -1.0 / x**2, 2.0 / x**3, -6.0 / x**4][:order + 1]


def sigmoid_derivatives(x, order):
    s = 0.5 * (1.0 + math.tanh(0.5 * x))
    d = s * (1.0 - s)
    return [s, d, d * (1.0 - 2.0 * s), d * (1.0 - 6.0 * s + 6.0 * s * s)][:order + 1]


def sqrt_derivatives(x, order):
    r = math.sqrt(x)
    return [r, 0.5 / r, -0.25 / (r * x), 0.375 / (r * x * x)][:order + 1]


def log_derivatives(x, order):
    return [math.log(x), 1.0 / x, -1.0 / x**2, 2.0 / x**3][:order + 1]


def abs_derivatives(x, order):
    return [abs(x), (x > 0.0) - (x < 0.0), 0.0, 0.0][:order + 1]


FUNCTIONS = {"sin": sin_derivatives, "exp": exp_derivatives, "tanh": tanh_derivatives, "sigmoid": sigmoid_derivatives,
             "sqrt": sqrt_derivatives, "log": log_derivatives, "abs": abs_derivatives}


def function(name, x):
    return apply(FUNCTIONS[name], x)


def divide(a, b):
    return multiply(a, apply(reciprocal_derivatives, b))
