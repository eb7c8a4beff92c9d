// One curve of a picture: the points to draw on a linear or logarithmic scale.
//
// A curve without noise is drawn as it is: of each bucket, its first, least, most and last value,
// in their order. A noisy curve has a smooth line, a band that four fifths of the values are in,
// and its means as a faint line. Values that are not finite, and on a logarithmic scale those that
// are not positive, leave a gap.
#pragma once

#include <string>
#include <vector>

#include "runtime/monitor/series.h"
#include "runtime/monitor/smoothing.h"

namespace rml::rt {

struct Range {
  double low = 0, high = 0;
  bool holds(double value) const { return value >= low && value <= high; }
  Range joined(Range other) const { return {std::min(low, other.low), std::max(high, other.high)}; }
};

struct Point {
  double cycle = 0, value = 0;
};
using Points = std::vector<Point>;

struct Curve {
  const Series* series = nullptr;
  std::string label;
  std::vector<Points> values;               // as they are, or the means of a noisy curve
  std::vector<std::vector<Smooth>> smooth;  // by piece, at the points of `values`; empty: no noise
  Range range;                              // the range of values that must be visible
  bool hidden = false;                      // values cannot be drawn on a logarithmic scale
  bool empty() const { return values.empty(); }
  bool is_noisy() const { return !smooth.empty(); }
  std::size_t points() const;
};

// The curve of a series that has a finite value.
Curve curve_of(const Series& series, std::string label, bool logarithmic);

// The range of the means, without the most extreme ones.
Range rough_range(const Series& series);
bool is_positive(const Series& series);
// True if values are positive, span orders of magnitude, and are mostly small, so that a linear
// scale would show most of them as zero.
bool wants_logarithm(const Series& series);

}  // namespace rml::rt
