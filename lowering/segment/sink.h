// Moves the computation of a value into the only later sweep that reads it, if that needs less storage:
//
//   leading:   t := 1 - s;  arrays[s] := s        backward:  d := e * s * t          (no array for t)
#pragma once

#include "lowering/segment/segment_facts.h"

namespace rml {

Segment sink(const Schedule&, const Streams&, const Segment&);
Segments sink(Segments);

}  // namespace rml
