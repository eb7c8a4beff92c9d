// Numerical stabilisation: expressions that overflow or lose their digits, replaced by operators that
// do neither, and the same in their gradients.
//
// Values stay what they are but for rounding; a core that had been simplified has to be so again.
#pragma once

#include "semantics/core/core.h"

namespace rml {

// Returns whether anything changed.
bool stabilise(Core& core);

}  // namespace rml
