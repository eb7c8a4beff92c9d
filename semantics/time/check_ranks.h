// What dealt inputs ask of a program: that ranks, each of which gets some of the micro-batches, agree on its state.
//
// Problem: a row is seen by one rank. What a micro-batch remembers of its rows may be known there alone; what goes on
// from one micro-batch to the next, a parameter, a moment of its gradients, must be the same on all ranks, whatever
// their number. Method: a value is *dealt* where it may differ between ranks that are in the same step; it is found as
// clocks are, along operands.
//
//   inputs, what is drawn, when a row comes          dealt
//   the sums of a step (library `steps`)             not dealt, there where the step ends
//   a memory that moves only where a step ends,
//     by what is not dealt                           not dealt
//   any other memory                                 dealt: it must begin anew in the first row of a micro-batch
//
// Before: a core as it was instantiated, whose instances are those of the source. Nothing is changed.
#pragma once

#include "semantics/check/checked.h"
#include "semantics/core/core.h"

namespace rml {

// Reports E1002; of an entry without dealt inputs nothing is asked.
void check_ranks(const Checked&, NodeId entry, const Core&, Diagnostics&);

}  // namespace rml
