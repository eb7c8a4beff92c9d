// Chooses the storage of values that one sweep of a segment computes and another reads.
//
// A value that only its own sweep reads stays in a register. A value with one element per segment is kept in a cell.
// There are two kinds: values that are present at the first or the last instant only, and values that are held from the
// first instant on,
//
//   w = if true fby end then x else 0 fby w        (the cell of the fby)
//
// All other values get an array. A memory that a sweep replays is recomputed from its cell and needs no array. If only
// one sweep replays it, and no reader needs its value from the start of the segment, the sweep updates the cell in
// place.
#pragma once

#include "lowering/segment/segment_facts.h"

namespace rml {

Segment assign_homes(const Schedule&, const Streams&, const Segment&);
Segments assign_homes(Segments);

}  // namespace rml
