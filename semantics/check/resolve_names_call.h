// Resolution of calls: the callee, and the argument for each parameter.
//
// A callee is a node of the module's scope; else an operator by name or alias; else `param`,
// `stop_gradient` or `load`. Arguments are given by position or by name. An operator's attributes
// with a default may be left out, and a variadic operand takes all remaining positional
// arguments. Example: `concat(a, b, axis=1)` for parameters (x…, axis) is ordered as [a, b, 1].
#pragma once

#include <memory>

#include "semantics/check/resolve_names_walk.h"

namespace rml {

// The callee; empty if an error was reported.
Reference callee_of(const ast::Call& call, NameWalk& walk);
// The node that a call differentiates: `diff f(…)`, or `diff_f(…)` if no node `diff_f` is
// written. Invalid if it is no such call, or if an error was reported.
NodeId differentiated(const ast::Call& call, NameWalk& walk);

// Checks that the node has a result for each state, and for `scan` at least one more, which is
// stacked.
bool can_iterate(const ast::Call& call, const Reference& callee, NameWalk& walk);
// Checks that the call yields `targets` values.
void check_results(const ast::Call& call, const Reference& callee, std::size_t targets, NameWalk& walk);

// The kind of an argument, by its parameter. Most are values.
enum class ArgumentKind : std::uint8_t { value, dtype, text };
struct MatchedArguments {
  OrderedArguments ordered;         // arguments in the order of the callee's parameters
  std::vector<ArgumentKind> kinds;  // kinds in the order of the arguments as written
};
MatchedArguments matched_arguments(const ast::Call& call, const Reference& callee, NameWalk& walk);
// The tensor of `load("file", "name")`; null if an error was reported.
std::shared_ptr<const Tensor> loaded(ExprId e, const ast::Call& call, const OrderedArguments& arguments,
                                     NameWalk& walk);

}  // namespace rml
