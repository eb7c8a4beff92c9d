// BLAS by its Fortran names, as LAPACK calls it, using the level of the processor; the other
// routines are those of the reference implementation.
//
// The levels add alpha times a product to contiguous vectors. Strided vectors are copied, and
// results are scaled beforehand. A result that beta scales by 0 is not read, as BLAS requires.
#include <cstddef>

#include "runtime/lapack/blas_level.h"
#include "runtime/lapack/fortran.h"

namespace {

using namespace rml::lapack;
using Size = std::int64_t;

// Calls f.template operator()<Blas of the level>().
template <class T, class F>
auto at_level(F&& f) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw"))
    return f.template operator()<wide::Blas<T>>();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return f.template operator()<fused::Blas<T>>();
#endif
  return f.template operator()<any::Blas<T>>();
}

bool is(const char* option, char letter) { return (*option & ~0x20) == letter; }
bool transposes(const char* option) { return !is(option, 'N'); }

template <class T>
void scale(Size m, Size n, T beta, T* c, Size ldc) {
  if (beta == T(1)) return;
  for (Size j = 0; j < n; ++j)
    for (Size i = 0; i < m; ++i) c[j * ldc + i] = beta == T(0) ? T(0) : beta * c[j * ldc + i];
}

template <class T>
void scale_triangle(bool upper, Size n, T beta, T* c, Size ldc) {
  for (Size j = 0; j < n; ++j)
    upper ? scale(j + 1, 1, beta, c + j * ldc, ldc) : scale(n - j, 1, beta, c + j * ldc + j, ldc);
}

// The address of a strided vector's first element; with a negative stride the vector begins at
// the other end.
template <class T>
T* begin(T* x, Size n, Size stride) {
  return stride < 0 ? x - (n - 1) * stride : x;
}

constexpr Size piece = 256;  // elements of a strided vector that are copied together

template <class T>
struct Close {
  T data[piece];
  Close(const T* x, Size stride, Size n) {
    for (Size i = 0; i < n; ++i) data[i] = x[i * stride];
  }
  void back(T* x, Size stride, Size n) const {
    for (Size i = 0; i < n; ++i) x[i * stride] = data[i];
  }
};

template <class T>
void gemm(const char* ta, const char* tb, Size m, Size n, Size k, T alpha, const T* a, Size lda, const T* b, Size ldb,
          T beta, T* c, Size ldc) {
  scale(m, n, beta, c, ldc);
  if (alpha != T(0))
    at_level<T>([&]<class B>() { B::gemm(transposes(ta), transposes(tb), m, n, k, alpha, a, lda, b, ldb, c, ldc); });
}

template <class T>
void gemv(const char* transposed, Size m, Size n, T alpha, const T* a, Size lda, const T* x, Size incx, T beta, T* y,
          Size incy) {
  const bool t = transposes(transposed);
  x = begin(x, t ? m : n, incx), y = begin(y, t ? n : m, incy);
  for (Size i = 0; beta != T(1) && i < (t ? n : m); ++i) y[i * incy] = beta == T(0) ? T(0) : beta * y[i * incy];
  if (alpha == T(0)) return;
  at_level<T>([&]<class B>() {
    if (t && incx == 1) return B::gemv(true, m, n, alpha, a, lda, x, 1, y, incy);
    if (!t && incy == 1) return B::gemv(false, m, n, alpha, a, lda, x, incx, y, 1);
    for (Size at = 0; at < m; at += piece) {
      const Size rows = m - at < piece ? m - at : piece;
      if (t) {
        const Close<T> from(x + at * incx, incx, rows);
        B::gemv(true, rows, n, alpha, a + at, lda, from.data, 1, y, incy);
      } else {
        Close<T> to(y + at * incy, incy, rows);
        B::gemv(false, rows, n, alpha, a + at, lda, x, incx, to.data, 1);
        to.back(y + at * incy, incy, rows);
      }
    }
  });
}

template <class T>
void ger(Size m, Size n, T alpha, const T* x, Size incx, const T* y, Size incy, T* a, Size lda) {
  x = begin(x, m, incx), y = begin(y, n, incy);
  if (alpha == T(0)) return;
  at_level<T>([&]<class B>() {
    if (incx == 1) return B::ger(m, n, alpha, x, y, incy, a, lda);
    for (Size at = 0; at < m; at += piece) {
      const Size rows = m - at < piece ? m - at : piece;
      const Close<T> from(x + at * incx, incx, rows);
      B::ger(rows, n, alpha, from.data, y, incy, a + at, lda);
    }
  });
}

