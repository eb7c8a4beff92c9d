// Pooling over windows of each channel, its adjoints, and windows as columns of a matrix.
//
// The largest element of a window is the first largest one in row-major order, or the first NaN;
// padding is ignored. Sums begin with 0 and add in row-major order. An average divides by the
// number of elements that a window covers, on request including padding.
#include <algorithm>

#include "runtime/kernels/convolution.h"
#include "runtime/kernels/window_call.h"

namespace {

using namespace rml::window;

// Attributes from `first` on: window, strides, padding, dilations, same, ceil_mode.
Windows pooled(const rml_kernel_call* call, const rml_array& x, std::uint32_t first) {
  Request r = request(call, first + 1);
  r.sizes = Integers(call->attributes[first]);
  r.ceil_mode = call->attributes[first + 5].integers[0] != 0;
  r.strides_as_sizes = true;
  return windows_over(x, r);
}

std::int64_t channels_of(const rml_array& x) { return x.extents[0] * x.extents[1]; }

// Calls f(position in the channel or -1) for the taps of an output.
template <class F>
void each_covered(const Windows& w, std::int64_t o0, std::int64_t o1, std::int64_t o2, F&& f) {
  each_tap(w, [&](std::int64_t k0, std::int64_t k1, std::int64_t k2, std::int64_t) {
    const std::int64_t output[] = {o0, o1, o2}, tap[] = {k0, k1, k2};
    f(position(w, output, tap));
  });
}

// Calls f(channel, output, position of the first largest element in the channel).
template <class T, class F>
void each_maximum(const Windows& w, std::int64_t channels, const T* x, F&& f) {
  for (std::int64_t c = 0; c < channels; ++c) {
    const T* in = x + c * w.inputs();
    each_output(w, [&](std::int64_t o0, std::int64_t o1, std::int64_t o2, std::int64_t o) {
      std::int64_t best = -1;
      each_covered(w, o0, o1, o2, [&](std::int64_t at) {
        if (at < 0) return;
        if (best < 0 || (in[best] == in[best] && (in[at] > in[best] || in[at] != in[at]))) best = at;
      });
      f(c, o, best);
    });
  }
}

enum class Divisor : std::uint8_t { one, covered, with_padding };

Divisor divisor_of(const rml_kernel_call* call, std::uint32_t attribute) {
  return call->attributes[attribute].integers[0] != 0 ? Divisor::with_padding : Divisor::covered;
}

template <class T>
T divided(T x, const Windows& w, Divisor by, std::int64_t o0, std::int64_t o1, std::int64_t o2) {
  if constexpr (std::is_floating_point_v<T>) {
    const std::int64_t output[] = {o0, o1, o2};
    std::int64_t n = 1;
    for (int a = 0; a < max_axes; ++a)
      n *= by == Divisor::covered ? w.axis[a].covered(output[a]) : w.axis[a].covered_padded(output[a]);
    return by == Divisor::one ? x : x / static_cast<T>(n);
  } else {
    return x;
  }
}

std::int32_t sums(const rml_kernel_call* call, Divisor by) {
  const rml_array &x = call->operands[0], &result = *call->result;
  const Windows w = pooled(call, x, 0);
  rml::kernels::with_type(result.dtype, [&]<class T>(T) {
    for (std::int64_t c = 0; c < channels_of(x); ++c) {
      const T* in = static_cast<const T*>(x.data) + c * w.inputs();
      T* out = static_cast<T*>(result.data) + c * w.outputs();
      each_output(w, [&](std::int64_t o0, std::int64_t o1, std::int64_t o2, std::int64_t o) {
        T sum = 0;
        each_covered(w, o0, o1, o2, [&](std::int64_t at) {
          if (at >= 0) sum = plus(sum, in[at]);
        });
        out[o] = divided(sum, w, by, o0, o1, o2);
      });
    }
  });
  return RML_OK;
}

std::int32_t spread_sums(const rml_kernel_call* call, Divisor by) {
  const rml_array &g = call->operands[0], &result = *call->result;
  const Windows w = pooled(call, result, 1);
  rml::kernels::with_type(result.dtype, [&]<class T>(T) {
    std::fill_n(static_cast<T*>(result.data), channels_of(result) * w.inputs(), T(0));
    for (std::int64_t c = 0; c < channels_of(result); ++c) {
      T* to = static_cast<T*>(result.data) + c * w.inputs();
      const T* from = static_cast<const T*>(g.data) + c * w.outputs();
      each_output(w, [&](std::int64_t o0, std::int64_t o1, std::int64_t o2, std::int64_t o) {
        const T part = divided(from[o], w, by, o0, o1, o2);
        each_covered(w, o0, o1, o2, [&](std::int64_t at) {
          if (at >= 0) to[at] = plus(to[at], part);
        });
      });
    }
  });
  return RML_OK;
}

// Calls f for each entry of a column matrix. Row: channel, then tap; column: output.
template <class F>
void each_entry(const Windows& w, std::int64_t batch, std::int64_t channels, F&& f) {
  const std::int64_t outputs = w.outputs(), taps = w.taps();
  for (std::int64_t c = 0; c < batch * channels; ++c)
    each_tap(w, [&](std::int64_t k0, std::int64_t k1, std::int64_t k2, std::int64_t k) {
      each_output(w, [&](std::int64_t o0, std::int64_t o1, std::int64_t o2, std::int64_t o) {
        const std::int64_t output[] = {o0, o1, o2}, tap[] = {k0, k1, k2}, at = position(w, output, tap);
        f((c * taps + k) * outputs + o, at < 0 ? -1 : c * w.inputs() + at);
      });
    });
}

Windows columns(const rml_kernel_call* call, const rml_array& x, std::uint32_t first) {
  Request r = request(call, first + 1);
  r.sizes = Integers(call->attributes[first]);
  return windows_over(x, r);
}

}  // namespace

