// Warns of a difference of all pairs that is averaged (W0303). `mean(square(p - t))` of p: f64[8, 1]
// and t: f64[8] is the mean of 64 differences, because the two shapes broadcast to [8, 8].
//
// A difference of all pairs may be meant, so this is a warning. It is silent where a shape is
// written out: `expand_dims(p, 1) - t`.
#pragma once

#include "frontend/diagnostic.h"
#include "semantics/instantiate/draft.h"

namespace rml::draft {

// After solve_shapes without errors.
void warn_of_pairs(const Draft&, const Program&, const States&, Diagnostics&);

}  // namespace rml::draft
