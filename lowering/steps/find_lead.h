// Finds which statements of a straight program can run before the inputs of their cycle arrive.
#pragma once

#include "lowering/steps/steps.h"

namespace rml {

// Sets the program's lead: the statements of a cycle that compute and hand out outputs that need no input. The lead
// stores nothing.
void find_lead(steps::Program&);

// The program with the same storage, and with the lead as the whole cycle.
steps::Program leading_program(const steps::Program&);

}  // namespace rml
