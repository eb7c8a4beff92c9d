// Loop fusion: finds tensor values that need no storage of their own.
#pragma once

#include "lowering/steps/steps.h"
#include "lowering/target.h"

namespace rml {

// Marks the tensor values that are computed inside the loops that read them, and puts loops over the same shape next to
// each other (lowering/steps/loop_group.h).
void fuse(steps::Program&, const Target&);

}  // namespace rml
