// The BLAS routines that are implemented here, for each level of processors (see blas_level.cc).
// Results are added to the output. Vectors without a stride are contiguous.
#pragma once

#include <cstdint>

namespace rml::lapack {

struct TriangleCall {
  bool left, upper, transposed, unit;
  std::int64_t m, n;  // rows and columns of B
};

#define RML_DECLARE_BLAS(LEVEL)                                                                                     \
  namespace LEVEL {                                                                                                 \
  template <class T>                                                                                                \
  struct Blas {                                                                                                     \
    using Size = std::int64_t;                                                                                      \
    static void gemm(bool ta, bool tb, Size m, Size n, Size k, T alpha, const T* a, Size lda, const T* b, Size ldb, \
                     T* c, Size ldc);                                                                               \
    static void gemv(bool transposed, Size m, Size n, T alpha, const T* a, Size lda, const T* x, Size incx, T* y,   \
                     Size incy);                                                                                    \
    static void symv(bool upper, Size n, T alpha, const T* a, Size lda, const T* x, T* y);                          \
    static void ger(Size m, Size n, T alpha, const T* x, const T* y, Size incy, T* a, Size lda);                    \
    static void syrk(bool upper, bool transposed, Size n, Size k, T alpha, const T* a, Size lda, T* c, Size ldc);   \
    static void syr2k(bool upper, bool transposed, Size n, Size k, T alpha, const T* a, Size lda, const T* b,       \
                      Size ldb, T* c, Size ldc);                                                                    \
    static void trsm(const TriangleCall&, const T* a, Size lda, T* b, Size ldb);                                    \
    static void trmm(const TriangleCall&, const T* a, Size lda, T* b, Size ldb);                                    \
    static void axpy(Size n, T alpha, const T* x, T* y);                                                            \
    static T dot(Size n, const T* x, const T* y);                                                                   \
    static void rot(Size n, T* x, T* y, T c, T s);                                                                  \
  };                                                                                                                \
  }

RML_DECLARE_BLAS(any)    // for the instructions that the compiler assumes by default
RML_DECLARE_BLAS(fused)  // for x86-64-v3: vectors of 256 bits, fused multiplication
RML_DECLARE_BLAS(wide)   // for x86-64-v4: vectors of 512 bits
#undef RML_DECLARE_BLAS

}  // namespace rml::lapack
