// What can be looked at from outside for values that are not finite: float outputs and cells, in the
// order in which their values are computed. A network has those of the program that is none, in the same order, if that
// is known (Program::watches): its tasks are in an order of their own.
#pragma once

#include "lowering/steps/steps.h"

namespace rml {

std::vector<steps::Watch> find_watches(const steps::Program&);

}  // namespace rml
