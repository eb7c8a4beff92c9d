// Samples x [batch, channels, spatial…], with two or three spatial axes, at the points of a grid
// [batch, places…, axes]. The first number of a point is the coordinate along the last axis. -1
// and 1 are the outer edges of the first and last elements, or their centres with align_corners.
//
// Along each axis a point has a few taps, which are elements with weights. The sample is the sum
// over all combinations of taps. The adjoint of the grid follows from the derivatives of the
// weights.
#include "runtime/kernels/grid_sample.h"

#include <algorithm>
#include <cmath>

#include "runtime/kernels/elements.h"
#include "runtime/kernels/sampling.h"

namespace {

using namespace rml::kernels;

enum class Mode : std::uint8_t { linear, nearest, cubic };
enum class Padding : std::uint8_t { zeros, border, reflection };

constexpr std::int64_t most_axes = 3;

struct Taps {
  std::int64_t count = 0;
  std::int64_t element[4] = {};  // positions of the elements; -1: a zero beyond the ends
  double weight[4] = {}, slope[4] = {};
};

struct Sampler {
  Mode mode{};
  Padding padding{};
  bool align = false;

  // Attributes: mode, padding, align_corners. The shape rule has checked the names, which differ
  // in their first letters.
  explicit Sampler(const rml_attribute* a)
      : mode(a[0].integers[0] == 'l'   ? Mode::linear
             : a[0].integers[0] == 'n' ? Mode::nearest
                                       : Mode::cubic),
        padding(a[1].integers[0] == 'z'   ? Padding::zeros
                : a[1].integers[0] == 'b' ? Padding::border
                                          : Padding::reflection),
        align(a[2].integers[0] != 0) {}

  // The coordinate at which reflection reverses: the outermost centres, or the edges.
  double first() const { return align ? 0 : -0.5; }
  double last(std::int64_t n) const { return static_cast<double>(n) - (align ? 1 : 0.5); }

  // x reflected into the extent; `sign` is the derivative of the result by x.
  double reflected(double x, std::int64_t n, double& sign) const {
    const double low = first(), range = last(n) - low;
    if (range <= 0) return sign = 0, low;
    const double beyond = std::fabs(x - low), turns = std::floor(beyond / range);
    const double rest = beyond - turns * range;
    const bool even = std::fmod(turns, 2) == 0;
    sign *= (x < low ? -1 : 1) * (even ? 1 : -1);
    return even ? low + rest : low + range - rest;
  }

  std::int64_t inside(std::int64_t i, std::int64_t n) const {
    if (i >= 0 && i < n) return i;
    if (padding == Padding::zeros) return -1;
    double sign = 1;
    if (padding == Padding::reflection) i = static_cast<std::int64_t>(reflected(static_cast<double>(i), n, sign));
    return std::clamp<std::int64_t>(i, 0, n - 1);
  }

  static constexpr double a = -0.75;  // parameter of the cubic kernel
  static double cubic_slope(double at) {
    const double d = std::fabs(at), sign = at < 0 ? -1 : 1;
    if (d < 1) return sign * (3 * (a + 2) * d - 2 * (a + 3)) * d;
    return d < 2 ? sign * ((3 * a * d - 10 * a) * d + 8 * a) : 0;
  }

  // The taps for coordinate `at` of a point on an axis of n elements. NaN has none.
  Taps taps(double at, std::int64_t n) const {
    const auto extent = static_cast<double>(n);
    double x = align ? (at + 1) / 2 * (extent - 1) : ((at + 1) * extent - 1) / 2;
    double speed = align ? (extent - 1) / 2 : extent / 2;
    Taps t;
    if (!std::isfinite(x)) return t;
    if (mode == Mode::nearest) x = std::nearbyint(x);
    if (x < first() || x > last(n)) {
      if (padding == Padding::border) {
        x = std::clamp(x, 0.0, extent - 1);
        speed = 0;
      } else if (padding == Padding::reflection) {
        x = reflected(x, n, speed);
      } else {
        // all taps farther out are zeros; after the clamp the coordinate fits an integer
        x = std::clamp(x, -4.0, extent + 4);
      }
    }
    const double below = std::floor(x), part = x - below;
    const auto base = static_cast<std::int64_t>(below);
    const auto add = [&](std::int64_t i, double weight, double slope) {
      t.element[t.count] = inside(i, n);
      t.weight[t.count] = weight;
      t.slope[t.count++] = slope * speed;
    };
    if (mode == Mode::nearest) {
      add(static_cast<std::int64_t>(std::nearbyint(x)), 1, 0);
    } else if (mode == Mode::linear) {
      add(base, 1 - part, -1);
      add(base + 1, part, 1);
    } else {
      for (std::int64_t k = -1; k <= 2; ++k)
        add(base + k, rml::sampling::keys(part - static_cast<double>(k), a),
            cubic_slope(part - static_cast<double>(k)));
    }
    return t;
  }
};

// The extents of a call; those of x without batch and channels are padded to three axes in front.
struct Call {
  Sampler sampler;
  std::int64_t axes, batch, channels, places;
  std::int64_t extent[most_axes] = {1, 1, 1};

