// Causality: checks that no value needs itself within an instant (E0501).
//
// The check reads the core as instantiated, before any folding, so that its result depends on the
// source and not on the quality of simplification. Each value counts as needed wherever it is
// present, even if it is unused. Operators, also `and` and `or`, need all their operands; `merge`
// and `if` need the condition and the branch taken; `fby` needs its first operand at the first
// instant. A cycle whose guards cannot hold together is no error:
//
//   a = if c then b else x;    b = if c then x else a;
//
// Each other cycle is reported. Cycles through other instants are reported by check_productivity.
#pragma once

#include "frontend/diagnostic.h"
#include "semantics/core/core.h"

namespace rml {

void check_causality(const Core&, Diagnostics&);

}  // namespace rml
