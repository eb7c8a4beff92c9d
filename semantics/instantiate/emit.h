// Emission, the last part of instantiate: from a solved draft to core.
#pragma once

#include "semantics/instantiate/draft.h"
#include "semantics/instantiate/solve_shapes.h"

namespace rml::draft {

// The core of a draft whose aliases are resolved and whose states are complete. Reports E0501 for
// a value that stands for itself once constant conditions are known.
Core emit(const Draft& draft, const States& states, const Program& program, bool in_body, Diagnostics& diagnostics);

}  // namespace rml::draft
