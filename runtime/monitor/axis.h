// An axis of a plot: maps values to positions, and marks round numbers.
#pragma once

#include <string>
#include <vector>

namespace rml::rt {

class Axis {
 public:
  // An axis from low to high, slightly widened. A logarithmic axis requires low > 0.
  Axis(double low, double high, bool logarithmic, int about_ticks);

  struct Tick {
    double at;          // in [0, 1]
    std::string label;  // empty: a grid line without a label
  };
  const std::vector<Tick>& ticks() const { return ticks_; }
  bool logarithmic() const { return logarithmic_; }
  // In [0, 1] if the value is on the axis.
  double place(double value) const;

 private:
  void linear_ticks(int about);
  void logarithmic_ticks(int about);

  double low_, high_;  // logarithms if the axis is logarithmic
  bool logarithmic_;
  std::vector<Tick> ticks_;
};

// "0.25", "1.5k", "2M", "3e-07".
std::string short_number(double value);

}  // namespace rml::rt
