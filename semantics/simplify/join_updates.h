// What the updates of parameters have in common: `sum_over_parameters(x)` of an optimiser.
//
// Problem: each parameter has an instance of the optimiser of its own, but the norm of a gradient, and the products by
// which Barzilai and Borwein find their step, are of all parameters together. Method: an application has the number of
// its group in its key (Expressions::apply): the same place of the optimiser, within the same `diff`. The members that
// are left, which are those of parameters that move, become one sum. Outside of a `diff` a group has one member.
//
// Before: a simplified core, so that equal activities are one clock. After: no such operator is left.
#pragma once

#include "frontend/diagnostic.h"
#include "semantics/core/core.h"

namespace rml {

// Returns whether there was anything. Reports E0604 where members of one group are there at different cycles, or of
// different types.
bool join_updates(Core&, Diagnostics&);

}  // namespace rml
