// Linear algebra of small matrices without LAPACK, with the operations of the code that the
// compiler writes in place of a kernel (semantics/simplify/small_matrices.cc), in the same order.
// So a kernel and that code have the same bits, unless products and sums are rounded together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "runtime/lapack/fortran.h"

namespace rml::lapack::small {

constexpr std::int64_t most_rows = 12;

// The column at which the row has its largest element, among those whose position is k or later.
// Of equal elements, the one with the first position. NaN counts for nothing.
template <class T>
std::int64_t pivot_column(const T* row, const Int* order, std::int64_t n, std::int64_t k) {
  T most = -1;
  bool known = true;
  for (std::int64_t j = 0; j < n; ++j) {
    if (order[j] < k) continue;
    known = known && !std::isnan(row[j]);
    most = std::max(most, std::fabs(row[j]));
  }
  std::int64_t best = -1;
  for (std::int64_t j = 0; j < n; ++j)
    if (order[j] >= k && (!known || std::fabs(row[j]) == most) && (best < 0 || order[j] < order[best])) best = j;
  return best;
}

// Solves a x = b for an n × n matrix and m columns. Overwrites a and b. Returns false if a is singular.
template <class T>
bool solve(T* a, T* b, std::int64_t n, std::int64_t m, T* x) {
  Int order[most_rows], pivots[most_rows];
  for (std::int64_t j = 0; j < n; ++j) order[j] = static_cast<Int>(j);
  for (std::int64_t k = 0; k < n; ++k) {
    T *left = a + k * n, *right = b + k * m;
    const std::int64_t p = pivot_column(left, order, n, k);
    const T pivot = left[p];
    if (pivot == 0) return false;
    std::transform(left, left + n, left, [&](T v) { return v / pivot; });
    std::transform(right, right + m, right, [&](T v) { return v / pivot; });
    for (std::int64_t i = k + 1; i < n; ++i) {
      const T factor = a[i * n + p];
      for (std::int64_t j = 0; j < n; ++j) a[i * n + j] = a[i * n + j] - factor * left[j];
      for (std::int64_t j = 0; j < m; ++j) b[i * m + j] = b[i * m + j] - factor * right[j];
    }
    std::swap(order[p], *std::find(order, order + n, static_cast<Int>(k)));
    pivots[k] = static_cast<Int>(p);
  }
  std::fill_n(x, n * m, T(0));
  for (std::int64_t k = n; k-- > 0;) {
    for (std::int64_t q = 0; q < m; ++q) {
      T known = a[k * n] * x[q];
      for (std::int64_t j = 1; j < n; ++j) known += a[k * n + j] * x[j * m + q];
      x[pivots[k] * m + q] = b[k * m + q] - known;
    }
  }
  return true;
}

// The same for one triangle of a.
template <class T>
bool solve_triangular(const T* a, const T* b, std::int64_t n, std::int64_t m, bool lower, bool unit, T* x) {
  std::fill_n(x, n * m, T(0));
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t k = lower ? step : n - 1 - step;
    if (!unit && a[k * n + k] == 0) return false;
    for (std::int64_t q = 0; q < m; ++q) {
      T known = a[k * n] * x[q];
      for (std::int64_t j = 1; j < n; ++j) known += a[k * n + j] * x[j * m + q];
      const T value = b[k * m + q] - known;
      x[k * m + q] = unit ? value : value / a[k * n + k];
    }
  }
  return true;
}

template <class T>
bool invert(const T* a, std::int64_t n, T* x) {
  T left[most_rows * most_rows], unit[most_rows * most_rows] = {};
  std::copy_n(a, n * n, left);
  for (std::int64_t i = 0; i < n; ++i) unit[i * n + i] = 1;
  return solve(left, unit, n, n, x);
}

// Overwrites the symmetric matrix with its lower factor. Returns false if it is not positive definite.
template <class T>
bool factor(T* s, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) {
    if (!(s[k * n + k] > 0)) return false;
    const T root = std::sqrt(s[k * n + k]);
    s[k * n + k] = root;
    for (std::int64_t j = k + 1; j < n; ++j) s[j * n + k] = s[j * n + k] / root;
    for (std::int64_t i = k + 1; i < n; ++i)
      for (std::int64_t j = k + 1; j < n; ++j) s[i * n + j] = s[i * n + j] - s[i * n + k] * s[j * n + k];
  }
  return true;
}

}  // namespace rml::lapack::small