template <class T>
void symv(const char* uplo, Size n, T alpha, const T* a, Size lda, const T* x, Size incx, T beta, T* y, Size incy) {
  const bool upper = is(uplo, 'U');
  x = begin(x, n, incx), y = begin(y, n, incy);
  for (Size i = 0; beta != T(1) && i < n; ++i) y[i * incy] = beta == T(0) ? T(0) : beta * y[i * incy];
  if (alpha == T(0)) return;
  if (incx == 1 && incy == 1) return at_level<T>([&]<class B>() { B::symv(upper, n, alpha, a, lda, x, y); });
  for (Size j = 0; j < n; ++j) {
    for (Size i = 0; i < n; ++i) {
      const Size low = i < j ? i : j, high = i < j ? j : i;
      y[i * incy] += alpha * x[j * incx] * (upper ? a[low + high * lda] : a[high + low * lda]);
    }
  }
}

template <class T>
void syrk(const char* uplo, const char* transposed, Size n, Size k, T alpha, const T* a, Size lda, T beta, T* c,
          Size ldc) {
  const bool upper = is(uplo, 'U');
  scale_triangle(upper, n, beta, c, ldc);
  if (alpha != T(0))
    at_level<T>([&]<class B>() { B::syrk(upper, transposes(transposed), n, k, alpha, a, lda, c, ldc); });
}

template <class T>
void syr2k(const char* uplo, const char* transposed, Size n, Size k, T alpha, const T* a, Size lda, const T* b,
           Size ldb, T beta, T* c, Size ldc) {
  const bool upper = is(uplo, 'U');
  scale_triangle(upper, n, beta, c, ldc);
  if (alpha != T(0))
    at_level<T>([&]<class B>() { B::syr2k(upper, transposes(transposed), n, k, alpha, a, lda, b, ldb, c, ldc); });
}

template <class T>
void rot(Size n, T* x, Size incx, T* y, Size incy, T c, T s) {
  if (incx == 1 && incy == 1) return at_level<T>([&]<class B>() { B::rot(n, x, y, c, s); });
  x = begin(x, n, incx), y = begin(y, n, incy);
  for (Size i = 0; i < n; ++i) {
    const T u = x[i * incx], v = y[i * incy];
    x[i * incx] = c * u + s * v;
    y[i * incy] = c * v - s * u;
  }
}

template <class T>
T dot(Size n, const T* x, Size incx, const T* y, Size incy) {
  if (incx == 1 && incy == 1) return at_level<T>([&]<class B>() { return B::dot(n, x, y); });
  x = begin(x, n, incx), y = begin(y, n, incy);
  T sum = 0;
  for (Size i = 0; i < n; ++i) sum += x[i * incx] * y[i * incy];
  return sum;
}

template <class T>
void axpy(Size n, T alpha, const T* x, Size incx, T* y, Size incy) {
  if (alpha == T(0)) return;
  if (incx == 1 && incy == 1) return at_level<T>([&]<class B>() { B::axpy(n, alpha, x, y); });
  x = begin(x, n, incx), y = begin(y, n, incy);
  for (Size i = 0; i < n; ++i) y[i * incy] += alpha * x[i * incx];
}

// Exchanges rows column by column, because the elements of a column are adjacent.
template <class T>
void laswp(Size n, T* a, Size lda, Size first, Size last, const Int* pivots, Size step) {
  const Size count = last - first + 1, magnitude = step < 0 ? -step : step;
  for (Size j = 0; step != 0 && j < n; ++j) {
    T* column = a + j * lda;
    for (Size k = 0; k < count; ++k) {
      const Size row = step > 0 ? first - 1 + k : last - 1 - k;
      const Size with = pivots[first - 1 + (row - (first - 1)) * magnitude] - 1;
      const T value = column[row];
      column[row] = column[with];
      column[with] = value;
    }
  }
}

template <class T>
void triangle(bool solves, const char* side, const char* uplo, const char* transposed, const char* diagonal, Size m,
              Size n, T alpha, const T* a, Size lda, T* b, Size ldb) {
  if (m == 0 || n == 0) return;
  scale(m, n, alpha, b, ldb);
  if (alpha == T(0)) return;
  const TriangleCall call{is(side, 'L'), is(uplo, 'U'), transposes(transposed), is(diagonal, 'U'), m, n};
  at_level<T>([&]<class B>() { solves ? B::trsm(call, a, lda, b, ldb) : B::trmm(call, a, lda, b, ldb); });
}

}  // namespace

