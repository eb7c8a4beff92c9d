// Vectorisation of parts of a `map` body (parts.h): operators on elements become the same
// operators on the tensors of all elements, which fuse and run on vectors like any others.
//
//   y = if x > 1 then 1 else x      y = select(xs > 1, 1, xs)
#pragma once

#include "semantics/spread/elements.h"

namespace rml::mapped {

// True if a part consists only of operators on elements. If elements take different branches,
// both are computed; so the operators must then be cheap scalar ones that cannot fail, and have
// no cyclic dependence.
bool is_at_once(const Core& body, const Elements&, const std::vector<ValueId>& members);

}  // namespace rml::mapped
