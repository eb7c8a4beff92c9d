// Finds the effects of a cycle besides its rows: faults and random draws.
#pragma once

#include "lowering/steps/steps.h"

namespace rml::codegen {

// True if a cycle may end in a fault, or may draw random numbers. Both are conservative.
bool can_fault(const steps::Program&);
bool draws(const steps::Program&);

}  // namespace rml::codegen
