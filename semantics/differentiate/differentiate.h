// Backpropagation as a source transformation: replaces each `diff f(…)` of a program by a call of
// a node, made from f, that computes f and its gradients.
//
//   node dense(i) -> (o)              node diff_dense(i, bp, do) -> (o, di)
//     k = param(1.0);                   k = param(1.0, bp, dk);
//     o = k * i;                        o = k * i;
//                                       di = do * (k when bp);
//                                       dk = sum_to(do * (i when bp), shape(k));
//
// The pass works on the syntax, node by node: an instance of g in f becomes an instance of
// `diff_g` in `diff_f`. The result is checked, instantiated and scheduled like the user's own
// code, and `rmlc diff` prints it. A node `diff_g` that the user wrote replaces the generated
// one.
#pragma once

#include <vector>

#include "semantics/check/checked.h"

namespace rml {

// Expands all differentiation of the program, in rounds: a node that a `diff` differentiates may
// contain a `diff` itself. A call that cannot be expanded becomes ast::Error. Nodes with other
// errors are left unchanged; the checks report them.
void differentiate(Program& program, Diagnostics& diagnostics);

// For `rmlc diff`: the node that `diff` makes of a node, and the nodes that it needs, callees
// first. `program` must be differentiated and without errors. Empty, with diagnostics, if it is
// impossible.
std::vector<NodeId> derived_nodes(Program& program, NodeId node, Diagnostics& diagnostics);

}  // namespace rml
