// Memories that move where segments end, and nowhere else, stand still within a segment: what they become is computed
// at the last instant alone. At the others it is what the memory is, so that nobody needs it.
//
//   sum = 0 fby (merge end (sum + x when end) (sum when not end))     and segments end where `end` holds
//
// In a learner this is every parameter that moves at the end of a batch.
#pragma once

#include "lowering/segment/segment_facts.h"

namespace rml {

Segment stand_still(const Schedule&, const Streams&, const Segment&);
Segments stand_still(Segments);

}  // namespace rml
