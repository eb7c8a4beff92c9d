// Instantiation and normalisation: Checked nodes to Core.
//
// instantiate inlines every node from the entry point on, solves shapes and static values
// by propagation to a fixed point, and yields core equations. simplify then folds
// constants, shares common subexpressions, removes dead equations, and moves pure
// pointwise work below the samplings that are all that use it. Both keep the invariants
// of core.h (verify).
#pragma once

#include <string>
#include <vector>

#include "semantics/checked.h"
#include "semantics/core.h"
#include "semantics/instantiate_options.h"

namespace rml {

// The core of `entry`; meaningless (but printable) when errors were reported. An entry input
// without a written shape is a scalar, without a decided dtype what its scheme's default says.
Core instantiate(const Checked&, NodeId entry, const InstantiateOptions&, Diagnostics&);

// What is wrong with the shapes of a node that nobody calls, whoever may call it: `open` is taken to be set. Whether
// all of it could be judged.
bool check_open(const Checked&, NodeId, InstantiateOptions, Diagnostics&);

struct SimplifyOptions {
  bool keep_watches = false;  // keep what only `watches` need alive (rmlc trace)
};
Core simplify(Core, const SimplifyOptions&);
// Takes from iterations what nobody needs (prune_iterations.cc); simplify makes use of it. Whether there was anything.
bool prune_iterations(Core&);

}  // namespace rml
