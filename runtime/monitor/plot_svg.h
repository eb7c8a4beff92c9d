// --plot: learning curves as a picture.
//
// Series of about the same size share a panel. In each, the range of the values faintly, their mean
// as a thin line, and a smooth line over both; the axis is logarithmic where positive values span
// orders of magnitude.
#pragma once

#include <string>
#include <vector>

#include "runtime/monitor/series.h"

namespace rml::rt {

// A complete SVG file.
std::string plot_svg(const std::string& title, const std::vector<Series>& series);

}  // namespace rml::rt
