// A program with dealt inputs, as each of several ranks runs it.
//
// Problem: one process sees all micro-batches, and adds up by pure equations what they have found (stdlib/steps.rml). A
// rank sees some of them. Method: where the library counts micro-batches and adds, the program asks and joins the other
// ranks (runtime/base/rmlrt.h):
//
//   k = 0 fby (k + 1) % n            rml_micro_batch(…) mod n
//   k == n - 1, the end of a step    rml_step_ends(…), true in the last row of it that this rank has
//   tree_sum(gathered(n, k, e))      rml_step_sum(site, …, e, n, micro-batch), the same additions
//   found, any of a step             the sum of ones over it is not 0
//   normal(…), any draw              of the row's number among all ranks; what is drawn for the first cycle only, of 0
//   rank(), ranks(), broadcast(e)    rml_rank, rml_rank_count, rml_from_first
//
// Calls keep their order, which is that of the program, the same on all ranks; so are their sites.
// Before: check_ranks has found nothing wrong. After: the core has a `deal`, and computes on one rank what it did.
#pragma once

#include "semantics/check/checked.h"
#include "semantics/core/core.h"

namespace rml {

// Of an entry without dealt inputs nothing is changed.
void put_on_ranks(const Checked&, NodeId entry, Core&, Diagnostics&);

}  // namespace rml
