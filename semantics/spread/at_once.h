// Parts of the body of a `map` (parts.h) that are said of all elements at once: operators on elements become the same
// operators on tensors, which are fused and run on vectors as any others.
//
//   y = if x > 1 then 1 else x      y = select(xs > 1, 1, xs)
#pragma once

#include "semantics/spread/elements.h"

namespace rml::mapped {

// Whether a part consists of operators on elements alone. Branches that differ between elements are both computed, so
// they are few instructions, on numbers, do not fail, and do not go round.
bool is_at_once(const Core& body, const Elements&, const std::vector<ValueId>& members);

}  // namespace rml::mapped
