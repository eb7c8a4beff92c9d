#!/usr/bin/env python3
"""Makes lowering/llvm/scalars/function_coefficients.h: the polynomials of the inlined functions.

    scripts/function_coefficients.py > lowering/llvm/scalars/function_coefficients.h      (needs mpmath)

Each is a minimax approximation of the relative error (exchange algorithm on a grid, 200 bits).
Rationals are found by solving the linearised problem, with the denominator of the round before as
weight. Coefficients that are floats are rounded one after the other, and the remaining ones are
fitted again each time. The comment above each table names the approximated function.
"""
import struct

import mpmath
from mpmath import lu_solve, matrix, mp, mpf

mp.prec = 200
ROOT2 = mpmath.sqrt(2)
HALF_LN2 = mpmath.log(2) / 2 * mpf("1.0001")
QUARTER_PI = mpmath.pi / 4 * mpf("1.0005")
TINY = mpf(10) ** -20


def fewer(runs, errors, wanted):
    """Removes the smallest of alternating extremes until the wanted number remains, still
    alternating."""
    runs = list(runs)
    size = lambda i: abs(errors[runs[i]])
    while len(runs) > wanted:
        i = min(range(len(runs)), key=size)
        last = len(runs) - 1
        if len(runs) == wanted + 1:
            runs.pop(0 if size(0) < size(last) else last)
        elif i in (0, last):
            runs.pop(i)
        else:
            j = i - 1 if size(i - 1) < size(i + 1) else i + 1
            for k in sorted((i, j), reverse=True):
                runs.pop(k)
    return runs


def fit(basis, target, weight, low, high, points=1200):
    """Coefficients of the combination of `basis` that is nearest to `target`, and the largest
    weighted error."""
    n = len(basis)
    xs = [(low + high) / 2 - (high - low) / 2 * mpmath.cos(mpmath.pi * (i + mpf(1) / 2) / points) for i in range(points)]
    rows = [[b(x) for b in basis] for x in xs]
    wanted = [target(x) for x in xs]
    weights = [weight(x) for x in xs]
    places = [int(points * (i + 0.5) / (n + 1)) for i in range(n + 1)]
    best = None
    for _ in range(30):
        system, right = matrix(n + 1, n + 1), matrix(n + 1, 1)
        for i, k in enumerate(places):
            for j in range(n):
                system[i, j] = rows[k][j]
            system[i, n] = (-1) ** i / weights[k]
            right[i] = wanted[k]
        solution = lu_solve(system, right)
        found = [solution[j] for j in range(n)]
        errors = [w * (mpmath.fdot(found, r) - t) for w, r, t in zip(weights, rows, wanted)]
        largest = max(abs(e) for e in errors)
        if best is None or largest < best[1]:
            best = found, largest
        if largest <= abs(solution[n]) * mpf("1.001"):
            break
        runs = []
        for k, e in enumerate(errors):
            if not runs or (e > 0) != (errors[runs[-1]] > 0):
                runs.append(k)
            elif abs(e) > abs(errors[runs[-1]]):
                runs[-1] = k
        if len(runs) <= n:
            break
        places = fewer(runs, errors, n + 1)
    return best


def rounded_fit(basis, target, weight, low, high, points=1200):
    """Like the fit above, with coefficients that are floats."""
    fixed, error = [], None
    for k in range(len(basis)):
        known = list(zip(fixed, basis))
        rest = lambda x: target(x) - sum(c * b(x) for c, b in known)
        c, error = fit(basis[k:], rest, weight, low, high, points)
        fixed.append(mpf(struct.unpack("f", struct.pack("f", float(c[0])))[0]))
    return fixed, error


def fit_for(name, *arguments):
    return (rounded_fit if name.endswith("_f32") else fit)(*arguments)


def powers(count, scale=lambda x: 1, first=0):
    return [lambda x, k=k: scale(x) * x**k for k in range(first, first + count)]


def rational(f, numerator, denominator, low, high, weight, unit=False, narrow=False):
    """(1 or c0) + c1 x + … over 1 + d1 x + …; with `unit`, f(0) is 1 and so is c0."""
    first, at_zero = (1, 1) if unit else (0, 0)
    q, before = (lambda x: mpf(1)), None
    for _ in range(12):
        basis = powers(numerator, first=first) + powers(denominator, lambda x: -f(x), 1)
        c, error = fit(basis, lambda x: f(x) - at_zero, lambda x: weight(x) / abs(q(x)), low, high, 500)
        d = tuple(c[numerator:])
        q = lambda x, d=d: 1 + sum(v * x ** (k + 1) for k, v in enumerate(d))
        if before is not None and abs(error - before) < before / 100:
            break
        before = error
    if not narrow:
        return c[:numerator], list(d), error
    d = [mpf(struct.unpack("f", struct.pack("f", float(v)))[0]) for v in d]
    q = lambda x: 1 + sum(v * x ** (k + 1) for k, v in enumerate(d))
    c, error = rounded_fit(powers(numerator, first=first), lambda x: f(x) * q(x) - at_zero,
                           lambda x: weight(x) / abs(q(x)), low, high, 500)
    return c, d, error


def after(f, known, power):
    """Returns the remainder of a series after its known terms, divided by the common power of x."""
    return lambda x: (f(x) - sum(c * x**k for k, c in known.items())) / x**power


