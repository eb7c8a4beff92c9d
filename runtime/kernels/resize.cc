// Resizes along one axis: every element of the result is a weighted sum of a few elements of the
// operand (sampling.h). The adjoint adds each element to those that contributed to it, with the
// same weights.
//
// Weights are computed in double and rounded to the dtype. Products are added in the order of the
// operand's elements. Integers are only copied.
#include "runtime/kernels/resize.h"

#include <algorithm>

#include "runtime/kernels/elements.h"
#include "runtime/kernels/sampling.h"

namespace {

using namespace rml::kernels;

// The position of an attribute's text among the names; the shape rule has checked that it is one
// of them.
template <std::size_t N>
std::uint8_t position(const std::string_view (&names)[N], const rml_attribute& text) {
  const auto is = [&](std::string_view name) {
    return name.size() == static_cast<std::size_t>(text.count) &&
           std::equal(name.begin(), name.end(), text.integers, [](char a, std::int64_t b) { return a == b; });
  };
  return static_cast<std::uint8_t>(std::find_if(names, names + N, is) - names);
}

// Attributes: axis, size, mode, coordinates, scale, start, end, cubic, antialias,
// exclude_outside, value
rml::sampling::Axis read(const rml_kernel_call* call, std::int64_t from, std::int64_t to) {
  const rml_attribute* a = call->attributes;
  rml::sampling::Axis axis;
  axis.mode = static_cast<rml::sampling::Mode>(position(rml::sampling::modes, a[2]));
  axis.where = static_cast<rml::sampling::Coordinates>(position(rml::sampling::coordinates, a[3]));
  axis.from = from;
  axis.to = to;
  axis.scale = a[4].number;
  axis.start = a[5].number;
  axis.end = a[6].number;
  axis.cubic = a[7].number;
  axis.antialias = a[8].integers[0] != 0;
  axis.exclude_outside = a[9].integers[0] != 0;
  return axis;
}

template <class T>
void resize(const rml_kernel_call* call) {
  const Lines x(call->operands[0], call->attributes[0]), y(*call->result, call->attributes[0]);
  const rml::sampling::Axis axis = read(call, x.extent, y.extent);
  const T* in = static_cast<const T*>(call->operands[0].data);
  T* out = static_cast<T*>(call->result->data);
  for (std::int64_t b = 0; b < y.before; ++b, in += x.extent * x.after) {
    for (std::int64_t o = 0; o < y.extent; ++o, out += y.after) {
      bool begun = false;
      const bool found = axis.taps(o, [&](std::int64_t i, double weight) {
        const T* from = in + i * x.after;
        if (axis.mode < rml::sampling::Mode::linear) {
          std::copy_n(from, x.after, out);
        } else if constexpr (std::is_floating_point_v<T>) {
          for (std::int64_t k = 0; k < x.after; ++k)
            out[k] = begun ? out[k] + static_cast<T>(weight) * from[k] : static_cast<T>(weight) * from[k];
        }
        begun = true;
      });
      if (!found) std::fill_n(out, y.after, static_cast<T>(call->attributes[10].number));
    }
  }
}

template <class T>
void sum_resize(const rml_kernel_call* call) {
  const Lines g(call->operands[0], call->attributes[0]), x(*call->result, call->attributes[0]);
  const rml::sampling::Axis axis = read(call, x.extent, g.extent);
  const T* in = static_cast<const T*>(call->operands[0].data);
  T* out = static_cast<T*>(call->result->data);
  std::fill_n(out, count(*call->result), T(0));
  for (std::int64_t b = 0; b < g.before; ++b, out += x.extent * x.after) {
    for (std::int64_t o = 0; o < g.extent; ++o, in += g.after) {
      axis.taps(o, [&](std::int64_t i, double weight) {
        T* to = out + i * x.after;
        for (std::int64_t k = 0; k < x.after; ++k) to[k] += static_cast<T>(weight) * in[k];
      });
    }
  }
}

}  // namespace

std::int32_t rml_kernel_resize(rml_kernel_call* call) {
  with_type(call->result->dtype, [&]<class T>(T) { resize<T>(call); });
  return RML_OK;
}

std::int32_t rml_kernel_sum_resize(rml_kernel_call* call) {
  with_float_type(call->result->dtype, [&]<class T>(T) { sum_resize<T>(call); });
  return RML_OK;
}
