// Systems of linear equations, inverses, and powers.
//
// A row-major matrix appears to LAPACK as its transpose, so systems are solved with the transpose
// of the factored matrix.
#include "runtime/kernels/lapack.h"
#include "runtime/lapack/matrices.h"
#include "runtime/lapack/small.h"

namespace {

using namespace rml::lapack;

template <class T>
struct SolvePieces {
  T *lu, *right;
  Int* pivots;
  SolvePieces(Pieces& pieces, std::int64_t n, std::int64_t columns)
      : lu(pieces.take<T>(n * n)), right(pieces.take<T>(n * columns)), pivots(pieces.take<Int>(n)) {}
};

template <class T>
struct FactorPieces {
  T *lu, *base, *product;
  Int* pivots;
  FactorPieces(Pieces& pieces, std::int64_t n)
      : lu(pieces.take<T>(n * n)),
        base(pieces.take<T>(n * n)),
        product(pieces.take<T>(n * n)),
        pivots(pieces.take<Int>(n)) {}
};

template <template <class> class Kind, class... Extents>
std::int64_t bytes_of(std::int64_t size, Extents... extents) {
  Pieces pieces;
  if (size == 4)
    Kind<float>(pieces, extents...);
  else
    Kind<double>(pieces, extents...);
  return pieces.bytes();
}

// For each system of the batch, calls prepare(pieces, matrix, n) when the matrix of a changes,
// and then solve(…), in place, on the right-hand side by columns. Small systems are solved by
// solve_small(pieces, matrix, right-hand side, n, columns, result). All return false if the matrix
// is singular.
template <class T, class Prepare, class Solve, class SolveSmall>
std::int32_t solve_each(const rml_kernel_call* call, Prepare prepare, Solve solve, SolveSmall solve_small) {
  const rml_array& result = *call->result;
  const bool vector = call->operands[1].rank == 1;
  const Matrices a(call->operands[0]), b(call->operands[1], vector);
  const std::int64_t n = a.rows, columns = b.columns;
  const std::uint32_t rank = result.rank - (vector ? 1 : 2);
  std::int64_t count = 1;
  for (std::uint32_t k = 0; k < rank; ++k) count *= result.extents[k];
  if (count * n * columns == 0) return RML_OK;
  Pieces pieces(call->scratch);
  const SolvePieces<T> own(pieces, n, columns);
  std::int64_t prepared = -1;
  bool finite = true;
  for (std::int64_t at = 0; at < count; ++at) {
    const std::int64_t which = broadcast_place(a, result.extents, rank, at);
    const T* matrix = elements<const T>(call->operands[0]) + which * n * n;
    T* out = elements<T>(result) + at * n * columns;
    if (which != prepared) {
      finite = all_finite(matrix, n * n);
      if (finite && n > small::most_rows && !prepare(own, matrix, n)) return RML_FAULT_NUMERIC;
      prepared = which;
    }
    if (!finite) {
      fill_nan(out, n * columns);
      continue;
    }
    const T* right = elements<const T>(call->operands[1]) + broadcast_place(b, result.extents, rank, at) * n * columns;
    if (n <= small::most_rows) {
      if (!solve_small(own, matrix, right, n, columns, out)) return RML_FAULT_NUMERIC;
      continue;
    }
    transpose(right, n, columns, own.right);
    if (!solve(own, matrix, n, columns)) return RML_FAULT_NUMERIC;
    transpose(own.right, columns, n, out);
  }
  return RML_OK;
}

// Calls body(matrix, result) for each n × n matrix of the operand and each piece of the result.
// If a matrix is not finite, its result is NaN.
template <class T, class Body>
std::int32_t each_square(const rml_kernel_call* call, std::int64_t size, Body body) {
  const Matrices a(call->operands[0]);
  for (std::int64_t at = 0; at < a.count; ++at) {
    const T* matrix = elements<const T>(call->operands[0]) + at * a.elements();
    T* out = elements<T>(*call->result) + at * size;
    if (!all_finite(matrix, a.elements()))
      fill_nan(out, size);
    else if (!body(matrix, out))
      return RML_FAULT_NUMERIC;
  }
  return RML_OK;
}

template <class T>
void multiply(const T* a, const T* b, std::int64_t n, T* to) {
  std::fill_n(to, n * n, T(0));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < n; ++k) {
      for (std::int64_t j = 0; j < n; ++j) to[i * n + j] += a[i * n + k] * b[k * n + j];
    }
  }
}

