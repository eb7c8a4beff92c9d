// Decompositions. The resulting matrices are stored one after the other in one row.
#include "runtime/kernels/lapack.h"
#include "runtime/lapack/matrices.h"

namespace {

using namespace rml::lapack;

template <class T>
struct QrPieces {
  T *a, *tau, *work;
  std::int64_t work_size;
  QrPieces(Pieces& pieces, std::int64_t m, std::int64_t n)
      : a(pieces.take<T>(m * n)),
        tau(pieces.take<T>(std::min(m, n))),
        work(pieces.take<T>(block * (m + n))),
        work_size(block * (m + n)) {}
};

template <class T>
struct SvdPieces {
  T *a, *work;
  Int* integers;
  std::int64_t work_size;
  SvdPieces(Pieces& pieces, std::int64_t m, std::int64_t n)
      : a(pieces.take<T>(m * n)),
        work(pieces.take<T>(size(m, n))),
        integers(pieces.take<Int>(8 * std::min(m, n))),
        work_size(size(m, n)) {}
  // Size of the workspace for divide and conquer, and of the columns for the blocked routines.
  static std::int64_t size(std::int64_t m, std::int64_t n) {
    const std::int64_t k = std::min(m, n);
    return 4 * k * k + 7 * k + block * (m + n) + 64;
  }
};

template <class T>
struct EighPieces {
  T *v, *work;
  Int* integers;
  std::int64_t work_size;
  EighPieces(Pieces& pieces, std::int64_t n)
      : v(pieces.take<T>(n * n)),
        work(pieces.take<T>(size(n))),
        integers(pieces.take<Int>(5 * n + 3)),
        work_size(size(n)) {}
  static std::int64_t size(std::int64_t n) { return 2 * n * n + (block + 6) * n + 1; }
};

template <class T>
bool qr(const QrPieces<T>& own, const T* matrix, std::int64_t m, std::int64_t n, T* out) {
  const std::int64_t k = std::min(m, n);
  transpose(matrix, m, n, own.a);
  if (geqrf(Int(m), Int(n), own.a, own.tau, own.work, Int(own.work_size)) != 0) return false;
  T* r = out + m * k;
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t j = 0; j < n; ++j) r[i * n + j] = j < i ? T(0) : own.a[j * m + i];
  }
  if (orgqr(Int(m), Int(k), Int(k), own.a, own.tau, own.work, Int(own.work_size)) != 0) return false;
  transpose(own.a, k, m, out);
  return true;
}

// LAPACK sees the transpose Aᵀ = V S Uᵀ: V by columns is Vᵀ by rows, and Uᵀ is U. Uses divide and
// conquer, and the slower iteration if that does not converge.
template <class T>
bool svd(const SvdPieces<T>& own, const T* matrix, std::int64_t m, std::int64_t n, T* out) {
  const std::int64_t k = std::min(m, n);
  T *u = out, *s = out + m * k, *vt = s + k;
  std::copy_n(matrix, m * n, own.a);
  if (gesdd(Int(n), Int(m), own.a, s, vt, u, own.work, Int(own.work_size), own.integers) == 0) return true;
  std::copy_n(matrix, m * n, own.a);
  return gesvd(Int(n), Int(m), own.a, s, vt, u, own.work, Int(own.work_size)) == 0;
}

template <class T>
bool eigh(const EighPieces<T>& own, const T* matrix, std::int64_t n, T* out) {
  symmetrise(matrix, n, own.v);
  if (syevd('L', Int(n), own.v, out, own.work, Int(own.work_size), own.integers) != 0) return false;
  transpose(own.v, n, n, out + n);
  return true;
}

template <class T, class Body>
std::int32_t each(const rml_kernel_call* call, Body body) {
  const Matrices a(call->operands[0]);
  const std::int64_t size = call->result->extents[call->result->rank - 1];
  for (std::int64_t at = 0; at < a.count; ++at) {
    const T* matrix = elements<const T>(call->operands[0]) + at * a.elements();
    T* out = elements<T>(*call->result) + at * size;
    if (!all_finite(matrix, a.elements()))
      fill_nan(out, size);
    else if (a.elements() > 0 && !body(matrix, a.rows, a.columns, out))
      return RML_FAULT_NUMERIC;
  }
  return RML_OK;
}

}  // namespace

extern "C" {

std::int64_t rml_lapack_qr_bytes(std::int64_t m, std::int64_t n, std::int64_t size) {
  Pieces pieces;
  if (size == 4)
    QrPieces<float>(pieces, m, n);
  else
    QrPieces<double>(pieces, m, n);
  return pieces.bytes();
}

std::int64_t rml_lapack_svd_bytes(std::int64_t m, std::int64_t n, std::int64_t size) {
  Pieces pieces;
  if (size == 4)
    SvdPieces<float>(pieces, m, n);
  else
    SvdPieces<double>(pieces, m, n);
  return pieces.bytes();
}

std::int64_t rml_lapack_eigh_bytes(std::int64_t n, std::int64_t size) {
  Pieces pieces;
  if (size == 4)
    EighPieces<float>(pieces, n);
  else
    EighPieces<double>(pieces, n);
  return pieces.bytes();
}

std::int32_t rml_lapack_qr(rml_kernel_call* call) {
  const Matrices a(call->operands[0]);
  return for_float(call, [&]<class T>() {
    Pieces pieces(call->scratch);
    const QrPieces<T> own(pieces, a.rows, a.columns);
    return each<T>(call,
                   [&](const T* matrix, std::int64_t m, std::int64_t n, T* out) { return qr(own, matrix, m, n, out); });
  });
}

std::int32_t rml_lapack_svd(rml_kernel_call* call) {
  const Matrices a(call->operands[0]);
  return for_float(call, [&]<class T>() {
    Pieces pieces(call->scratch);
    const SvdPieces<T> own(pieces, a.rows, a.columns);
    return each<T>(
        call, [&](const T* matrix, std::int64_t m, std::int64_t n, T* out) { return svd(own, matrix, m, n, out); });
  });
}

std::int32_t rml_lapack_eigh(rml_kernel_call* call) {
  const Matrices a(call->operands[0]);
  return for_float(call, [&]<class T>() {
    Pieces pieces(call->scratch);
    const EighPieces<T> own(pieces, a.rows);
    return each<T>(call,
                   [&](const T* matrix, std::int64_t n, std::int64_t, T* out) { return eigh(own, matrix, n, out); });
  });
}

}  // extern "C"
