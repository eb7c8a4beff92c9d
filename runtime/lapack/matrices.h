// Helpers shared by the LAPACK kernels: the matrices of an array, the division of the scratch
// memory, and the dispatch over float and double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/base/rmlrt.h"
#include "runtime/kernels/kernel.h"
#include "runtime/lapack/fortran.h"
#include "runtime/lapack/small.h"

namespace rml::lapack {

// maximum number of columns per step of LAPACK's blocked routines
constexpr std::int64_t block = 64;

// A stack of row-major matrices. A vector counts as a matrix with one column.
struct Matrices {
  explicit Matrices(const rml_array& array, bool vector = false)
      : extents(array.extents), batch_rank(vector ? 0 : array.rank - 2) {
    rows = array.extents[batch_rank];
    columns = vector ? 1 : array.extents[batch_rank + 1];
    for (std::uint32_t k = 0; k < batch_rank; ++k) count *= extents[k];
  }
  const std::int64_t* extents;
  std::uint32_t batch_rank;
  std::int64_t rows, columns, count = 1;
  std::int64_t elements() const { return rows * columns; }
};

// The index of the matrix of `of` at position `at` of a batch to which it is broadcast.
inline std::int64_t broadcast_place(const Matrices& of, const std::int64_t* batch, std::uint32_t rank,
                                    std::int64_t at) {
  std::int64_t place = 0, stride = 1;
  for (std::uint32_t k = 1; k <= rank && k <= of.batch_rank; ++k) {
    const std::int64_t extent = of.extents[of.batch_rank - k];
    const std::int64_t whole = batch[rank - k];
    if (extent != 1) place += at % whole * stride;
    stride *= extent;
    at /= whole;
  }
  return place;
}

// Hands out consecutive pieces of the scratch. Without memory, it computes the required size.
class Pieces {
 public:
  explicit Pieces(void* memory = nullptr) : memory_(static_cast<char*>(memory)) {}
  template <class T>
  T* take(std::int64_t count) {
    char* piece = memory_ == nullptr ? nullptr : memory_ + bytes_;
    bytes_ += (std::max<std::int64_t>(count, 1) * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64;
    return reinterpret_cast<T*>(piece);
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  char* memory_;
  std::int64_t bytes_ = 0;
};

template <class T>
bool all_finite(const T* x, std::int64_t count) {
  return std::all_of(x, x + count, [](T v) { return std::isfinite(v); });
}

template <class T>
void fill_nan(T* x, std::int64_t count) {
  std::fill_n(x, count, std::numeric_limits<T>::quiet_NaN());
}

// Transposes a matrix: to[j, i] = from[i, j].
template <class T>
void transpose(const T* from, std::int64_t rows, std::int64_t columns, T* to) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
  }
}

template <class T>
void symmetrise(const T* a, std::int64_t n, T* to) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) to[i * n + j] = to[j * n + i] = T(0.5) * a[i * n + j] + T(0.5) * a[j * n + i];
  }
}

// Writes the inverse of the n × n matrix `a` to `to`; `lu` has n² elements. Returns false if the
// matrix is singular.
template <class T>
bool invert(const T* a, std::int64_t n, T* lu, Int* pivots, T* to) {
  if (n <= small::most_rows) return small::invert(a, n, to);
  std::copy_n(a, n * n, lu);
  if (getrf(Int(n), lu, pivots) != 0) return false;
  std::fill_n(to, n * n, T(0));
  for (std::int64_t i = 0; i < n; ++i) to[i * n + i] = 1;
  // LAPACK sees the transpose. Its inverse by columns is the wanted inverse by rows.
  return getrs('N', Int(n), Int(n), lu, pivots, to) == 0;
}

// Calls kernel.template operator()<T>(), where T is the element type of the result.
template <class Kernel>
std::int32_t for_float(const rml_kernel_call* call, Kernel&& kernel) {
  return call->result->dtype == RML_F32 ? kernel.template operator()<float>() : kernel.template operator()<double>();
}

template <class T>
T* elements(const rml_array& array) {
  return static_cast<T*>(array.data);
}

}  // namespace rml::lapack
