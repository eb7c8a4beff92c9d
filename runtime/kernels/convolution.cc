// Convolutions over one to three spatial axes, and their adjoints.
//
//   y[n, o, p]  = sum over c, k of x[n, c, p stride - begin + k dilation] w[o, c, k]
//   dx[n, c, i] = sum over o, k of g[n, o, the p that reads i at k] w[o, c, k]
//   dw[o, c, k] = sum over n, p of x[n, c, p stride - begin + k dilation] g[n, o, p]
//
// within each group of channels. x is extended by zeros, which are multiplied like its elements.
// g is not extended: only existing outputs contribute, so an infinite weight adds nothing
// elsewhere. A sum begins with 0 and adds in row-major order of its indices, without contraction.
// This file is the reference, and compiled programs call it where they must give the same bits.
#include "runtime/kernels/convolution.h"

#include <algorithm>

#include "runtime/kernels/window_call.h"

namespace {

using namespace rml::window;

struct Channels {
  std::int64_t batch, groups, in, out;  // sizes of a convolution; `in` and `out` are the channels of one group
};

Request of_filter(const rml_kernel_call* call, std::uint32_t first, const std::int64_t* filter, std::uint32_t rank) {
  Request r = request(call, first);
  r.sizes = {filter + 2, static_cast<std::int64_t>(rank) - 2};
  return r;
}

Channels channels(const std::int64_t* x, const std::int64_t* filter, std::int64_t groups) {
  return {x[0], groups, filter[1], filter[0] / groups};
}

template <class F>
void each_pair(const Channels& c, F&& f) {
  for (std::int64_t n = 0; n < c.batch; ++n)
    for (std::int64_t g = 0; g < c.groups; ++g)
      for (std::int64_t o = 0; o < c.out; ++o)
        for (std::int64_t i = 0; i < c.in; ++i)
          f((n * c.groups + g) * c.in + i, (n * c.groups + g) * c.out + o, (g * c.out + o) * c.in + i);
}

// Convolves one channel of x with one filter, into one channel of y.
template <class T>
void forward(const Windows& w, const T* x, const T* filter, T* y) {
  each_tap(w, [&](std::int64_t k0, std::int64_t k1, std::int64_t k2, std::int64_t k) {
    const std::int64_t tap[] = {k0, k1, k2};
    each_output(w, [&](std::int64_t o0, std::int64_t o1, std::int64_t o2, std::int64_t o) {
      const std::int64_t output[] = {o0, o1, o2}, at = position(w, output, tap);
      y[o] = plus(y[o], times(at < 0 ? T(0) : x[at], filter[k]));
    });
  });
}

template <class T>
void to_input(const Windows& w, const T* g, const T* filter, T* dx) {
  each_tap(w, [&](std::int64_t k0, std::int64_t k1, std::int64_t k2, std::int64_t k) {
    const std::int64_t tap[] = {k0, k1, k2};
    each_input(w, [&](std::int64_t i0, std::int64_t i1, std::int64_t i2, std::int64_t i) {
      const std::int64_t input[] = {i0, i1, i2};
      std::int64_t at = 0;
      for (int a = 0; a < max_axes; ++a) {
        const Axis& axis = w.axis[a];
        const std::int64_t seen_by = axis.output(input[a], tap[a]);
        if (seen_by < 0 || seen_by >= axis.out) return;
        at = at * axis.out + seen_by;
      }
      dx[i] = plus(dx[i], times(g[at], filter[k]));
    });
  });
}

template <class T>
void to_filter(const Windows& w, const T* x, const T* g, T* filter) {
  each_tap(w, [&](std::int64_t k0, std::int64_t k1, std::int64_t k2, std::int64_t k) {
    const std::int64_t tap[] = {k0, k1, k2};
    T sum = filter[k];
    each_output(w, [&](std::int64_t o0, std::int64_t o1, std::int64_t o2, std::int64_t o) {
      const std::int64_t output[] = {o0, o1, o2}, at = position(w, output, tap);
      sum = plus(sum, times(at < 0 ? T(0) : x[at], g[o]));
    });
    filter[k] = sum;
  });
}

template <class T>
void fill_zero(const rml_array& a) {
  std::int64_t n = 1;
  for (std::uint32_t k = 0; k < a.rank; ++k) n *= a.extents[k];
  std::fill_n(static_cast<T*>(a.data), n, T(0));
}

// The operands are g and the filter, the result is dx.
std::int32_t spread(rml_kernel_call* call, const Windows& w, std::int64_t groups) {
  const rml_array &g = call->operands[0], &filter = call->operands[1], &result = *call->result;
  const Channels c = channels(result.extents, filter.extents, groups);
  rml::kernels::with_type(result.dtype, [&]<class T>(T) {
    fill_zero<T>(result);
    each_pair(c, [&](std::int64_t in, std::int64_t out, std::int64_t pair) {
      to_input(w, static_cast<const T*>(g.data) + out * w.outputs(),
               static_cast<const T*>(filter.data) + pair * w.taps(), static_cast<T*>(result.data) + in * w.inputs());
    });
  });
  return RML_OK;
}

}  // namespace

