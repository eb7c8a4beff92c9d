// What of a segment's forward computation waits for its end.
//
// By default products that batch_in_time then takes out of the loop, and what is computed from them, where no row and
// no fault comes later for it, and where at most as much again is kept at each instant as is kept anyway. On demand
// (`--chunk segment`) all but what the cut is computed from, and what is held for the segment.
#pragma once

#include "lowering/segment/segment_facts.h"
#include "lowering/target.h"

namespace rml {

struct Deferral {
  bool products = true;        // where they are one over all instants of a segment
  bool whole_segment = false;  // instead: everything
};

Segment defer(const Schedule&, const Streams&, const Segment&, const Deferral&, const Target&);
Segments defer(Segments, const Deferral&, const Target&);

}  // namespace rml