// Computes a power by repeated squaring. `base` holds the matrix and is overwritten.
template <class T>
void power(const FactorPieces<T>& own, std::int64_t n, std::uint64_t exponent, T* out) {
  std::fill_n(out, n * n, T(0));
  for (std::int64_t i = 0; i < n; ++i) out[i * n + i] = 1;
  for (bool first = true; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) {
      if (first) {
        std::copy_n(own.base, n * n, out);
      } else {
        multiply(out, own.base, n, own.product);
        std::copy_n(own.product, n * n, out);
      }
      first = false;
    }
    if (exponent > 1) {
      multiply(own.base, own.base, n, own.product);
      std::copy_n(own.product, n * n, own.base);
    }
  }
}

}  // namespace

extern "C" {

std::int64_t rml_lapack_solve_bytes(std::int64_t n, std::int64_t columns, std::int64_t size) {
  return bytes_of<SolvePieces>(size, n, columns);
}

std::int64_t rml_lapack_factor_bytes(std::int64_t n, std::int64_t size) { return bytes_of<FactorPieces>(size, n); }

std::int32_t rml_lapack_solve(rml_kernel_call* call) {
  return for_float(call, [&]<class T>() {
    return solve_each<T>(
        call,
        [](const SolvePieces<T>& own, const T* matrix, std::int64_t n) {
          std::copy_n(matrix, n * n, own.lu);
          return getrf(Int(n), own.lu, own.pivots) == 0;
        },
        [](const SolvePieces<T>& own, const T*, std::int64_t n, std::int64_t columns) {
          return getrs('T', Int(n), Int(columns), own.lu, own.pivots, own.right) == 0;
        },
        [](const SolvePieces<T>& own, const T* matrix, const T* right, std::int64_t n, std::int64_t columns, T* out) {
          std::copy_n(matrix, n * n, own.lu);
          std::copy_n(right, n * columns, own.right);
          return small::solve(own.lu, own.right, n, columns, out);
        });
  });
}

std::int32_t rml_lapack_triangular_solve(rml_kernel_call* call) {
  const bool lower = call->attributes[0].integers[0] != 0, unit = call->attributes[1].integers[0] != 0;
  return for_float(call, [&]<class T>() {
    return solve_each<T>(
        call, [](const SolvePieces<T>&, const T*, std::int64_t) { return true; },
        [&](const SolvePieces<T>& own, const T* matrix, std::int64_t n, std::int64_t columns) {
          return trtrs(lower ? 'U' : 'L', 'T', unit ? 'U' : 'N', Int(n), Int(columns), matrix, own.right) == 0;
        },
        [&](const SolvePieces<T>&, const T* matrix, const T* right, std::int64_t n, std::int64_t columns, T* out) {
          return small::solve_triangular(matrix, right, n, columns, lower, unit, out);
        });
  });
}

std::int32_t rml_lapack_inverse(rml_kernel_call* call) {
  const std::int64_t n = Matrices(*call->result).rows;
  return for_float(call, [&]<class T>() {
    Pieces pieces(call->scratch);
    const FactorPieces<T> own(pieces, n);
    return each_square<T>(
        call, n * n, [&](const T* matrix, T* out) { return n == 0 || invert(matrix, n, own.lu, own.pivots, out); });
  });
}

std::int32_t rml_lapack_cholesky(rml_kernel_call* call) {
  const std::int64_t n = Matrices(*call->result).rows;
  return for_float(call, [&]<class T>() {
    return each_square<T>(call, n * n, [&](const T* matrix, T* out) {
      if (n == 0) return true;
      symmetrise(matrix, n, out);
      if (n <= small::most_rows ? !small::factor(out, n) : potrf('U', Int(n), out) != 0) return false;
      for (std::int64_t i = 0; i < n; ++i) std::fill(out + i * n + i + 1, out + (i + 1) * n, T(0));
      return true;
    });
  });
}

std::int32_t rml_lapack_matrix_power(rml_kernel_call* call) {
  const std::int64_t n = Matrices(*call->result).rows, exponent = call->attributes[0].integers[0];
  const std::uint64_t size = exponent < 0 ? 0 - static_cast<std::uint64_t>(exponent) : std::uint64_t(exponent);
  return for_float(call, [&]<class T>() {
    Pieces pieces(call->scratch);
    const FactorPieces<T> own(pieces, n);
    return each_square<T>(call, n * n, [&](const T* matrix, T* out) {
      if (n == 0) return true;
      if (exponent >= 0)
        std::copy_n(matrix, n * n, own.base);
      else if (!invert(matrix, n, own.lu, own.pivots, own.base))
        return false;
      power(own, n, size, out);
      return true;
    });
  });
}

}  // extern "C"
