// Reports integer divisions whose divisor is a constant with a zero (E0312). A run would stop at the
// first cycle at which the quotient is present.
#pragma once

#include "frontend/diagnostic.h"
#include "semantics/core/core.h"

namespace rml {

// After simplification: divisions in branches that are never taken have been removed.
void check_divisions(const Program&, const Core&, Diagnostics&);

}  // namespace rml
