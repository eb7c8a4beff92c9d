// Instantiation: Checked nodes to Core.
//
// Every node is inlined from the entry point on, shapes and static values are solved by propagation to a fixed point;
// what comes of it are core equations, which keep the invariants of core.h (verify).
#pragma once

#include <string>
#include <vector>

#include "semantics/check/checked.h"
#include "semantics/core/core.h"
#include "semantics/instantiate/options.h"

namespace rml {

// The core of `entry`; meaningless (but printable) when errors were reported. An entry input
// without a written shape is a scalar, without a decided dtype what its scheme's default says.
Core instantiate(const Checked&, NodeId entry, const InstantiateOptions&, Diagnostics&);

// What is wrong with the shapes of a node that is never called, for all possible callers: `open` is taken to be set.
// Whether all of it could be judged.
bool check_open(const Checked&, NodeId, InstantiateOptions, Diagnostics&);

}  // namespace rml
