// Backpropagation as a source transformation: every `diff f(…)` of a program becomes a call of a
// node made from f, which computes f and its gradients.
//
//   node dense(i) -> (o)              node diff_dense(i, bp, do) -> (o, di)
//     k = param(1.0);                   k = param(1.0, bp, dk);
//     o = k * i;                        o = k * i;
//                                       di = do * (k when bp);
//                                       dk = sum_to(do * (i when bp), shape(k));
//
// It works node by node and on the syntax: an instance of g in f becomes an instance of
// `diff_g` in `diff_f`, the result is checked, instantiated and scheduled like what a user
// writes, and `rmlc diff` prints it. A node `diff_g` that the user wrote replaces the one that
// would be made of g.
#pragma once

#include <vector>

#include "semantics/check/checked.h"

namespace rml {

// Expands all differentiation of the program, round by round: what a `diff` differentiates may
// itself differentiate. A call that cannot be expanded becomes ast::Error; nodes with other
// errors are left alone, for the checks to report.
void differentiate(Program& program, Diagnostics& diagnostics);

// The node that `diff` makes of a node, and those it needs in turn, callees first: for `rmlc diff`.
// `program` has been differentiated and is sound. Empty, and diagnostics, where it cannot be done.
std::vector<NodeId> derived_nodes(Program& program, NodeId node, Diagnostics& diagnostics);

}  // namespace rml
