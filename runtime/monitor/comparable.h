// Divides the curves of a picture among panels.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/monitor/series.h"
#include "runtime/options/plot_address.h"

namespace rml::rt {

struct CurvesOfPanel {
  struct Member {
    const Series* series;
    std::size_t run;     // index of the run
    std::size_t output;  // index of the name among those of all runs
  };
  std::vector<Member> members;
  bool logarithmic = false;
};

// The name without the words by which training and validation differ, such as "loss" for
// "val_loss" and "loss.train".
std::string measured_quantity(const std::string& name);

// Series without a finite value are left out.
std::vector<CurvesOfPanel> comparable(const std::vector<PlottedRun>& runs, PlotAddress::Scale scale);

}  // namespace rml::rt
