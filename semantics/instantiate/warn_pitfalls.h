// Warnings about valid programs that rarely compute what their author means: `node(…) when c` where
// the node remembers (W0401), comparisons with `nan` (W0301), and equality with a number that has
// no exact binary form (W0302).
//
// Only nodes of the user are examined. Each warning has a fix-it, and its page says how to write
// the program if it is right as it is.
#pragma once

#include "semantics/check/checked.h"

namespace rml {

void warn_of_pitfalls(const Checked&, Diagnostics&);

}  // namespace rml
