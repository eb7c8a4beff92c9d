// Removes dead code from steps.
#pragma once

#include "lowering/steps/steps.h"

namespace rml {

// Removes statements that compute, copy or load a value without a later use in their block or sweep, and branches that
// become empty. Rows, cells, queues and faults stay unchanged.
void drop_unused(steps::Program&);

// Removes unused statements from a block that only hands out outputs. Other effects of a computation do not keep it
// alive.
void keep_outputs(const Core&, steps::Block&);

}  // namespace rml
