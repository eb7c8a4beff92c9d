// Adds the product of a whole segment directly to a memory, without a buffer for the sum.
#pragma once

#include "lowering/steps/steps.h"

namespace rml {

// If the sum of a SegmentProduct has one use, which adds it to a memory at one instant of the segment, the product adds
// it to the memory as it is computed (SegmentProduct::onto). Returns whether any product changed. Values that become
// unused remain; drop_unused removes them.
bool add_in_place(steps::Program&);

}  // namespace rml
