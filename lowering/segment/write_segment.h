// The statements of a segmented unit: its leading block, the passes over a segment, and what carries over.
#pragma once

#include "lowering/segment/segment.h"
#include "lowering/steps/program_builder.h"

namespace rml {

// Of a segment whose values have their homes.
void write_segment(ProgramBuilder&, const Segment&);

}  // namespace rml