// Operands: x, w. Attributes: strides, padding, dilations, same, groups.
std::int32_t rml_kernel_conv(rml_kernel_call* call) {
  const rml_array &x = call->operands[0], &filter = call->operands[1], &result = *call->result;
  const Windows w = windows_over(x, of_filter(call, 0, filter.extents, filter.rank));
  const Channels c = channels(x.extents, filter.extents, call->attributes[4].integers[0]);
  rml::kernels::with_type(result.dtype, [&]<class T>(T) {
    fill_zero<T>(result);
    each_pair(c, [&](std::int64_t in, std::int64_t out, std::int64_t pair) {
      forward(w, static_cast<const T*>(x.data) + in * w.inputs(), static_cast<const T*>(filter.data) + pair * w.taps(),
              static_cast<T*>(result.data) + out * w.outputs());
    });
  });
  return RML_OK;
}

// Operands: g, w. Attributes: shape, strides, padding, dilations, same, groups.
std::int32_t rml_kernel_conv_input_gradient(rml_kernel_call* call) {
  const rml_array& filter = call->operands[1];
  const Windows w = windows_over(*call->result, of_filter(call, 1, filter.extents, filter.rank));
  return spread(call, w, call->attributes[5].integers[0]);
}

// Operands: x, w. Attributes: strides, padding, dilations, same, groups, output_padding.
std::int32_t rml_kernel_conv_transpose(rml_kernel_call* call) {
  const rml_array &x = call->operands[0], &filter = call->operands[1];
  Windows w;
  read_transposed(of_filter(call, 0, filter.extents, filter.rank), Integers(call->attributes[5]), x.extents + 2,
                  static_cast<int>(x.rank) - 2, w);
  return spread(call, w, call->attributes[4].integers[0]);
}

// Operands: x, g. Attributes: shape, strides, padding, dilations, same, groups.
std::int32_t rml_kernel_conv_weight_gradient(rml_kernel_call* call) {
  const rml_array &x = call->operands[0], &g = call->operands[1], &result = *call->result;
  const Windows w = windows_over(x, of_filter(call, 1, result.extents, result.rank));
  const Channels c = channels(x.extents, result.extents, call->attributes[5].integers[0]);
  rml::kernels::with_type(result.dtype, [&]<class T>(T) {
    fill_zero<T>(result);
    each_pair(c, [&](std::int64_t in, std::int64_t out, std::int64_t pair) {
      to_filter(w, static_cast<const T*>(x.data) + in * w.inputs(), static_cast<const T*>(g.data) + out * w.outputs(),
                static_cast<T*>(result.data) + pair * w.taps());
    });
  });
  return RML_OK;
}