def table(comment, name, coefficients, error):
    print(f"// {comment}: 2^{float(mpmath.log(error, 2)):.1f}")
    print(f"inline constexpr double {name}[] = {{")
    for c in coefficients:
        print(f"    {mpmath.nstr(c, 18)},")
    print("};")


def series():
    exp = after(mpmath.exp, {0: 1, 1: 1}, 2)
    near = lambda f, at_zero: lambda x: f(x) if abs(x) > TINY else at_zero
    for name, count in (("exp_f32", 5), ("exp_f64", 11)):
        c, e = fit_for(name, powers(count), near(exp, mpf(1) / 2), lambda r: r * r / mpmath.exp(r) + TINY, -HALF_LN2, HALF_LN2)
        table("exp(r) = 1 + r + r^2 P(r), |r| <= ln 2 / 2", name, c, e)
    for name, count in (("expm1_f32", 6), ("expm1_f64", 11)):
        c, e = fit_for(name, powers(count), near(exp, mpf(1) / 2), lambda r: abs(r * r / mpmath.expm1(r)) + TINY, -HALF_LN2, HALF_LN2)
        table("exp(r) - 1 = r + r^2 P(r), relative to itself", name, c, e)
    log = near(after(mpmath.log1p, {1: 1, 2: mpf(-1) / 2}, 3), mpf(1) / 3)
    c, e = rounded_fit(powers(8), log, lambda f: abs(f**3 / mpmath.log1p(f)) + TINY, ROOT2 / 2 - 1, ROOT2 - 1)
    table("log(1 + f) = f - f^2 / 2 + f^3 P(f), 1 + f between the roots of 1/2 and 2", "log_f32", c, e)
    top = ((ROOT2 - 1) / (ROOT2 + 1)) ** 2 * mpf("1.001")
    atanh = lambda z: (mpmath.atanh(mpmath.sqrt(z)) * 2 / mpmath.sqrt(z) - 2) / z
    c, e = fit(powers(7), atanh, lambda z: z / 2, mpf(10) ** -18, top)
    table("log((1 + s) / (1 - s)) = 2 s + s z P(z), z = s^2", "log_f64", c, e)
    for name, count in (("sin_f32", 3), ("sin_f64", 6)):
        sin = lambda z: (mpmath.sin(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z
        c, e = fit_for(name, powers(count), sin, lambda z: z, mpf(10) ** -14, QUARTER_PI**2)
        table("sin(r) = r (1 + z P(z)), z = r^2, |r| <= pi / 4", name, c, e)
    join = mpf("0.92")
    erf = lambda z: mpmath.erf(mpmath.sqrt(z)) / mpmath.sqrt(z)
    c, e = rounded_fit(powers(6), lambda z: erf(z) - 1, lambda z: 1 / erf(z), mpf(10) ** -10, join**2)
    table("erf(x) = x (1 + P(z)), z = x^2, |x| <= 0.92", "erf_near_f32", c, e)
    c, e = rounded_fit(powers(7), lambda x: mpmath.log(mpmath.erfc(x)), lambda x: mpmath.erfc(x) / mpmath.erf(x), join, mpf("3.95"))
    table("erf(x) = 1 - exp(P(x)), 0.92 <= x <= 3.95", "erf_far_f32", c, e)
    for name, count in (("cos_f32", 3), ("cos_f64", 6)):
        cos = lambda z: (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2
        c, e = fit_for(name, powers(count), cos, lambda z: z * z, mpf(10) ** -10, QUARTER_PI**2)
        table("cos(r) = 1 - z / 2 + z^2 P(z)", name, c, e)


def rationals():
    small = mpf(10) ** -10
    odd = lambda f: lambda z: f(mpmath.sqrt(z)) / mpmath.sqrt(z)
    erf, half = odd(mpmath.erf), odd(lambda x: 2 * mpmath.tanh(x / 2))
    scaled = lambda x: mpmath.erfc(x) * mpmath.exp(x * x)
    cases = [
        ("2 tanh(x / 2) = x P(z) / Q(z), z = x^2, |x| <= 9.02; error of tanh(x); P and Q without their 1", "tanh_f32",
         rational(half, 2, 3, small, mpf("9.02") ** 2, lambda z: mpmath.sech(mpmath.sqrt(z)) / half(z), unit=True,
                  narrow=True)),
        ("erf(x) = x P(z) / Q(z), |x| <= 1; Q without its 1", "erf_near_f64",
         rational(erf, 6, 5, small, mpf(1), lambda z: 1 / erf(z))),
        ("erf(x) = 1 - exp(-x^2) P(x) / Q(x), 1 <= x <= 5.95; Q without its 1", "erf_far_f64",
         rational(scaled, 7, 6, mpf("0.999"), mpf("5.95"), lambda x: mpmath.exp(-x * x))),
    ]
    for comment, name, (numerator, denominator, error) in cases:
        table(comment, name + "_numerator", numerator, error)
        table("its denominator", name + "_denominator", denominator, error)


def main():
    print("// Coefficients of polynomials and rational functions, generated by scripts/function_coefficients.py. Lowest power")
    print("// first; errors are those of exact arithmetic.")
    print("#pragma once\n\nnamespace rml::codegen::coefficients {\n")
    series()
    rationals()
    print("\n}  // namespace rml::codegen::coefficients")


main()
