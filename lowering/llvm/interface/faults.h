// What a cycle of a program can do besides its rows.
#pragma once

#include "lowering/steps/steps.h"

namespace rml::codegen {

// Whether a cycle can end in a fault, and whether it draws random numbers: on the safe side.
bool can_fault(const steps::Program&);
bool draws(const steps::Program&);

}  // namespace rml::codegen
