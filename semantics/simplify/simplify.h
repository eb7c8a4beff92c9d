// Normalisation: from core to an equal core with less to do.
//
// Constants are folded, common subexpressions shared, dead equations removed, and pure pointwise work moves below the
// samplings that are all that use it. The invariants of core.h are kept (verify).
#pragma once

#include "semantics/core/core.h"

namespace rml {

struct SimplifyOptions {
  bool keep_watches = false;  // keep what only `watches` need alive (rmlc trace)
};
Core simplify(Core, const SimplifyOptions&);
// Without the equations that neither results nor inputs need, also in the bodies of iterations; the others stay as they
// are. Whether simplification kept the meaning of a core is judged against this one.
Core drop_unneeded(Core);
// Takes from iterations values without a use (prune_iterations.cc); simplify makes use of it. Whether there was
// anything.
bool prune_iterations(Core&);

}  // namespace rml
