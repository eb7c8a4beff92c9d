// Reports assertions that are false for every input (E0313): their conditions are static, such as
// `size(a) == size(b)`. A run would stop at the first cycle at which they are checked.
//
// The losses of the library assert that a prediction and its target have one shape, so this check
// reports wrong shapes of losses too.
#pragma once

#include "frontend/diagnostic.h"
#include "semantics/instantiate/draft.h"

namespace rml::draft {

// After solve_shapes without errors.
void check_assertions(const Draft&, const Program&, const States&, Diagnostics&);

}  // namespace rml::draft
