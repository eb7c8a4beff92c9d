// Clock schemes: what a node's interface leaves open, as callers see it.
//
// The variables left in a node's interface, numbered in order of appearance, are its clock
// scheme; a variable that is only internal (a counter that is never read) runs at the node's main
// clock. A clock in the interface may depend only on inputs and outputs, since callers can
// name nothing else. A call takes fresh clocks for the variables, and its own conditions for
// those of the interface.
#pragma once

#include "semantics/check/infer_clocks_messages.h"
#include "semantics/check/infer_clocks_node.h"

namespace rml {

// Writes the scheme of node n, and the clocks of its expressions and calls in terms of it.
void write_scheme(NodeClocks& clocks, NodeId n, Clocked& out);
// Reports what callers could not name, and inputs that would never be present.
void check_interface(NodeClocks& clocks, ClockMessages& messages);

// A clock of the callee's interface as the caller sees it. By scheme variable and by position in the interface: what
// the caller has in its place.
SolverClock instantiated(const ClockedNode& callee, ClockTermId term, const std::vector<SolverClock>& variables,
                         const std::vector<ClockCondition>& conditions, ClockSolver& solver);
// Whether the clock depends on what the interface has at this position.
bool mentions(const ClockedNode& callee, ClockTermId term, std::uint32_t position);

}  // namespace rml
