// Steps whose values nobody uses.
#pragma once

#include "lowering/steps/steps.h"

namespace rml {

// Removes what computes, copies or loads a value that nothing later in its block or pass looks at,
// and branches that are left empty. Rows, cells, queues and faults stay what they are.
void drop_unused(steps::Program&);

// The same of a block that only hands out outputs, where what computing does besides is none of it.
void keep_outputs(const Core&, steps::Block&);

}  // namespace rml
