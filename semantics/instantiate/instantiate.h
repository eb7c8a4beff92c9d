// Instantiation: from checked nodes to a core.
//
// Every node is inlined from the entry on. Shapes and static values are propagated to a fixed
// point. The result is a core that keeps the invariants of core.h (verify).
#pragma once

#include <string>
#include <vector>

#include "semantics/check/checked.h"
#include "semantics/core/core.h"
#include "semantics/instantiate/options.h"

namespace rml {

// The core of `entry`; if errors were reported, it is only good for printing. An entry input
// without a written shape is a scalar; without a determined dtype it has the default of its
// scheme.
Core instantiate(const Checked&, NodeId entry, const InstantiateOptions&, Diagnostics&);

// Checks the shapes of a node that is never called, for all possible callers; sets `open`.
// Returns true if all shapes could be checked.
bool check_open(const Checked&, NodeId, InstantiateOptions, Diagnostics&);

}  // namespace rml
