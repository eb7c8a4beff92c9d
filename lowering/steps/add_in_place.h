// Products of whole segments that are added to a memory are computed there.
#pragma once

#include "lowering/steps/steps.h"

namespace rml {

// Where the sum of a SegmentProduct is looked at once, to be added to a memory at one instant of the segment, it is
// added as it is computed (SegmentProduct::onto). Whether there is such a one; what it leaves behind nobody uses
// (drop_unused).
bool add_in_place(steps::Program&);

}  // namespace rml
