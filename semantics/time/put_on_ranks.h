// Transforms a program with dealt inputs into the program that each of several ranks runs.
//
// Problem: a single process reads all micro-batches and adds their results by pure equations
// (stdlib/steps.rml). A rank reads only some of them. Method: where the library counts
// micro-batches and adds, the program calls the runtime, which combines the ranks
// (runtime/base/rmlrt.h):
//
//   k = 0 fby (k + 1) % n            rml_micro_batch(…) mod n
//   k == n - 1, the end of a step    rml_step_ends(…), true in the step's last row on this rank
//   tree_sum(gathered(n, k, e))      rml_step_sum(site, …, e, n, micro-batch), the same additions
//   found, any of a step             the sum of ones over the step is not 0
//   normal(…), any draw              uses the row's number among all ranks; 0 for draws at the first cycle only
//   rank(), ranks(), broadcast(e)    rml_rank, rml_rank_count, rml_from_first
//
// Calls are numbered in program order, so their sites are the same on all ranks. Before:
// check_ranks has found no error. After: the core has a `deal`; on one rank it computes the same
// values as before.
#pragma once

#include "frontend/diagnostic.h"
#include "semantics/core/core.h"

namespace rml {

// Rewrites a program for several ranks. A core without dealt inputs is not changed.
Core put_on_ranks(Core, Diagnostics&);

}  // namespace rml
