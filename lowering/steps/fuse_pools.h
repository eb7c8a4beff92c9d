// Fuses convolutions with the pools that read them, so that the convolution's result needs no storage.
#pragma once

#include "lowering/steps/steps.h"

namespace rml {

// Marks convolutions whose only user is a pool in the same block. Each of their images is then computed where it is
// pooled.
void fuse_pools(steps::Program&);

}  // namespace rml
