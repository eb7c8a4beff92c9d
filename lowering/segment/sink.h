// What only one later sweep of a segment looks at is computed there, if that keeps less:
//
//   leading:   t := 1 - s;  arrays[s] := s        backward:  d := e * s * t          (no array for t)
#pragma once

#include "lowering/segment/segment_facts.h"

namespace rml {

Segment sink(const Schedule&, const Streams&, const Segment&);
Segments sink(Segments);

}  // namespace rml
