// Clock schemes: the clocks that a node's interface leaves open, as callers see them.
//
// The clock variables left in a node's interface, numbered in order of appearance, are its clock
// scheme. A variable that is only internal (a counter that is never read) runs at the node's main
// clock. A clock in the interface may depend only on inputs and outputs, since callers can name
// nothing else. A call substitutes fresh clocks for the scheme's variables, and its own
// conditions for those of the interface.
#pragma once

#include "semantics/check/infer_clocks_messages.h"
#include "semantics/check/infer_clocks_node.h"

namespace rml {

// Writes the scheme of node n, and the clocks of its expressions and calls in terms of the
// scheme.
void write_scheme(NodeClocks& clocks, NodeId n, Clocked& out);
// Reports clocks that callers cannot name, and inputs that would never be present.
void check_interface(NodeClocks& clocks, ClockMessages& messages);

// A clock of the callee's interface as the caller sees it. `variables` has the caller's clock for
// each scheme variable, `conditions` the caller's condition for each position of the interface.
SolverClock instantiated(const ClockedNode& callee, ClockTermId term, const std::vector<SolverClock>& variables,
                         const std::vector<ClockCondition>& conditions, ClockSolver& solver);
// True if the clock depends on the variable at this position of the interface.
bool mentions(const ClockedNode& callee, ClockTermId term, std::uint32_t position);

}  // namespace rml
