// An axis of a plot: maps values to positions, and marks round numbers.
#pragma once

#include <string>
#include <vector>

namespace rml::rt {

class Axis {
 public:
  // An axis from low to high, slightly widened. A logarithmic axis requires low > 0. least_step:
  // distance that marks have at least.
  Axis(double low, double high, bool logarithmic, int about_ticks, double least_step = 0);

  struct Tick {
    double at;          // in [0, 1]
    std::string label;  // text beside the grid line; empty: no text
  };
  const std::vector<Tick>& ticks() const { return ticks_; }
  bool logarithmic() const { return logarithmic_; }
  // The position of a value; between 0 and 1 if it is on the axis.
  double place(double value) const;

 private:
  void linear_ticks(int about, double least_step);
  void logarithmic_ticks(int about);

  double low_, high_;  // ends of the axis; on a logarithmic axis, their logarithms
  bool logarithmic_;
  std::vector<Tick> ticks_;
};

// "0.25", "1.5k", "2M", "3e-07".
std::string short_number(double value, int digits = 4);

}  // namespace rml::rt
