// What of a straight program is known before the inputs of a cycle are there.
#pragma once

#include "lowering/steps/steps.h"

namespace rml {

// Sets the program's lead: what of its cycle computes and hands out the outputs that need no input. Nothing is stored.
void find_lead(steps::Program&);

// The same storage, and the lead in place of the cycle.
steps::Program leading_program(const steps::Program&);

}  // namespace rml
