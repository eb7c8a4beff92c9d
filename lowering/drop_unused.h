// Steps whose values nobody uses.
#pragma once

#include "lowering/steps.h"

namespace rml {

// Removes what computes, copies or loads a value that nothing later in its block or pass looks at,
// and branches that are left empty. Rows, cells, queues and faults stay what they are.
void drop_unused(steps::Program&);

}  // namespace rml
