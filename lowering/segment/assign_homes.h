// Where a segment keeps what more sweeps look at than compute it.
//
// A value that one sweep computes and looks at lives in a register there. Of two kinds of values a segment has one
// element, which is kept in a cell: of those that are present at its first or its last instant only, and of those that
// are held from its first on,
//
//   w = if true fby end then x else 0 fby w        (the cell of the fby)
//
// All others get an array. A memory that is replayed supplies itself. Where one sweep alone replays it, and nobody
// needs it as it was at the segment's start, the sweep carries it in its cell.
#pragma once

#include "lowering/segment/segment_facts.h"

namespace rml {

Segment assign_homes(const Schedule&, const Streams&, const Segment&);
Segments assign_homes(Segments);

}  // namespace rml
