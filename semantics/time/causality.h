// Causality within an instant: does any value need itself there?
//
// Judged on the core as it was instantiated, before anything is folded, so that it depends on what was
// written and not on how well it is simplified. Every value is asked for wherever it is present, whether
// anybody looks at it or not; operators, also `and` and `or`, need all their operands, `merge` and `if`
// the condition and the branch that is taken, `fby` its first operand at the first instant. A cycle whose
// guards cannot hold together is none:
//
//   a = if c then b else x;    b = if c then x else a;
//
// E0501 for each cycle that is one. Cycles through other instants are check_productivity's.
#pragma once

#include "frontend/diagnostic.h"
#include "semantics/core/core.h"

namespace rml {

void check_causality(const Core&, Diagnostics&);

}  // namespace rml
