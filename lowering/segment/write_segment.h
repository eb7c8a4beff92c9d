// Writes the statements of a segmented unit: its leading block, the sweeps over a segment, and the updates that carry
// values to the next segment.
#pragma once

#include "lowering/segment/segment.h"
#include "lowering/steps/program_builder.h"

namespace rml {

// Writes the statements of a segment. Its values must have their homes.
void write_segment(ProgramBuilder&, const Segment&);

}  // namespace rml
