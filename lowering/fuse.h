// Loop fusion: which tensor values need no storage of their own.
#pragma once

#include "lowering/steps.h"

namespace rml {

// Marks elementwise tensor values whose only user is an elementwise operator of the same
// shape, or a reduction, in the same block: they are computed inside its loop.
void fuse(steps::Program&);

}  // namespace rml
