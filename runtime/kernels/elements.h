// Helpers shared by kernels: dispatch over dtypes, shapes as products of extents, wrapping
// arithmetic.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "runtime/base/rmlrt.h"
#include "runtime/kernels/kernel.h"

namespace rml::kernels {

// Calls f(T{}) with the C++ type of an integer dtype; Booleans are bytes.
template <class F>
auto with_index_type(std::uint32_t dtype, F&& f) {
  switch (dtype) {
    case RML_I8:
      return f(std::int8_t{});
    case RML_I16:
      return f(std::int16_t{});
    case RML_I32:
      return f(std::int32_t{});
    case RML_I64:
      return f(std::int64_t{});
    case RML_U16:
      return f(std::uint16_t{});
    case RML_U32:
      return f(std::uint32_t{});
    case RML_U64:
      return f(std::uint64_t{});
    default:
      return f(std::uint8_t{});
  }
}

// Calls f(T{}) with the C++ type of a dtype, except f16 and bf16; the operator rows of kernels
// that call it do not accept these two.
template <class F>
auto with_type(std::uint32_t dtype, F&& f) {
  if (dtype == RML_F32) return f(float{});
  return dtype == RML_F64 ? f(double{}) : with_index_type(dtype, f);
}

template <class F>
auto with_float_type(std::uint32_t dtype, F&& f) {
  return dtype == RML_F32 ? f(float{}) : f(double{});
}

inline std::int64_t product(const rml_array& x, std::int64_t first, std::int64_t last) {
  std::int64_t count = 1;
  for (std::int64_t k = first; k < last; ++k) count *= x.extents[k];
  return count;
}
inline std::int64_t count(const rml_array& x) { return product(x, 0, x.rank); }

// The axis named by an attribute, counted from 0.
inline std::int64_t axis_of(const rml_attribute& a, std::int64_t rank) {
  return a.integers[0] < 0 ? a.integers[0] + rank : a.integers[0];
}

// Views a tensor as [before, extent, after] around one axis; without an axis as [1, all, 1].
struct Lines {
  std::int64_t before = 1, extent = 1, after = 1;
  Lines(const rml_array& x, const rml_attribute& axis) {
    if (axis.count < 0) {
      extent = count(x);
      return;
    }
    const std::int64_t k = axis_of(axis, x.rank);
    before = product(x, 0, k);
    extent = x.extents[k];
    after = product(x, k + 1, x.rank);
  }
};

template <class T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a + b;
  return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
template <class T>
T wrapping_multiply(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a * b;
  return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  return false;
}
// A total order of values in which NaN is larger than every number.
template <class T>
bool before(T a, T b) {
  return a < b || (is_nan(b) && !is_nan(a));
}

}  // namespace rml::kernels
