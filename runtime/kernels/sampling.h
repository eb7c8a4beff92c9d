// Determines which elements of an axis contribute to an element of the resized axis, and with
// which weights. The kernels of `resize` and its shape rule share this interpretation of the
// attributes.
//
// An element of the result has a real coordinate on the axis of the operand, which `coordinates`
// defines. At this coordinate, `mode` selects the nearest element, or weighs the surrounding
// elements by a triangle (linear) or by Keys' cubic kernel. Elements beyond the ends equal those
// at the ends; with exclude_outside they have no weight. With antialias, the kernel of a reduced
// result is widened to the distance between its elements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace rml::sampling {

enum class Mode : std::uint8_t { nearest, nearest_floor, nearest_ceil, nearest_round_up, linear, cubic };
enum class Coordinates : std::uint8_t {
  half_pixel,
  half_pixel_symmetric,
  pytorch_half_pixel,
  align_corners,
  asymmetric,
  crop
};

inline constexpr std::string_view modes[] = {"nearest",          "nearest_floor", "nearest_ceil",
                                             "nearest_round_up", "linear",        "cubic"};
inline constexpr std::string_view coordinates[] = {"half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",
                                                   "align_corners", "asymmetric",           "crop"};

// Keys' cubic kernel (1981) at a distance from an element; `a` is its slope at the distance 1.
inline double keys(double at, double a) {
  const double d = std::fabs(at);
  if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

struct Axis {
  Mode mode{};
  Coordinates where{};
  std::int64_t from = 0, to = 0;  // extents of the operand and the result
  double scale = 0;               // scale from operand to result; 0: the ratio of the extents
  double start = 0, end = 1;      // crop: part of the operand, from 0 (first element) to 1 (last)
  double cubic = -0.75;
  bool antialias = false, exclude_outside = false;

  // True if the scale is close to the ratio of the extents, so that no element combines far more
  // elements than there are.
  bool fits() const {
    const double made = scale * static_cast<double>(from), wanted = static_cast<double>(to);
    return scale == 0 || (made >= wanted / 2 && made < wanted + 1);
  }

  double ratio() const { return scale > 0 ? scale : static_cast<double>(to) / static_cast<double>(from); }

  double place(std::int64_t o) const {
    const auto x = static_cast<double>(o), last = static_cast<double>(from - 1);
    const double length = scale > 0 ? scale * static_cast<double>(from) : static_cast<double>(to);
    const double centre = (x + 0.5) / ratio() - 0.5;
    switch (where) {
      case Coordinates::half_pixel:
        return centre;
      case Coordinates::half_pixel_symmetric:
        return centre + static_cast<double>(from) / 2 * (1 - static_cast<double>(to) / length);
      case Coordinates::pytorch_half_pixel:
        return length > 1 ? centre : 0;
      case Coordinates::align_corners:
        return length == 1 ? 0 : x * last / (length - 1);
      case Coordinates::asymmetric:
        return x / ratio();
      default:
        return to > 1 ? start * last + x * (end - start) * last / static_cast<double>(to - 1)
                      : 0.5 * (start + end) * last;
    }
  }

  // Calls f(element, weight) for each element that contributes to element o of the result.
  // Returns false if the coordinate is beyond the ends and a crop has a value of its own there.
  template <class F>
  bool taps(std::int64_t o, F&& f) const {
    double x = place(o);
    if (where == Coordinates::crop && !(x >= 0 && x <= static_cast<double>(from - 1))) return false;
    const auto extent = static_cast<double>(from);
    // farther out, everything equals the end; the coordinate now fits an integer
    x = std::clamp(x, -4 * extent - 8, 5 * extent + 8);
    if (mode < Mode::linear) {
      f(inside(nearest(x)), 1.0);
      return true;
    }
    const double shrink = antialias ? std::min(ratio(), 1.0) : 1.0;
    const double radius = (mode == Mode::linear ? 1 : 2) / shrink;
    const auto first = static_cast<std::int64_t>(std::floor(x - radius)) + 1;
    const auto last = static_cast<std::int64_t>(std::ceil(x + radius)) - 1;
    double total = 0, all = 0;
    for (std::int64_t i = first; i <= last; ++i) {
      const double w = weight((static_cast<double>(i) - x) * shrink);
      all += w;
      if (!exclude_outside || i == inside(i)) total += w;
    }
    const bool excluding = exclude_outside && total != 0;
    const double by = excluding ? total : antialias ? all : 1;
    for (std::int64_t i = first; i <= last; ++i) {
      if (excluding && i != inside(i)) continue;
      f(inside(i), weight((static_cast<double>(i) - x) * shrink) / by);
    }
    return true;
  }

 private:
  std::int64_t inside(std::int64_t i) const { return std::clamp<std::int64_t>(i, 0, from - 1); }

  std::int64_t nearest(double x) const {
    const double below = std::floor(x);
    switch (mode) {
      case Mode::nearest:  // of two equally near elements, the lower one
        return static_cast<std::int64_t>(x - below > 0.5 ? below + 1 : below);
      case Mode::nearest_round_up:
        return static_cast<std::int64_t>(x - below < 0.5 ? below : below + 1);
      case Mode::nearest_floor:
        return static_cast<std::int64_t>(below);
      default:
        return static_cast<std::int64_t>(std::ceil(x));
    }
  }

  double weight(double at) const { return mode == Mode::linear ? std::max(0.0, 1 - std::fabs(at)) : keys(at, cubic); }
};

}  // namespace rml::sampling
