// The three forms in which index tensors address a tensor.
//
// Each function visits the blocks of elements that the indices address, in row-major order of the
// indices, and calls f(place, position, count): the start of the block in the tensor, its start
// in the gathered or scattered elements, and its number of elements.
//
//   take        along one axis, any number of indices: blocks of the axes after it
//   elements    one index per element, along one axis: blocks of one element
//   nd          index tuples on the last axis of the indices: blocks of the remaining axes
#pragma once

#include "runtime/kernels/elements.h"

namespace rml::kernels {

// Converts an index to one counted from 0. Returns false if it is out of range, and records it
// for the message.
template <class I>
bool normalize(I written, std::int64_t extent, rml_kernel_call* call, std::int64_t& index) {
  index = static_cast<std::int64_t>(written);
  if (index < 0) index += extent;
  if (index >= 0 && index < extent) return true;
  call->value = static_cast<std::int64_t>(written);
  call->bound = extent;
  return false;
}

template <class F>
std::int32_t take_places(rml_kernel_call* call, const rml_array& x, const rml_array& i, const rml_attribute& axis,
                         F&& f) {
  const Lines lines(x, axis);
  const std::int64_t indices = count(i);
  return with_index_type(i.dtype, [&]<class I>(I) -> std::int32_t {
    const I* index = static_cast<const I*>(i.data);
    for (std::int64_t b = 0; b < lines.before; ++b) {
      for (std::int64_t k = 0; k < indices; ++k) {
        std::int64_t at = 0;
        if (!normalize(index[k], lines.extent, call, at)) return RML_FAULT_INDEX;
        f((b * lines.extent + at) * lines.after, (b * indices + k) * lines.after, lines.after);
      }
    }
    return RML_OK;
  });
}

// shape: that of the gathered or scattered elements. Indices of extent 1 are broadcast to it.
template <class F>
std::int32_t element_places(rml_kernel_call* call, const rml_array& x, const rml_array& i, const rml_array& shape,
                            const rml_attribute& axis, F&& f) {
  constexpr std::uint32_t max_rank = 8;
  const auto rank = x.rank;
  const std::int64_t along = axis_of(axis, rank);
  std::int64_t x_stride[max_rank], i_stride[max_rank], at[max_rank] = {};
  std::int64_t nx = 1, ni = 1;
  for (std::uint32_t k = rank; k-- > 0;) {
    x_stride[k] = nx;
    i_stride[k] = i.extents[k] == 1 ? 0 : ni;
    nx *= x.extents[k];
    ni *= i.extents[k];
  }
  const std::int64_t extent = x.extents[along], stride = x_stride[along], all = count(shape);
  x_stride[along] = 0;
  return with_index_type(i.dtype, [&]<class I>(I) -> std::int32_t {
    const I* index = static_cast<const I*>(i.data);
    std::int64_t place = 0, from = 0;
    for (std::int64_t n = 0; n < all; ++n) {
      std::int64_t found = 0;
      if (!normalize(index[from], extent, call, found)) return RML_FAULT_INDEX;
      f(place + found * stride, n, 1);
      for (std::uint32_t k = rank; k-- > 0;) {
        place += x_stride[k];
        from += i_stride[k];
        if (++at[k] < shape.extents[k]) break;
        place -= x_stride[k] * shape.extents[k];
        from -= i_stride[k] * shape.extents[k];
        at[k] = 0;
      }
    }
    return RML_OK;
  });
}

template <class F>
std::int32_t tuple_places(rml_kernel_call* call, const rml_array& x, const rml_array& i, const rml_attribute& batch,
                          F&& f) {
  const std::int64_t batches = batch.integers[0];
  const std::int64_t length = i.extents[i.rank - 1];
  const std::int64_t outer = product(i, 0, batches), tuples = product(i, batches, std::int64_t{i.rank} - 1);
  const std::int64_t block = product(x, batches + length, x.rank), whole = product(x, batches, x.rank);
  return with_index_type(i.dtype, [&]<class I>(I) -> std::int32_t {
    const I* index = static_cast<const I*>(i.data);
    for (std::int64_t b = 0; b < outer; ++b) {
      for (std::int64_t t = 0; t < tuples; ++t, index += length) {
        std::int64_t place = 0;
        for (std::int64_t k = 0; k < length; ++k) {
          std::int64_t at = 0;
          if (!normalize(index[k], x.extents[batches + k], call, at)) return RML_FAULT_INDEX;
          place = place * x.extents[batches + k] + at;
        }
        f(b * whole + place * block, (b * tuples + t) * block, block);
      }
    }
    return RML_OK;
  });
}

}  // namespace rml::kernels
