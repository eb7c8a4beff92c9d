// Decides which computations of the leading sweep wait for the end of the segment.
//
// By default only products that batch_in_time then takes out of the loop wait, with the values computed from them. They
// wait only if no row and no fault is delayed, and if each instant has to keep at most twice as much as before. With
// `--chunk segment` everything waits, except the operands of the cut and values that are held for the segment.
#pragma once

#include "lowering/segment/segment_facts.h"
#include "lowering/target.h"

namespace rml {

struct Deferral {
  bool products = true;        // defer products that become one product over all instants of a segment
  bool whole_segment = false;  // instead, defer everything that may wait
};

Segment defer(const Schedule&, const Streams&, const Segment&, const Deferral&, const Target&);
Segments defer(Segments, const Deferral&, const Target&);

}  // namespace rml
