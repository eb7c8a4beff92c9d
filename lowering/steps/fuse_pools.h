// Which convolutions need no storage of their own.
#pragma once

#include "lowering/steps/steps.h"

namespace rml {

// Marks convolutions whose only user is a pool in the same block: each image of theirs is computed
// where it is pooled.
void fuse_pools(steps::Program&);

}  // namespace rml
