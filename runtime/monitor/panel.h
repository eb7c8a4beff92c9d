// One panel of a picture: curves over a common pair of axes, with a legend.
#pragma once

#include <string>
#include <vector>

#include "runtime/monitor/axis.h"
#include "runtime/monitor/curve.h"

namespace rml::rt {

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

struct Stroke {
  const char* colour = "";
  const char* dashes = "";  // empty: a solid line
};

class Panel {
 public:
  Panel(std::vector<Curve> curves, std::vector<Stroke> strokes, bool logarithmic, Range cycles, Box outer);

  // index: number of the panel. named: true if the axis of the cycles has its name.
  std::string svg(std::size_t index, bool named) const;

 private:
  // An entry of the legend; x and y: the middle of its left edge.
  struct Entry {
    std::string name, value;
    double width = 0, x = 0, y = 0;
  };

  static Range visible(const std::vector<Curve>& curves, bool logarithmic);
  double x(double cycle) const { return plot_.x + x_.place(cycle) * plot_.width; }
  double y(double value) const;
  std::string path(const Points& points) const;
  std::string grid() const;
  std::string names(bool named) const;
  std::string band(std::size_t k) const;
  std::string line(std::size_t k) const;
  // Place the entries of the legend and return the width or height that it takes from the axes.
  double legend_beside();
  double legend_above(double width);
  std::string legend() const;

  std::vector<Curve> curves_;
  std::vector<Stroke> strokes_;
  std::vector<Entry> entries_;
  Box outer_, plot_;
  Axis x_, y_;
};

}  // namespace rml::rt
