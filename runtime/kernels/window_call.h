// Helpers for kernels over windows: reading the attributes of their calls, and arithmetic on all
// dtypes.
#pragma once

#include <type_traits>

#include "runtime/base/rmlrt.h"
#include "runtime/kernels/elements.h"
#include "runtime/kernels/window.h"

namespace rml::window {

// Reads the attributes from `first` on: strides, padding, dilations, same.
inline Request request(const rml_kernel_call* call, std::uint32_t first) {
  const rml_attribute* a = call->attributes + first;
  Request r;
  r.strides = Integers(a[0]);
  r.padding = Integers(a[1]);
  r.dilations = Integers(a[2]);
  r.same = a[3].integers[0];
  return r;
}

inline Windows windows_over(const rml_array& x, const Request& r) {
  Windows w;
  read(r, x.extents + 2, static_cast<int>(x.rank) - 2, w);
  return w;
}

// Addition and multiplication of elements; integers wrap.
template <class T>
T plus(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a + b;
  } else {
    using Wide = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
    return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
  }
}
template <class T>
T times(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a * b;
  } else {
    using Wide = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
    return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
  }
}

// Calls f(p0, p1, p2, index) for all positions on three axes; index counts them.
template <class F>
void each(std::int64_t n0, std::int64_t n1, std::int64_t n2, F&& f) {
  std::int64_t index = 0;
  for (std::int64_t i = 0; i < n0; ++i)
    for (std::int64_t j = 0; j < n1; ++j)
      for (std::int64_t k = 0; k < n2; ++k) f(i, j, k, index++);
}
template <class F>
void each_output(const Windows& w, F&& f) {
  each(w.axis[0].out, w.axis[1].out, w.axis[2].out, f);
}
template <class F>
void each_input(const Windows& w, F&& f) {
  each(w.axis[0].in, w.axis[1].in, w.axis[2].in, f);
}
template <class F>
void each_tap(const Windows& w, F&& f) {
  each(w.axis[0].size, w.axis[1].size, w.axis[2].size, f);
}

// The position within one channel of tap k of window o; -1: padding.
inline std::int64_t position(const Windows& w, const std::int64_t* o, const std::int64_t* k) {
  std::int64_t at = 0;
  for (int a = 0; a < max_axes; ++a) {
    const std::int64_t i = w.axis[a].at(o[a], k[a]);
    if (i < 0 || i >= w.axis[a].in) return -1;
    at = at * w.axis[a].in + i;
  }
  return at;
}

}  // namespace rml::window
