// Numerical stabilisation: replaces expressions that overflow or cancel by operators that do not,
// also in their gradients.
//
// Values do not change except for rounding. The core must be simplified afterwards.
#pragma once

#include "semantics/core/core.h"

namespace rml {

// Returns true if anything changed.
bool stabilise(Core& core);

}  // namespace rml
