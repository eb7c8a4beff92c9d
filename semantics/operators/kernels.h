// Helpers for kernels: dispatch over dtypes, and walks over broadcast operands.
//
// A walk visits the elements of a shape in row-major order, row by row, with any number of
// strided operands in parallel. Axes along which all operands advance evenly are merged first, so
// operands of equal shape, or a tensor and a scalar, are visited as a single row. The loops over
// rows with strides 0 and 1 are specialised, because the reference engine spends its time there.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "semantics/operators/half_types.h"
#include "semantics/operators/operator.h"

namespace rml::kernels {

template <DTypeSet Allowed, DType D, class T, class F>
bool dispatch_one(DType dtype, F& f) {
  if constexpr ((Allowed & bit(D)) != 0) {
    if (dtype == D) {
      f(T{});
      return true;
    }
  }
  return false;
}

// Calls f(T{}) with the C++ type of the dtype; only the dtypes in Allowed are instantiated.
template <DTypeSet Allowed, class F>
void dispatch(DType dtype, F&& f) {
  if (dispatch_one<Allowed, DType::f32, float>(dtype, f) || dispatch_one<Allowed, DType::f64, double>(dtype, f) ||
      dispatch_one<Allowed, DType::boolean, bool>(dtype, f) ||
      dispatch_one<Allowed, DType::i32, std::int32_t>(dtype, f) ||
      dispatch_one<Allowed, DType::i64, std::int64_t>(dtype, f) ||
      dispatch_one<Allowed, DType::i8, std::int8_t>(dtype, f) ||
      dispatch_one<Allowed, DType::u8, std::uint8_t>(dtype, f) ||
      dispatch_one<Allowed, DType::i16, std::int16_t>(dtype, f) ||
      dispatch_one<Allowed, DType::u16, std::uint16_t>(dtype, f) ||
      dispatch_one<Allowed, DType::u32, std::uint32_t>(dtype, f) ||
      dispatch_one<Allowed, DType::u64, std::uint64_t>(dtype, f) || dispatch_one<Allowed, DType::f16, F16>(dtype, f) ||
      dispatch_one<Allowed, DType::bf16, BF16>(dtype, f)) {
    return;
  }
  throw std::logic_error("operator kernel called on " + std::string(name(dtype)));
}

using Strides = std::array<std::int64_t, max_rank>;

// Row-major strides, in elements.
inline Strides dense_strides(const Shape& shape) {
  Strides strides{};
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

// The strides of a dense operand of shape `from`, broadcast to the shape `to`.
inline Strides broadcast_strides(const Shape& from, const Shape& to) {
  const Strides dense = dense_strides(from);
  Strides strides{};
  for (std::size_t k = 1; k <= from.size(); ++k) {
    const std::size_t axis = from.size() - k;
    strides[to.size() - k] = from[axis] == 1 ? 0 : dense[axis];
  }
  return strides;
}

template <std::size_t N>
struct Row {
  std::array<std::int64_t, N> offset{};  // position of the row's first element in each operand
  std::array<std::int64_t, N> stride{};
  std::int64_t first = 0;  // position of the row in the walk, in elements
  std::int64_t count = 0;
};

// Calls body(Row) for every row of the shape, in order.
template <std::size_t N, class Body>
void walk(const Shape& shape, const std::array<Strides, N>& strides, Body&& body) {
  std::array<std::int64_t, max_rank> extent{};
  std::array<Strides, N> merged{};
  std::size_t rank = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) return;
    if (shape[axis] == 1) continue;
    bool even = rank > 0;
    for (std::size_t k = 0; k < N && even; ++k) even = merged[k][rank - 1] == strides[k][axis] * shape[axis];
    if (even) {
      extent[rank - 1] *= shape[axis];
    } else {
      extent[rank++] = shape[axis];
    }
    for (std::size_t k = 0; k < N; ++k) merged[k][rank - 1] = strides[k][axis];
  }
  Row<N> row;
  row.count = rank == 0 ? 1 : extent[rank - 1];
  if (rank > 0) {
    for (std::size_t k = 0; k < N; ++k) row.stride[k] = merged[k][rank - 1];
  }
  std::array<std::int64_t, max_rank> at{};
  for (;; row.first += row.count) {
    body(static_cast<const Row<N>&>(row));
    std::size_t axis = rank <= 1 ? 0 : rank - 1;
    while (axis > 0) {
      --axis;
      for (std::size_t k = 0; k < N; ++k) row.offset[k] += merged[k][axis];
      if (++at[axis] < extent[axis]) break;
      for (std::size_t k = 0; k < N; ++k) row.offset[k] -= merged[k][axis] * extent[axis];
      at[axis] = 0;
      if (axis == 0) return;
    }
    if (rank <= 1) return;
  }
}

