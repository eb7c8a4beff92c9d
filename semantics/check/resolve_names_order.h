// Orders callees before callers, and each constant before the constants that use it.
//
// Both orders are postorders of depth-first walks with an explicit stack, since call chains may
// be long. An edge back into the stack is a recursion (E0206, E0208). Example: if `f` calls `g`,
// and `g` calls `h`, the order is h, g, f.
#pragma once

#include <vector>

#include "semantics/check/checked.h"

namespace rml {

struct CallSite {
  NodeId callee;
  Span span;
};

// Sets the order of nodes. `calls`, by NodeId: the calls in its body. Recursive nodes are marked
// as erroneous.
void order_nodes(const Program& program, const std::vector<std::vector<CallSite>>& calls, Resolved& result,
                 Diagnostics& diagnostics);
// Sets the order of constants. `uses`, by ConstId: the constants that its value names. Constants
// that depend on themselves are marked as erroneous.
void order_consts(const Program& program, const std::vector<std::vector<ConstId>>& uses, Resolved& result,
                  Diagnostics& diagnostics);

}  // namespace rml
