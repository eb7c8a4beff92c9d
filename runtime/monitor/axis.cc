// Ticks are at round numbers: 1, 2 or 5 times a power of ten.
#include "runtime/monitor/axis.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace rml::rt {

std::string short_number(double value, int digits) {
  char text[32];
  const double size = std::fabs(value);
  constexpr struct {
    double unit;
    const char* suffix;
  } units[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [unit, suffix] : units) {
    if (size < unit || size >= 1e12) continue;
    std::snprintf(text, sizeof text, "%.*g%s", digits, value / unit, suffix);
    return text;
  }
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

Axis::Axis(double low, double high, bool logarithmic, int about_ticks, double least_step) : logarithmic_(logarithmic) {
  low_ = logarithmic ? std::log10(low) : low;
  high_ = logarithmic ? std::log10(high) : high;
  // Of values that differ by rounding only, the ticks would not differ.
  constexpr double rounding = 1e-12;
  if (!(high_ - low_ > rounding * std::max(std::fabs(low_), std::fabs(high_)))) {
    const double half = logarithmic || low_ == 0 ? 0.5 : std::fabs(low_) * 0.1;
    low_ -= half;
    high_ += half;
  }
  if (logarithmic)
    logarithmic_ticks(about_ticks);
  else
    linear_ticks(about_ticks, least_step);
}

double Axis::place(double value) const {
  if (logarithmic_ && value <= 0) return -1;
  return ((logarithmic_ ? std::log10(value) : value) - low_) / (high_ - low_);
}

// Steps of 1, 2 or 5 times a power of ten. Labels have enough digits to differ.
void Axis::linear_ticks(int about, double least_step) {
  const double rough = (high_ - low_) / about;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power < rough) continue;
    step = factor * power;
    break;
  }
  step = std::max(step, least_step);
  const double steps = std::max(std::fabs(low_), std::fabs(high_)) / step;
  const int digits = std::clamp(static_cast<int>(std::log10(std::max(steps, 1.0))) + 2, 4, 15);
  for (double k = std::ceil(low_ / step); k * step <= high_ + step * 1e-9; ++k) {
    const double value = k == 0 ? 0 : k * step;
    ticks_.push_back({place(value), short_number(value, digits)});
  }
}

// Powers of ten. If there are few of them, also 2 and 5 times these, and grid lines for all
// digits.
void Axis::logarithmic_ticks(int about) {
  const double decades = high_ - low_;
  const double every = std::max(1.0, std::ceil(decades / about));
  for (double d = std::floor(low_); d <= high_; ++d) {
    for (int digit = 1; digit <= 9; ++digit) {
      const double value = digit * std::pow(10.0, d), at = place(value);
      if (at < -1e-9 || at > 1 + 1e-9) continue;
      const bool power = digit == 1 && std::fmod(d, every) == 0;
      const bool between = decades < 2.5 && (digit == 2 || digit == 5);
      if (power || between)
        ticks_.push_back({at, short_number(value)});
      else if (decades < 5)
        ticks_.push_back({at, ""});
    }
  }
}

}  // namespace rml::rt