// Computes result[i] = f(a[i]) for all i.
template <class Out, class In, class F>
void map(Tensor& result, const Tensor& a, F f) {
  Out* out = result.as<Out>();
  const In* in = a.as<In>();
  for (std::int64_t i = 0, n = result.elements(); i < n; ++i) out[i] = f(in[i]);
}

// Computes result = f(a, b), where both operands are broadcast to the shape of the result.
template <class Out, class In, class F>
void map(Tensor& result, const Tensor& a, const Tensor& b, F f) {
  const Shape& shape = result.shape();
  walk<2>(shape, {broadcast_strides(a.shape(), shape), broadcast_strides(b.shape(), shape)}, [&](const Row<2>& row) {
    Out* out = result.as<Out>() + row.first;
    const In* x = a.as<In>() + row.offset[0];
    const In* y = b.as<In>() + row.offset[1];
    const std::int64_t n = row.count, dx = row.stride[0], dy = row.stride[1];
    if (dx == 1 && dy == 1) {
      for (std::int64_t i = 0; i < n; ++i) out[i] = f(x[i], y[i]);
    } else if (dx == 1 && dy == 0) {
      for (std::int64_t i = 0; i < n; ++i) out[i] = f(x[i], y[0]);
    } else if (dx == 0 && dy == 1) {
      for (std::int64_t i = 0; i < n; ++i) out[i] = f(x[0], y[i]);
    } else {
      for (std::int64_t i = 0; i < n; ++i) out[i] = f(x[i * dx], y[i * dy]);
    }
  });
}

// Copies elements of any dtype between strided positions. `to` and `from` point to the elements
// at index 0 of the walk.
template <std::size_t Bytes>
void copy_strided_bytes(const Shape& shape, std::byte* to, const Strides& to_strides, const std::byte* from,
                        const Strides& from_strides) {
  using Word = std::conditional_t<
      Bytes == 1, std::uint8_t,
      std::conditional_t<Bytes == 2, std::uint16_t, std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;
  walk<2>(shape, {to_strides, from_strides}, [&](const Row<2>& row) {
    auto* out = to + row.offset[0] * static_cast<std::int64_t>(Bytes);
    const auto* in = from + row.offset[1] * static_cast<std::int64_t>(Bytes);
    if (row.stride[0] == 1 && row.stride[1] == 1) {
      std::memcpy(out, in, static_cast<std::size_t>(row.count) * Bytes);
      return;
    }
    for (std::int64_t i = 0; i < row.count; ++i) {
      Word word;
      std::memcpy(&word, in + i * row.stride[1] * static_cast<std::int64_t>(Bytes), Bytes);
      std::memcpy(out + i * row.stride[0] * static_cast<std::int64_t>(Bytes), &word, Bytes);
    }
  });
}

inline void copy_strided(const Shape& shape, Tensor& to, std::int64_t to_offset, const Strides& to_strides,
                         const Tensor& from, std::int64_t from_offset, const Strides& from_strides) {
  const auto bytes = static_cast<std::int64_t>(byte_size(from.dtype()));
  auto* out = static_cast<std::byte*>(to.data()) + to_offset * bytes;
  const auto* in = static_cast<const std::byte*>(from.data()) + from_offset * bytes;
  switch (bytes) {
    case 1:
      return copy_strided_bytes<1>(shape, out, to_strides, in, from_strides);
    case 2:
      return copy_strided_bytes<2>(shape, out, to_strides, in, from_strides);
    case 4:
      return copy_strided_bytes<4>(shape, out, to_strides, in, from_strides);
    default:
      return copy_strided_bytes<8>(shape, out, to_strides, in, from_strides);
  }
}

}  // namespace rml::kernels
