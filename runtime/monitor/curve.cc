// Outliers do not determine the scale of a noisy curve: it covers the smooth line, the band and all
// means except the most extreme ones.
#include "runtime/monitor/curve.h"

#include <algorithm>
#include <cmath>

namespace rml::rt {
namespace {

// A curve of fewer buckets is drawn as it is.
constexpr std::size_t fewest_to_smooth = 20;
// The share of the height up to which unpredictable changes do not disturb.
constexpr double least_noise = 0.01;

std::vector<double> sorted_means(const Series& series) {
  std::vector<double> means;
  for (const Bucket& b : series.buckets())
    if (b.count > 0) means.push_back(b.mean());
  std::sort(means.begin(), means.end());
  return means;
}

// The runs of buckets between gaps.
std::vector<Piece> pieces_of(const Series& series, bool logarithmic) {
  std::vector<Piece> pieces;
  bool open = false;
  for (const Bucket& b : series.buckets()) {
    const bool drawn = b.count > 0 && (!logarithmic || b.mean() > 0);
    if (drawn && !open) pieces.emplace_back();
    if (drawn) pieces.back().push_back(&b);
    open = drawn;
  }
  return pieces;
}

// The first, least, most and last value, in their order.
Points points_of(const Bucket& b) {
  Points points{{b.first, b.opening}, {b.last, b.closing}};
  if (b.count == 1) points.pop_back();
  if (b.at_least > b.first && b.at_least < b.last) points.push_back({b.at_least, b.least});
  if (b.at_most > b.first && b.at_most < b.last) points.push_back({b.at_most, b.most});
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& c) { return a.cycle < c.cycle; });
  return points;
}

std::vector<Points> values_as_they_are(const Series& series, bool logarithmic) {
  std::vector<Points> all;
  bool open = false;
  for (const Bucket& b : series.buckets()) {
    if (b.count == 0) {
      open = false;
      continue;
    }
    for (const Point& point : points_of(b)) {
      const bool drawn = !logarithmic || point.value > 0;
      if (drawn && !open) all.emplace_back();
      if (drawn) all.back().push_back(point);
      open = drawn;
    }
  }
  return all;
}

// Almost all values are within this height.
double usual_height(const std::vector<Piece>& pieces, bool logarithmic) {
  std::vector<double> samples;
  for (const Piece& piece : pieces)
    for (const Bucket* b : piece)
      for (std::size_t k = 0; k < b->sampled(); ++k)
        if (!logarithmic || b->samples[k] > 0) samples.push_back(b->samples[k]);
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const std::size_t extreme = samples.size() / 200;
  const double low = samples[extreme], high = samples[samples.size() - 1 - extreme];
  return logarithmic ? std::log(high / low) : high - low;
}

bool is_noisy(const Series& series, const std::vector<Piece>& pieces, bool logarithmic) {
  std::size_t count = 0;
  for (const Piece& piece : pieces) count += piece.size();
  if (count < fewest_to_smooth) return false;
  return unpredictable_part(series.excerpts(), logarithmic) > least_noise * usual_height(pieces, logarithmic);
}

void add_smooth(Curve& curve, const std::vector<Piece>& pieces, bool logarithmic) {
  curve.smooth = smoothed(pieces, logarithmic);
  std::vector<double> means;
  for (const Piece& piece : pieces) {
    Points& points = curve.values.emplace_back();
    for (const Bucket* b : piece) points.push_back({b->middle(), b->mean()});
    for (const Bucket* b : piece) means.push_back(b->mean());
  }
  std::sort(means.begin(), means.end());
  const std::size_t extreme = means.size() / 200;
  curve.range = {means[extreme], means[means.size() - 1 - extreme]};
  for (const std::vector<Smooth>& piece : curve.smooth) {
    for (const Smooth& s : piece) {
      curve.range = curve.range.joined({s.line, s.high});
      // The lower edge of the band is 0 where values are not positive.
      if (!logarithmic || s.low > 0) curve.range = curve.range.joined({s.low, s.line});
    }
  }
}

}  // namespace

std::size_t Curve::points() const {
  std::size_t count = 0;
  for (const Points& piece : values) count += piece.size();
  return count;
}

Curve curve_of(const Series& series, std::string label, bool logarithmic) {
  Curve curve;
  curve.series = &series;
  curve.label = std::move(label);
  curve.hidden = logarithmic && !is_positive(series);
  const std::vector<Piece> pieces = pieces_of(series, logarithmic);
  if (is_noisy(series, pieces, logarithmic)) {
    add_smooth(curve, pieces, logarithmic);
    return curve;
  }
  curve.values = values_as_they_are(series, logarithmic);
  if (curve.empty()) return curve;
  curve.range = {HUGE_VAL, -HUGE_VAL};
  for (const Points& piece : curve.values)
    for (const Point& point : piece) curve.range = curve.range.joined({point.value, point.value});
  return curve;
}

Range rough_range(const Series& series) {
  const std::vector<double> means = sorted_means(series);
  const std::size_t extreme = means.size() / 200;
  return {means[extreme], means[means.size() - 1 - extreme]};
}

bool is_positive(const Series& series) {
  return std::all_of(series.buckets().begin(), series.buckets().end(),
                     [](const Bucket& b) { return b.count == 0 || b.least > 0; });
}

bool wants_logarithm(const Series& series) {
  if (!is_positive(series)) return false;
  const std::vector<double> means = sorted_means(series);
  const double low = means.front(), high = means.back(), middle = means[means.size() / 2];
  return high > 50 * low && middle - low < 0.15 * (high - low);
}

}  // namespace rml::rt
