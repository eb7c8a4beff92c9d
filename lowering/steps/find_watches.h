// Finds the values that can be checked from outside for being finite: float outputs and cells, in the order in which
// they are computed. The tasks of a network have another order; a network takes the list from the same program without
// tasks, if that is known (Program::watches).
#pragma once

#include "lowering/steps/steps.h"

namespace rml {

std::vector<steps::Watch> find_watches(const steps::Program&);

}  // namespace rml
