// Draws learning curves as a picture (--plot).
//
// Series of similar size share a panel. For each, it shows the range of the values as a faint
// area, their mean as a thin line, and a smooth line. The axis is logarithmic if positive values
// span orders of magnitude.
#pragma once

#include <string>
#include <vector>

#include "runtime/monitor/series.h"

namespace rml::rt {

// A complete SVG file.
std::string plot_svg(const std::string& title, const std::vector<Series>& series);

}  // namespace rml::rt
