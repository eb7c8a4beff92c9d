// Windows that slide over the spatial axes of a tensor: where each one begins, and which elements
// it covers.
//
// A tensor has the shape [batch, channels, spatial…] with one to three spatial axes. Along each
// of these, output o reads the elements o stride - begin + k dilation for k in [0, size); those
// outside the extent are padding. The numbers come from attributes: one integer for all axes or
// one per axis, for padding also two per axis (all beginnings, then all ends). `same` requests
// padding such that out = ceil(in / stride), with an odd element at the end (1) or at the
// beginning (2). In `ceil_mode` windows may extend beyond the end if they begin before it.
// Missing axes become leading axes of extent 1, so there are always three.
#pragma once

#include <cstdint>

#include "runtime/kernels/kernel.h"

namespace rml::window {

inline constexpr int max_axes = 3;
inline constexpr std::int64_t max_number = INT32_MAX;  // limit for strides, sizes and other numbers

struct Axis {
  std::int64_t in = 1, out = 1, size = 1, stride = 1, dilation = 1, begin = 0, end = 0;
  std::int64_t reach() const { return (size - 1) * dilation + 1; }
  // The element at tap k of window o; padding if it is outside [0, in).
  std::int64_t at(std::int64_t o, std::int64_t k) const { return o * stride - begin + k * dilation; }
  // The output that reads element i at tap k, or -1 if there is none, assuming an unlimited
  // number of outputs.
  std::int64_t output(std::int64_t i, std::int64_t k) const {
    const std::int64_t q = i + begin - k * dilation;
    return q < 0 || q % stride != 0 ? -1 : q / stride;
  }
  // Number of taps of window o that are elements.
  std::int64_t covered(std::int64_t o) const {
    std::int64_t n = 0;
    for (std::int64_t k = 0; k < size; ++k) n += at(o, k) >= 0 && at(o, k) < in;
    return n;
  }
  // Number of taps of window o that are elements or padding; taps beyond the padding do not count.
  std::int64_t covered_padded(std::int64_t o) const {
    std::int64_t n = 0;
    for (std::int64_t k = 0; k < size; ++k) n += at(o, k) < in + end;
    return n;
  }
};

struct Windows {
  Axis axis[max_axes];
  std::int64_t taps() const { return axis[0].size * axis[1].size * axis[2].size; }
  std::int64_t inputs() const { return axis[0].in * axis[1].in * axis[2].in; }
  std::int64_t outputs() const { return axis[0].out * axis[1].out * axis[2].out; }
};

enum class Problem : std::uint8_t {
  none,
  sizes,
  strides,
  padding,
  dilations,
  same,              // the attribute `same` is neither 0, 1 nor 2
  same_and_padding,  // `same` and padding are both given
  too_large,         // the window does not fit into the padded operand
};

// An attribute that is a list of integers; count -1: it is omitted.
struct Integers {
  const std::int64_t* data = nullptr;
  std::int64_t count = -1;
  Integers() = default;
  Integers(const std::int64_t* d, std::int64_t n) : data(d), count(n) {}
  explicit Integers(const rml_attribute& a) : data(a.integers), count(a.count) {}
  // Reads one number for all axes or one per axis, within [low, max_number].
  bool read(int axes, std::int64_t low, std::int64_t otherwise, std::int64_t* to) const {
    if (count != -1 && count != 1 && count != axes) return false;
    for (int k = 0; k < axes; ++k) {
      to[k] = count == -1 ? otherwise : data[count == 1 ? 0 : k];
      if (to[k] < low || to[k] > max_number) return false;
    }
    return true;
  }
};

struct Request {
  Integers sizes, strides, padding, dilations;
  std::int64_t same = 0;
  // `strides_as_sizes`: by default the strides are the sizes of the window, otherwise 1.
  bool ceil_mode = false, strides_as_sizes = false;
};

// The number of windows along an axis with everything but `out` set; 0 if none fits.
inline std::int64_t count(const Axis& a, bool ceil_mode) {
  const std::int64_t room = a.in + a.begin + a.end - a.reach();
  if (room < 0) return 0;
  std::int64_t n = (room + (ceil_mode ? a.stride - 1 : 0)) / a.stride + 1;
  if (ceil_mode && (n - 1) * a.stride >= a.in + a.begin) --n;
  return n;
}

inline void pad_to_same(Axis& a, std::int64_t same) {
  a.out = (a.in + a.stride - 1) / a.stride;
  const std::int64_t short_by = (a.out - 1) * a.stride + a.reach() - a.in;
  const std::int64_t total = short_by > 0 && a.out > 0 ? short_by : 0;
  a.begin = (total + (same == 2)) / 2;
  a.end = total - a.begin;
}

// Computes the windows over an operand with these spatial extents.
inline Problem read(const Request& r, const std::int64_t* extents, int axes, Windows& w) {
  std::int64_t size[max_axes], stride[max_axes], dilation[max_axes], pad[2 * max_axes] = {};
  if (!r.sizes.read(axes, 1, 1, size)) return Problem::sizes;
  if (!r.strides.read(axes, 1, 1, stride)) return Problem::strides;
  if (!r.dilations.read(axes, 1, 1, dilation)) return Problem::dilations;
  const bool both_sides = r.padding.count == 2 * axes;
  if (!r.padding.read(both_sides ? 2 * axes : axes, 0, 0, pad)) return Problem::padding;
  if (r.same < 0 || r.same > 2) return Problem::same;
  for (int k = 0; k < 2 * axes; ++k)
    if (r.same != 0 && pad[k] != 0) return Problem::same_and_padding;
  w = Windows{};
  for (int k = 0; k < axes; ++k) {
    Axis& a = w.axis[max_axes - axes + k];
    a.in = extents[k];
    a.size = size[k];
    a.stride = r.strides.count == -1 && r.strides_as_sizes ? size[k] : stride[k];
    a.dilation = dilation[k];
    a.begin = pad[k];
    a.end = both_sides ? pad[axes + k] : pad[k];
    if (r.same != 0) {
      pad_to_same(a, r.same);
    } else {
      a.out = count(a, r.ceil_mode);
      if (a.out == 0) return Problem::too_large;
    }
  }
  return Problem::none;
}

// Computes the windows of a transposed convolution. Its operand, with these extents, is the
// output of the windows, and its result is what they slide over, with the extent (extent - 1)
// stride + reach - padding + output_padding, or extent stride if `same`.
inline Problem read_transposed(const Request& r, Integers output_padding, const std::int64_t* extents, int axes,
                               Windows& w) {
  Request large = r;
  large.same = 0;
  std::int64_t some[max_axes], extra[max_axes];
  for (int k = 0; k < axes; ++k) some[k] = max_number * max_number;
  if (const Problem p = read(large, some, axes, w); p != Problem::none) return p;
  if (r.same < 0 || r.same > 2) return Problem::same;
  if (!output_padding.read(axes, 0, 0, extra)) return Problem::padding;
  for (int k = 0; k < axes; ++k) {
    Axis& a = w.axis[max_axes - axes + k];
    if (r.same != 0 && (a.begin != 0 || a.end != 0 || extra[k] != 0)) return Problem::same_and_padding;
    if (extra[k] >= a.stride) return Problem::padding;
    a.in = r.same != 0 ? extents[k] * a.stride : (extents[k] - 1) * a.stride + a.reach() + extra[k] - a.begin - a.end;
    if (r.same != 0) pad_to_same(a, r.same);
    a.out = extents[k];
    if (a.in <= 0 && extents[k] > 0) return Problem::too_large;
    if (a.in < 0 || extents[k] == 0) a.in = 0;
  }
  return Problem::none;
}

}  // namespace rml::window
