// Normalisation: turns a core into an equal core with less work.
//
// Constants are folded, common subexpressions shared and dead equations removed. Pure pointwise
// values move below the samplings if these are their only uses. The invariants of core.h are kept
// (verify).
#pragma once

#include "semantics/core/core.h"

namespace rml {

struct SimplifyOptions {
  bool keep_watches = false;  // keep values that only `watches` need (rmlc trace)
};
Core simplify(Core, const SimplifyOptions&);
// Removes the equations that neither results nor inputs need, also in the bodies of iterations,
// and changes nothing else. Tests compare the simplified core with this one.
Core drop_unneeded(Core);
// Removes unused values from iterations (prune_iterations.cc), so that simplify can remove their
// operands. Returns true if there were any.
bool prune_iterations(Core&);

}  // namespace rml