  Call(const rml_array& x, const rml_array& grid, const rml_attribute* attributes)
      : sampler(attributes),
        axes(static_cast<std::int64_t>(x.rank) - 2),
        batch(x.extents[0]),
        channels(x.extents[1]),
        places(product(grid, 1, static_cast<std::int64_t>(grid.rank) - 1)) {
    for (std::int64_t k = 0; k < axes; ++k) extent[most_axes - axes + k] = x.extents[2 + k];
  }
  std::int64_t elements() const { return extent[0] * extent[1] * extent[2]; }

  // The taps of a point along each axis; missing axes have one tap.
  template <class T>
  void taps(const T* point, Taps (&t)[most_axes]) const {
    for (std::int64_t k = 0; k < most_axes; ++k) {
      const std::int64_t number = most_axes - 1 - k;  // the first number belongs to the last axis
      t[k] = Taps{};
      t[k].count = 1;
      t[k].weight[0] = 1;
      if (number < axes) t[k] = sampler.taps(static_cast<double>(point[number]), extent[k]);
    }
  }

  // Calls f(element of a channel, i, j, k) for the combinations of taps within the extent.
  template <class F>
  void each(const Taps (&t)[most_axes], F&& f) const {
    for (std::int64_t i = 0; i < t[0].count; ++i)
      for (std::int64_t j = 0; j < t[1].count; ++j)
        for (std::int64_t k = 0; k < t[2].count; ++k) {
          const std::int64_t a = t[0].element[i], b = t[1].element[j], c = t[2].element[k];
          if (a >= 0 && b >= 0 && c >= 0) f((a * extent[1] + b) * extent[2] + c, i, j, k);
        }
  }
};

template <class T>
const T* data(const rml_array& x) {
  return static_cast<const T*>(x.data);
}

}  // namespace

std::int32_t rml_kernel_grid_sample(rml_kernel_call* call) {
  const rml_array &x = call->operands[0], &grid = call->operands[1];
  const Call c(x, grid, call->attributes);
  with_float_type(x.dtype, [&]<class T>(T) {
    T* out = static_cast<T*>(call->result->data);
    for (std::int64_t b = 0; b < c.batch; ++b)
      for (std::int64_t p = 0; p < c.places; ++p) {
        Taps t[most_axes];
        c.taps(data<T>(grid) + (b * c.places + p) * c.axes, t);
        for (std::int64_t channel = 0; channel < c.channels; ++channel) {
          const T* in = data<T>(x) + (b * c.channels + channel) * c.elements();
          double sum = 0;
          c.each(t, [&](std::int64_t at, std::int64_t i, std::int64_t j, std::int64_t k) {
            sum += t[0].weight[i] * t[1].weight[j] * t[2].weight[k] * static_cast<double>(in[at]);
          });
          out[(b * c.channels + channel) * c.places + p] = static_cast<T>(sum);
        }
      }
  });
  return RML_OK;
}

std::int32_t rml_kernel_sum_grid_sample(rml_kernel_call* call) {
  const rml_array &g = call->operands[0], &grid = call->operands[1], &result = *call->result;
  const Call c(result, grid, call->attributes + 1);
  with_float_type(g.dtype, [&]<class T>(T) {
    T* out = static_cast<T*>(result.data);
    std::fill_n(out, count(result), T(0));
    for (std::int64_t b = 0; b < c.batch; ++b)
      for (std::int64_t p = 0; p < c.places; ++p) {
        Taps t[most_axes];
        c.taps(data<T>(grid) + (b * c.places + p) * c.axes, t);
        for (std::int64_t channel = 0; channel < c.channels; ++channel) {
          const auto part = static_cast<double>(data<T>(g)[(b * c.channels + channel) * c.places + p]);
          T* to = out + (b * c.channels + channel) * c.elements();
          c.each(t, [&](std::int64_t at, std::int64_t i, std::int64_t j, std::int64_t k) {
            to[at] += static_cast<T>(t[0].weight[i] * t[1].weight[j] * t[2].weight[k] * part);
          });
        }
      }
  });
  return RML_OK;
}

std::int32_t rml_kernel_grid_sample_gradient(rml_kernel_call* call) {
  const rml_array &x = call->operands[0], &grid = call->operands[1], &g = call->operands[2];
  const Call c(x, grid, call->attributes);
  with_float_type(x.dtype, [&]<class T>(T) {
    T* out = static_cast<T*>(call->result->data);
    for (std::int64_t b = 0; b < c.batch; ++b)
      for (std::int64_t p = 0; p < c.places; ++p, out += c.axes) {
        Taps t[most_axes];
        c.taps(data<T>(grid) + (b * c.places + p) * c.axes, t);
        double sum[most_axes] = {};
        for (std::int64_t channel = 0; channel < c.channels; ++channel) {
          const T* in = data<T>(x) + (b * c.channels + channel) * c.elements();
          const auto part = static_cast<double>(data<T>(g)[(b * c.channels + channel) * c.places + p]);
          c.each(t, [&](std::int64_t at, std::int64_t i, std::int64_t j, std::int64_t k) {
            const double value = part * static_cast<double>(in[at]);
            const double* w[] = {t[0].weight + i, t[1].weight + j, t[2].weight + k};
            sum[0] += t[0].slope[i] * *w[1] * *w[2] * value;
            sum[1] += *w[0] * t[1].slope[j] * *w[2] * value;
            sum[2] += *w[0] * *w[1] * t[2].slope[k] * value;
          });
        }
        for (std::int64_t number = 0; number < c.axes; ++number)
          out[number] = static_cast<T>(sum[most_axes - 1 - number]);
      }
  });
  return RML_OK;
}
