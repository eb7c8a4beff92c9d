// Keeps memories constant within a segment if they change only where segments end. Their next value is computed at the
// last instant alone; at the other instants it equals the memory, so no reader needs it.
//
//   sum = 0 fby (merge end (sum + x when end) (sum when not end))     and segments end where `end` holds
//
// In a learner, every parameter that an optimiser moves at the end of a batch is such a memory.
#pragma once

#include "lowering/segment/segment_facts.h"

namespace rml {

Segment stand_still(const Schedule&, const Streams&, const Segment&);
Segments stand_still(Segments);

}  // namespace rml
