// Callees before callers, and constants before those that use them.
//
// Both are postorders of depth-first walks with an explicit stack, since call chains may
// be long; an edge back into the stack is recursion (E0206, E0208).
// Example: with `f` calling `g`, and `g` calling `h`, the order is h, g, f.
#pragma once

#include <vector>

#include "semantics/check/checked.h"

namespace rml {

struct CallSite {
  NodeId callee;
  Span span;
};

// Sets the order of nodes. By NodeId: the calls in its body. Those that call themselves have errors.
void order_nodes(const Program& program, const std::vector<std::vector<CallSite>>& calls, Resolved& result,
                 Diagnostics& diagnostics);
// Sets the order of constants. By ConstId: the constants that its value names. Those that need themselves have errors.
void order_consts(const Program& program, const std::vector<std::vector<ConstId>>& uses, Resolved& result,
                  Diagnostics& diagnostics);

}  // namespace rml
