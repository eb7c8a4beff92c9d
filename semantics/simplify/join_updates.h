// Sums that the updates of several parameters share: `sum_over_parameters(x)` of an optimiser.
//
// Problem: each parameter has its own instance of the optimiser, but the norm of a gradient, or
// the products from which Barzilai and Borwein derive their step, range over all parameters.
// Method: the key of an application contains the number of its group (Expressions::apply): the
// same place in the optimiser, within the same `diff`. The remaining members of a group, those of
// parameters that change, become one sum. Outside a `diff`, a group has one member.
//
// Before: a simplified core, so that equal activities are one clock. After: this operator no
// longer occurs.
#pragma once

#include "frontend/diagnostic.h"
#include "semantics/core/core.h"

namespace rml {

// Joins the sums of each group. Returns true if there were any. Reports E0604 if members of one
// group are on different clocks
// or have different types.
bool join_updates(Core&, Diagnostics&);

}  // namespace rml
