// Forward units that could wait for the end of a segment, but for what they tell before it, are two.
#pragma once

#include "lowering/schedule.h"
#include "semantics/dependence.h"

namespace rml {

// Of a forward unit that reads a segmented one: what is not connected to a row or an assertion before the cut of
// that one becomes a unit of its own, so that it can wait with the segment (segment/defer.h). Before units are sorted.
void split_units(Schedule&, const DependenceGraph&);

}  // namespace rml
