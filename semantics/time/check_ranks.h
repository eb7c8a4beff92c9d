// Checks a program with dealt inputs: all ranks, each with some of the micro-batches, must agree
// on the program's state.
//
// Problem: each row is read by one rank. Values that a micro-batch derives from its rows may be
// known on that rank only. State that crosses from one micro-batch to the next, such as a
// parameter or a moment of its gradients, must be the same on all ranks, for any number of ranks.
// Method: a value is *dealt* if it may differ between ranks in the same step. This property
// spreads along operands, as clocks do:
//
//   inputs, random draws, presence of a row          dealt
//   the sums of a step (library `steps`)             not dealt, at the end of the step
//   a memory that changes only at ends of steps,
//     by values that are not dealt                   not dealt
//   any other memory                                 dealt: it must restart in the first row of a micro-batch
//
// Before: a core as instantiated, with the instances of the source. The check changes nothing.
#pragma once

#include "frontend/ast.h"
#include "frontend/diagnostic.h"
#include "semantics/core/core.h"

namespace rml {

// Reports E1002. A core without dealt inputs is accepted unchecked.
void check_ranks(const Program&, const Core&, Diagnostics&);

}  // namespace rml
