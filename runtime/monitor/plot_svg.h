// Draws the curves of a run as a picture (--plot).
//
// Curves share a panel if they are comparable: the same output of several runs, the training and
// the validation of one quantity, curves of similar size. The axis of values is logarithmic if
// positive values span orders of magnitude and most are small.
#pragma once

#include <string>
#include <vector>

#include "runtime/monitor/series.h"
#include "runtime/options/plot_address.h"

namespace rml::rt {

// A complete SVG file.
std::string plot_svg(const std::string& title, const std::vector<PlottedRun>& runs, const PlotAddress& form = {});

}  // namespace rml::rt