extern "C" {

#define RML_BLAS(T, P)                                                                                                \
  void P##gemm_(const char* ta, const char* tb, const Int* m, const Int* n, const Int* k, const T* alpha, const T* a, \
                const Int* lda, const T* b, const Int* ldb, const T* beta, T* c, const Int* ldc, std::size_t,         \
                std::size_t) {                                                                                        \
    gemm<T>(ta, tb, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);                                            \
  }                                                                                                                   \
  void P##gemv_(const char* t, const Int* m, const Int* n, const T* alpha, const T* a, const Int* lda, const T* x,    \
                const Int* incx, const T* beta, T* y, const Int* incy, std::size_t) {                                 \
    gemv<T>(t, *m, *n, *alpha, a, *lda, x, *incx, *beta, y, *incy);                                                   \
  }                                                                                                                   \
  void P##ger_(const Int* m, const Int* n, const T* alpha, const T* x, const Int* incx, const T* y, const Int* incy,  \
               T* a, const Int* lda) {                                                                                \
    ger<T>(*m, *n, *alpha, x, *incx, y, *incy, a, *lda);                                                              \
  }                                                                                                                   \
  void P##syrk_(const char* uplo, const char* t, const Int* n, const Int* k, const T* alpha, const T* a,              \
                const Int* lda, const T* beta, T* c, const Int* ldc, std::size_t, std::size_t) {                      \
    syrk<T>(uplo, t, *n, *k, *alpha, a, *lda, *beta, c, *ldc);                                                        \
  }                                                                                                                   \
  void P##syr2k_(const char* uplo, const char* t, const Int* n, const Int* k, const T* alpha, const T* a,             \
                 const Int* lda, const T* b, const Int* ldb, const T* beta, T* c, const Int* ldc, std::size_t,        \
                 std::size_t) {                                                                                       \
    syr2k<T>(uplo, t, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);                                              \
  }                                                                                                                   \
  void P##trsm_(const char* side, const char* uplo, const char* t, const char* diagonal, const Int* m, const Int* n,  \
                const T* alpha, const T* a, const Int* lda, T* b, const Int* ldb, std::size_t, std::size_t,           \
                std::size_t, std::size_t) {                                                                           \
    triangle<T>(true, side, uplo, t, diagonal, *m, *n, *alpha, a, *lda, b, *ldb);                                     \
  }                                                                                                                   \
  void P##trmm_(const char* side, const char* uplo, const char* t, const char* diagonal, const Int* m, const Int* n,  \
                const T* alpha, const T* a, const Int* lda, T* b, const Int* ldb, std::size_t, std::size_t,           \
                std::size_t, std::size_t) {                                                                           \
    triangle<T>(false, side, uplo, t, diagonal, *m, *n, *alpha, a, *lda, b, *ldb);                                    \
  }                                                                                                                   \
  void P##axpy_(const Int* n, const T* alpha, const T* x, const Int* incx, T* y, const Int* incy) {                   \
    axpy<T>(*n, *alpha, x, *incx, y, *incy);                                                                          \
  }                                                                                                                   \
  T P##dot_(const Int* n, const T* x, const Int* incx, const T* y, const Int* incy) {                                 \
    return dot<T>(*n, x, *incx, y, *incy);                                                                            \
  }                                                                                                                   \
  void P##rot_(const Int* n, T* x, const Int* incx, T* y, const Int* incy, const T* c, const T* s) {                  \
    rot<T>(*n, x, *incx, y, *incy, *c, *s);                                                                           \
  }                                                                                                                   \
  void P##symv_(const char* uplo, const Int* n, const T* alpha, const T* a, const Int* lda, const T* x,               \
                const Int* incx, const T* beta, T* y, const Int* incy, std::size_t) {                                 \
    symv<T>(uplo, *n, *alpha, a, *lda, x, *incx, *beta, y, *incy);                                                    \
  }                                                                                                                   \
  void P##laswp_(const Int* n, T* a, const Int* lda, const Int* first, const Int* last, const Int* pivots,            \
                 const Int* step) {                                                                                   \
    laswp<T>(*n, a, *lda, *first, *last, pivots, *step);                                                              \
  }

RML_BLAS(float, s)
RML_BLAS(double, d)
#undef RML_BLAS

}  // extern "C"
