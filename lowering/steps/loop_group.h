// Loops over one shape that run as one: which values may share a loop nest.
//
//   m = sum(x);  c = x - y;  s = sum(c * c)      one loop over x's shape: m, c and s
//
// A loop that reads what another loop of the group has computed must read, at each of its iterations, the very
// element computed there; the result of a reduction is not there before the loop is over.
#pragma once

#include <set>

#include "lowering/steps/steps.h"
#include "lowering/target.h"

namespace rml {

// Of the loop that computes v where it is not inlined; nothing for what is no loop over elements.
std::optional<Shape> loop_shape(const Core&, ValueId v, const Target&);

// v, with the same loop shape, may run in the loop that computes the members.
bool joins(const steps::Program&, const std::set<ValueId>& members, ValueId v, const Target&);

// Orders the statements of every block so that loops that can run as one follow each other, and marks the values
// that only such a loop looks at as inlined.
void group_loops(steps::Program&, const Target&);

}  // namespace rml
