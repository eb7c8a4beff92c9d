// Which conditions must hold for an instant of a clock to be an instant of another clock that is sampled from it.
#pragma once

#include <vector>

#include "semantics/core/dependence.h"

namespace rml {

// The conditions between a clock and one sampled from it, outermost first.
std::vector<Literal> clock_path(const Core&, ClockId from, ClockId to);

}  // namespace rml
