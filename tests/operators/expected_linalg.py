"""Linear algebra: the results of NumPy's functions of the same names, in f64 and rounded.

The library may choose the signs of singular vectors and eigenvectors. Therefore this script has
only the parts of svd_parts and eigh_parts without a sign; tests/stdlib has the rest.
"""
import numpy as np

FLOATS = {"f32": (np.float32, 5e-3), "f64": (np.float64, 1e-10)}
BATCHES = [(), (2,), (2, 1, 2)]


def regular(rng, shape, dtype):
    """Random matrices that are far from singular."""
    n = shape[-1]
    return (rng.uniform(-1, 1, shape) + 2 * np.eye(shape[-2], n)).astype(dtype)


def inverses(a):
    return np.linalg.inv(a.astype(np.float64)) if a.size else a.astype(np.float64)


def systems(case, fault, rng):
    for dtype, tolerance in FLOATS.values():
        for n in (1, 2, 5, 0):
            for batch in BATCHES:
                a = regular(rng, batch + (n, n), dtype)
                for right in ((n,), batch + (n, 3), (2, 1, 1, n, 2), (n, 0)):
                    b = rng.uniform(-1, 1, right).astype(dtype)
                    columns = b[:, None] if b.ndim == 1 else b
                    x = np.matmul(inverses(a), columns.astype(np.float64))
                    x = (x[..., 0] if b.ndim == 1 else x).astype(dtype)
                    case("solve", [a, b], x, tolerance)
                    for lower in (0, 1):
                        for unit in (0, 1):
                            t = np.tril(a) if lower else np.triu(a)
                            if unit:
                                t = t - t * np.eye(n) + np.eye(n)
                            x = np.matmul(inverses(t), columns.astype(np.float64))
                            x = (x[..., 0] if b.ndim == 1 else x).astype(dtype)
                            case("triangular_solve", [a, b], x, tolerance, lower=lower, unit=unit)
                case("inverse", [a], inverses(a).astype(dtype), tolerance)
                for power in (-3, -1, 0, 1, 2, 7):
                    value = np.linalg.matrix_power(a.astype(np.float64), power) if a.size else a
                    case("matrix_power", [a], value.astype(dtype), tolerance * 10, n=power)
        singular = np.array([[[1, 0], [0, 1]], [[1, 2], [2, 4]]], dtype)
        fault("solve", [singular, np.ones(2, dtype)], 7)
        fault("triangular_solve", [np.array([[1, 5], [7, 0]], dtype), np.ones(2, dtype)], 7)
        fault("inverse", [singular], 7)
        fault("matrix_power", [singular], 7, n=-2)
        # Only a matrix that contains a NaN or an infinity has NaN as its result.
        broken = np.array([[[1, 0], [np.inf, 1]], [[2, 0], [0, 2]]], dtype)
        value = np.array([np.full((2, 2), np.nan), np.eye(2) / 2], dtype)
        case("solve", [broken, np.eye(2, dtype=dtype)], value)
        case("inverse", [broken], value)
        case("triangular_solve", [broken, np.eye(2, dtype=dtype)], value)


def determinants(case, fault, rng):
    for dtype, tolerance in FLOATS.values():
        for n in (0, 1, 2, 5):
            for batch in BATCHES:
                a = rng.uniform(-1, 1, batch + (n, n)).astype(dtype)
                wide = a.astype(np.float64)
                case("det", [a], np.linalg.det(wide).astype(dtype), tolerance)
                sign, logarithm = np.linalg.slogdet(wide)
                case("slogdet_parts", [a], np.stack([sign, logarithm], -1).astype(dtype), tolerance)
                cofactors = np.zeros_like(wide)
                for i in range(n):
                    for j in range(n):
                        minor = np.delete(np.delete(wide, i, -2), j, -1)
                        cofactors[..., i, j] = (-1) ** (i + j) * np.linalg.det(minor)
                case("cofactor", [a], cofactors.astype(dtype), tolerance * 10)
        low = np.array([[1, 2, 3], [2, 4, 6], [1, 0, 1]], dtype)
        case("det", [low], dtype(0), tolerance)
        case("slogdet_parts", [low], np.array([0, -np.inf], dtype))
        case("det", [np.array([[1, np.nan], [0, 1]], dtype)], dtype(np.nan))
        # The product of the pivots overflows, and its logarithm does not.
        large = np.diag(np.full(4, np.finfo(dtype).max / 2)).astype(dtype)
        case("det", [large], dtype(np.inf))
        case("slogdet_parts", [large], np.array([1, 4 * np.log(np.finfo(dtype).max / 2)], dtype), tolerance)


def factors(case, fault, rng):
    for dtype, tolerance in FLOATS.values():
        for batch in BATCHES:
            for n in (0, 1, 2, 5):
                a = regular(rng, batch + (n, n), dtype)
                positive = np.matmul(a, np.swapaxes(a, -1, -2))
                symmetric = (positive.astype(np.float64) + np.swapaxes(positive, -1, -2)) / 2
                case("cholesky", [positive], np.linalg.cholesky(symmetric).astype(dtype), tolerance)
                skew = a - np.swapaxes(a, -1, -2)  # the antisymmetric part, which the operator ignores
                case("cholesky", [positive + skew], np.linalg.cholesky(symmetric).astype(dtype), tolerance * 4)
            for m, n in ((3, 3), (5, 2), (2, 5), (1, 1), (4, 1), (1, 4), (0, 3), (3, 0)):
                a = rng.uniform(-1, 1, batch + (m, n)).astype(dtype)
                q, r = np.linalg.qr(a.astype(np.float64)) if a.size else (np.zeros(batch + (0,)), np.zeros(batch + (0,)))
                parts = [x.reshape(batch + (-1,) if x.size else batch + (0,)) for x in (q, r)]
                case("qr_parts", [a], np.concatenate(parts, -1).astype(dtype), tolerance)
        fault("cholesky", [np.array([[1, 2], [2, 1]], dtype)], 7)
        fault("cholesky", [np.zeros((1, 1), dtype)], 7)
        broken = np.array([[[np.nan, 0], [0, 1]], [[2, 0], [0, 2]]], dtype)
        nan = lambda size: np.full((1, size), np.nan, dtype)
        for op, size in (("qr_parts", 8), ("svd_parts", 10), ("eigh_parts", 6)):
            case(op, [broken[:1]], nan(size))
            case(op, [np.zeros((2, 0, 0), dtype)], np.zeros((2, 0), dtype))
        case("svd_parts", [np.zeros((3, 0), dtype)], np.zeros(0, dtype))


def pivots(case, fault, rng):
    for dtype, _ in FLOATS.values():
        x = np.array([[2, 1e-30, np.inf], [3, 0.5, 1]], dtype)
        case("positive_pivot", [x], x)
        for bad in (0.0, -0.0, -1.0, np.nan):
            fault("positive_pivot", [np.array([1, bad], dtype)], 7)
        y = np.array([[2, -1e-30, -np.inf], [3, np.nan, -1]], dtype)
        case("nonzero_pivot", [y], y)
        for bad in (0.0, -0.0):
            fault("nonzero_pivot", [np.array([1, bad], dtype)], 7)


def add(case, fault):
    rng = np.random.default_rng(41)
    for section in (systems, determinants, factors, pivots):
        section(case, fault, rng)
