// Computes determinants and their derivatives.
#include "runtime/kernels/lapack.h"
#include "runtime/lapack/matrices.h"

namespace {

using namespace rml::lapack;

template <class T>
struct CofactorPieces {
  T *a, *u, *vt, *s, *others, *work;
  Int* pivots;
  std::int64_t work_size;
  CofactorPieces(Pieces& pieces, std::int64_t n)
      : a(pieces.take<T>(n * n)),
        u(pieces.take<T>(n * n)),
        vt(pieces.take<T>(n * n)),
        s(pieces.take<T>(n)),
        others(pieces.take<T>(n)),
        work(pieces.take<T>((3 + 2 * block) * n + 64)),
        pivots(pieces.take<Int>(n)),
        work_size((3 + 2 * block) * n + 64) {}
};

// True if the row exchanges of the pivots change the sign of the determinant.
bool odd(const Int* pivots, std::int64_t n) {
  bool result = false;
  for (std::int64_t i = 0; i < n; ++i) result ^= pivots[i] != i + 1;
  return result;
}

// The determinant of an orthogonal matrix, 1 or -1; the matrix is overwritten.
template <class T>
T orthogonal_sign(T* q, std::int64_t n, Int* pivots) {
  getrf(Int(n), q, pivots);
  bool negative = odd(pivots, n);
  for (std::int64_t i = 0; i < n; ++i) negative ^= q[i * n + i] < 0;
  return negative ? T(-1) : T(1);
}

// For a = U S Vᵀ, the matrix of cofactors is det U det V U C Vᵀ, where C contains, for each
// singular value, the product of the others. It exists even if the inverse does not.
template <class T>
bool cofactor(const CofactorPieces<T>& own, const T* matrix, std::int64_t n, T* out) {
  std::copy_n(matrix, n * n, own.a);
  if (gesvd(Int(n), Int(n), own.a, own.s, own.vt, own.u, own.work, Int(own.work_size)) != 0) return false;
  std::copy_n(own.u, n * n, own.a);
  T sign = orthogonal_sign(own.a, n, own.pivots);
  std::copy_n(own.vt, n * n, own.a);
  sign *= orthogonal_sign(own.a, n, own.pivots);
  T before = sign;
  for (std::int64_t k = 0; k < n; before *= own.s[k++]) own.others[k] = before;
  T after = 1;
  for (std::int64_t k = n; k-- > 0; after *= own.s[k]) own.others[k] *= after;
  std::fill_n(out, n * n, T(0));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < n; ++k) {
      const T factor = own.u[i * n + k] * own.others[k];
      for (std::int64_t j = 0; j < n; ++j) out[i * n + j] += factor * own.vt[k * n + j];
    }
  }
  return true;
}

// Calls body(LU, n, negative, result) for each matrix; a result has `size` elements.
template <class T, class Body>
std::int32_t each_factored(const rml_kernel_call* call, std::int64_t size, Body body) {
  const Matrices a(call->operands[0]);
  const std::int64_t n = a.rows;
  Pieces pieces(call->scratch);
  T* lu = pieces.take<T>(n * n);
  Int* pivots = pieces.take<Int>(n);
  for (std::int64_t at = 0; at < a.count; ++at) {
    const T* matrix = elements<const T>(call->operands[0]) + at * n * n;
    T* out = elements<T>(*call->result) + at * size;
    if (!all_finite(matrix, n * n)) {
      fill_nan(out, size);
      continue;
    }
    std::copy_n(matrix, n * n, lu);
    if (n > 0) getrf(Int(n), lu, pivots);
    body(lu, n, odd(pivots, n), out);
  }
  return RML_OK;
}

}  // namespace

extern "C" {

std::int64_t rml_lapack_cofactor_bytes(std::int64_t n, std::int64_t size) {
  Pieces pieces;
  if (size == 4)
    CofactorPieces<float>(pieces, n);
  else
    CofactorPieces<double>(pieces, n);
  return pieces.bytes();
}

std::int32_t rml_lapack_det(rml_kernel_call* call) {
  return for_float(call, [&]<class T>() {
    return each_factored<T>(call, 1, [](const T* lu, std::int64_t n, bool negative, T* out) {
      T product = negative ? T(-1) : T(1);
      for (std::int64_t i = 0; i < n; ++i) product *= lu[i * n + i];
      *out = product;
    });
  });
}

std::int32_t rml_lapack_slogdet(rml_kernel_call* call) {
  return for_float(call, [&]<class T>() {
    return each_factored<T>(call, 2, [](const T* lu, std::int64_t n, bool negative, T* out) {
      T logarithm = 0, sign = negative ? T(-1) : T(1);
      for (std::int64_t i = 0; i < n; ++i) {
        const T pivot = lu[i * n + i];
        logarithm += std::log(std::fabs(pivot));
        if (pivot < 0) sign = -sign;
        if (pivot == 0) sign = 0;
      }
      out[0] = sign;
      out[1] = logarithm;
    });
  });
}

std::int32_t rml_lapack_cofactor(rml_kernel_call* call) {
  const Matrices a(call->operands[0]);
  return for_float(call, [&]<class T>() -> std::int32_t {
    Pieces pieces(call->scratch);
    const CofactorPieces<T> own(pieces, a.rows);
    for (std::int64_t at = 0; at < a.count; ++at) {
      const T* matrix = elements<const T>(call->operands[0]) + at * a.elements();
      T* out = elements<T>(*call->result) + at * a.elements();
      if (!all_finite(matrix, a.elements()))
        fill_nan(out, a.elements());
      else if (a.rows > 0 && !cofactor(own, matrix, a.rows, out))
        return RML_FAULT_NUMERIC;
    }
    return RML_OK;
  });
}

}  // extern "C"
