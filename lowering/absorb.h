// What forward units compute, but may as well wait for the end of a segment, becomes part of the segmented unit.
#pragma once

#include <set>

#include "lowering/schedule.h"
#include "semantics/dependence.h"

namespace rml {

// Before units are sorted, whose operands are not known yet. There products over all instants can be made of it
// (segment/batch_in_time.h).
void absorb(Schedule&, const DependenceGraph&);

// Forward units that need, at every instant of a segmented one, what that one computes after its leading pass. Of a
// finished schedule.
std::set<std::uint32_t> waiting_units(const Schedule&, std::uint32_t unit);

}  // namespace rml
