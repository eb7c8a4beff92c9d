// LAPACK's routines by their Fortran names, overloaded for float and double.
//
// Matrices are column-major here, so a row-major one appears as its transpose. Options are single
// characters, whose lengths are the last arguments by the convention of Fortran compilers. Every
// function returns INFO.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rml::lapack {

using Int = std::int32_t;  // the type INTEGER of Debian's liblapack

extern "C" {
void sgetrf_(const Int*, const Int*, float*, const Int*, Int*, Int*);
void dgetrf_(const Int*, const Int*, double*, const Int*, Int*, Int*);
void sgetrs_(const char*, const Int*, const Int*, const float*, const Int*, const Int*, float*, const Int*, Int*,
             std::size_t);
void dgetrs_(const char*, const Int*, const Int*, const double*, const Int*, const Int*, double*, const Int*, Int*,
             std::size_t);
void strtrs_(const char*, const char*, const char*, const Int*, const Int*, const float*, const Int*, float*,
             const Int*, Int*, std::size_t, std::size_t, std::size_t);
void dtrtrs_(const char*, const char*, const char*, const Int*, const Int*, const double*, const Int*, double*,
             const Int*, Int*, std::size_t, std::size_t, std::size_t);
void spotrf_(const char*, const Int*, float*, const Int*, Int*, std::size_t);
void dpotrf_(const char*, const Int*, double*, const Int*, Int*, std::size_t);
void sgeqrf_(const Int*, const Int*, float*, const Int*, float*, float*, const Int*, Int*);
void dgeqrf_(const Int*, const Int*, double*, const Int*, double*, double*, const Int*, Int*);
void sorgqr_(const Int*, const Int*, const Int*, float*, const Int*, const float*, float*, const Int*, Int*);
void dorgqr_(const Int*, const Int*, const Int*, double*, const Int*, const double*, double*, const Int*, Int*);
void sgesvd_(const char*, const char*, const Int*, const Int*, float*, const Int*, float*, float*, const Int*, float*,
             const Int*, float*, const Int*, Int*, std::size_t, std::size_t);
void dgesvd_(const char*, const char*, const Int*, const Int*, double*, const Int*, double*, double*, const Int*,
             double*, const Int*, double*, const Int*, Int*, std::size_t, std::size_t);
void sgesdd_(const char*, const Int*, const Int*, float*, const Int*, float*, float*, const Int*, float*, const Int*,
             float*, const Int*, Int*, Int*, std::size_t);
void dgesdd_(const char*, const Int*, const Int*, double*, const Int*, double*, double*, const Int*, double*,
             const Int*, double*, const Int*, Int*, Int*, std::size_t);
void ssyevd_(const char*, const char*, const Int*, float*, const Int*, float*, float*, const Int*, Int*, const Int*,
             Int*, std::size_t, std::size_t);
void dsyevd_(const char*, const char*, const Int*, double*, const Int*, double*, double*, const Int*, Int*, const Int*,
             Int*, std::size_t, std::size_t);
}

template <class T>
Int getrf(Int n, T* a, Int* pivots) {
  Int info = 0;
  if constexpr (sizeof(T) == 4)
    sgetrf_(&n, &n, a, &n, pivots, &info);
  else
    dgetrf_(&n, &n, a, &n, pivots, &info);
  return info;
}

template <class T>
Int getrs(char transposed, Int n, Int columns, const T* lu, const Int* pivots, T* b) {
  Int info = 0;
  if constexpr (sizeof(T) == 4)
    sgetrs_(&transposed, &n, &columns, lu, &n, pivots, b, &n, &info, 1);
  else
    dgetrs_(&transposed, &n, &columns, lu, &n, pivots, b, &n, &info, 1);
  return info;
}

template <class T>
Int trtrs(char uplo, char transposed, char diagonal, Int n, Int columns, const T* a, T* b) {
  Int info = 0;
  if constexpr (sizeof(T) == 4)
    strtrs_(&uplo, &transposed, &diagonal, &n, &columns, a, &n, b, &n, &info, 1, 1, 1);
  else
    dtrtrs_(&uplo, &transposed, &diagonal, &n, &columns, a, &n, b, &n, &info, 1, 1, 1);
  return info;
}

template <class T>
Int potrf(char uplo, Int n, T* a) {
  Int info = 0;
  if constexpr (sizeof(T) == 4)
    spotrf_(&uplo, &n, a, &n, &info, 1);
  else
    dpotrf_(&uplo, &n, a, &n, &info, 1);
  return info;
}

template <class T>
Int geqrf(Int m, Int n, T* a, T* tau, T* work, Int work_size) {
  Int info = 0;
  if constexpr (sizeof(T) == 4)
    sgeqrf_(&m, &n, a, &m, tau, work, &work_size, &info);
  else
    dgeqrf_(&m, &n, a, &m, tau, work, &work_size, &info);
  return info;
}

// Computes the first n columns of the product of k reflectors.
template <class T>
Int orgqr(Int m, Int n, Int k, T* a, const T* tau, T* work, Int work_size) {
  Int info = 0;
  if constexpr (sizeof(T) == 4)
    sorgqr_(&m, &n, &k, a, &m, tau, work, &work_size, &info);
  else
    dorgqr_(&m, &n, &k, a, &m, tau, work, &work_size, &info);
  return info;
}

// The reduced singular value decomposition; vt has min(m, n) rows.
template <class T>
Int gesvd(Int m, Int n, T* a, T* s, T* u, T* vt, T* work, Int work_size) {
  Int info = 0;
  const Int k = m < n ? m : n;
  if constexpr (sizeof(T) == 4)
    sgesvd_("S", "S", &m, &n, a, &m, s, u, &m, vt, &k, work, &work_size, &info, 1, 1);
  else
    dgesvd_("S", "S", &m, &n, a, &m, s, u, &m, vt, &k, work, &work_size, &info, 1, 1);
  return info;
}

// The reduced decomposition by divide and conquer; `integers` has 8 min(m, n) elements.
template <class T>
Int gesdd(Int m, Int n, T* a, T* s, T* u, T* vt, T* work, Int work_size, Int* integers) {
  Int info = 0;
  const Int k = m < n ? m : n;
  if constexpr (sizeof(T) == 4)
    sgesdd_("S", &m, &n, a, &m, s, u, &m, vt, &k, work, &work_size, integers, &info, 1);
  else
    dgesdd_("S", &m, &n, a, &m, s, u, &m, vt, &k, work, &work_size, integers, &info, 1);
  return info;
}

// Eigenvalues by divide and conquer; `integers` has 5 n + 3 elements.
template <class T>
Int syevd(char uplo, Int n, T* a, T* w, T* work, Int work_size, Int* integers) {
  Int info = 0;
  const Int count = 5 * n + 3;
  if constexpr (sizeof(T) == 4)
    ssyevd_("V", &uplo, &n, a, &n, w, work, &work_size, integers, &count, &info, 1, 1);
  else
    dsyevd_("V", &uplo, &n, a, &n, w, work, &work_size, integers, &count, &info, 1, 1);
  return info;
}

}  // namespace rml::lapack