// Operand: x. Attributes: window, strides, padding, dilations, same, ceil_mode.
std::int32_t rml_kernel_max_pool(rml_kernel_call* call) {
  const rml_array &x = call->operands[0], &result = *call->result;
  const Windows w = pooled(call, x, 0);
  rml::kernels::with_type(x.dtype, [&]<class T>(T) {
    const T* in = static_cast<const T*>(x.data);
    each_maximum(w, channels_of(x), in, [&](std::int64_t c, std::int64_t o, std::int64_t at) {
      static_cast<T*>(result.data)[c * w.outputs() + o] = in[c * w.inputs() + at];
    });
  });
  return RML_OK;
}

// Operands and attributes as for rml_kernel_max_pool. The result holds positions among all elements of x.
std::int32_t rml_kernel_max_pool_indices(rml_kernel_call* call) {
  const rml_array &x = call->operands[0], &result = *call->result;
  const Windows w = pooled(call, x, 0);
  rml::kernels::with_type(x.dtype, [&]<class T>(T) {
    each_maximum(w, channels_of(x), static_cast<const T*>(x.data),
                 [&](std::int64_t c, std::int64_t o, std::int64_t at) {
                   static_cast<std::int64_t*>(result.data)[c * w.outputs() + o] = c * w.inputs() + at;
                 });
  });
  return RML_OK;
}

// Operands: x, v. Selects v at the positions of the maxima of x.
std::int32_t rml_kernel_max_pool_select(rml_kernel_call* call) {
  const rml_array &x = call->operands[0], &v = call->operands[1], &result = *call->result;
  const Windows w = pooled(call, x, 0);
  rml::kernels::with_type(x.dtype, [&]<class T>(T) {
    each_maximum(
        w, channels_of(x), static_cast<const T*>(x.data), [&](std::int64_t c, std::int64_t o, std::int64_t at) {
          static_cast<T*>(result.data)[c * w.outputs() + o] = static_cast<const T*>(v.data)[c * w.inputs() + at];
        });
  });
  return RML_OK;
}

// Operands: x, g. Adds g at the positions of the maxima of x.
std::int32_t rml_kernel_max_pool_gradient(rml_kernel_call* call) {
  const rml_array &x = call->operands[0], &g = call->operands[1], &result = *call->result;
  const Windows w = pooled(call, x, 0);
  rml::kernels::with_type(x.dtype, [&]<class T>(T) {
    T* to = static_cast<T*>(result.data);
    std::fill_n(to, channels_of(x) * w.inputs(), T(0));
    each_maximum(w, channels_of(x), static_cast<const T*>(x.data),
                 [&](std::int64_t c, std::int64_t o, std::int64_t at) {
                   T& place = to[c * w.inputs() + at];
                   place = plus(place, static_cast<const T*>(g.data)[c * w.outputs() + o]);
                 });
  });
  return RML_OK;
}

// Operand: x. Attributes: window, strides, padding, dilations, same, ceil_mode.
std::int32_t rml_kernel_sum_pool(rml_kernel_call* call) { return sums(call, Divisor::one); }
// Operand: g. Attributes: shape, window, strides, padding, dilations, same, ceil_mode.
std::int32_t rml_kernel_sum_pool_gradient(rml_kernel_call* call) { return spread_sums(call, Divisor::one); }
// As rml_kernel_sum_pool, with count_include_pad as the last attribute.
std::int32_t rml_kernel_average_pool(rml_kernel_call* call) { return sums(call, divisor_of(call, 6)); }
std::int32_t rml_kernel_average_pool_gradient(rml_kernel_call* call) { return spread_sums(call, divisor_of(call, 7)); }

// Operand: x. Attributes: window, strides, padding, dilations, same.
std::int32_t rml_kernel_im2col(rml_kernel_call* call) {
  const rml_array& x = call->operands[0];
  const Windows w = columns(call, x, 0);
  rml::kernels::with_type(x.dtype, [&]<class T>(T) {
    each_entry(w, x.extents[0], x.extents[1], [&](std::int64_t entry, std::int64_t at) {
      static_cast<T*>(call->result->data)[entry] = at < 0 ? T(0) : static_cast<const T*>(x.data)[at];
    });
  });
  return RML_OK;
}

// Operand: columns. Attributes: shape, window, strides, padding, dilations, same.
std::int32_t rml_kernel_col2im(rml_kernel_call* call) {
  const rml_array& result = *call->result;
  const Windows w = columns(call, result, 1);
  rml::kernels::with_type(result.dtype, [&]<class T>(T) {
    T* to = static_cast<T*>(result.data);
    std::fill_n(to, channels_of(result) * w.inputs(), T(0));
    each_entry(w, result.extents[0], result.extents[1], [&](std::int64_t entry, std::int64_t at) {
      if (at >= 0) to[at] = plus(to[at], static_cast<const T*>(call->operands[0].data)[entry]);
    });
  });
  return RML_OK;
}
