// Groups of loops over one shape that run as one loop: which values may share a loop nest.
//
//   m = sum(x);  c = x - y;  s = sum(c * c)      one loop over x's shape: m, c and s
//
// A loop that reads a value computed by another loop of the group must read, in each iteration, exactly the element
// computed in that iteration. The result of a reduction is available only after the loop.
#pragma once

#include <set>

#include "lowering/steps/steps.h"
#include "lowering/target.h"

namespace rml {

// The shape of the loop that computes v if v is not inlined; nothing if v is not computed by a loop over elements.
std::optional<Shape> loop_shape(const Core&, ValueId v, const Target&);

// True if v, with the same loop shape, may run in the loop that computes the members.
bool joins(const steps::Program&, const std::set<ValueId>& members, ValueId v, const Target&);

// Orders the statements of every block so that loops that can run as one follow each other, and marks the values that
// only such a loop reads as inlined.
void group_loops(steps::Program&, const Target&);

}  // namespace rml
