// Calls: which callee, and which argument for which parameter.
//
// A callee is a node of the module's scope, else an operator by name or alias, else `param`,
// `stop_gradient` or `load`. Arguments come by position or by name; an operator's attributes with a
// default may be left out, and a variadic operand takes all positional arguments left.
// Example: `concat(a, b, axis=1)` against parameters (x…, axis) is ordered as [a, b, 1].
#pragma once

#include <memory>

#include "semantics/check/resolve_names_walk.h"

namespace rml {

// What is called; nothing where that was reported.
Reference callee_of(const ast::Call& call, NameWalk& walk);
// The node that a call differentiates: `diff f(…)`, or `diff_f(…)` where no such node is written. Invalid: it is no
// such call, or that was reported.
NodeId differentiated(const ast::Call& call, NameWalk& walk);

// What an iterator needs of the node: as many results as states, and for `scan` those that are stacked behind them.
bool can_iterate(const ast::Call& call, const Reference& callee, NameWalk& walk);
// `targets` values are wanted of the call.
void check_results(const ast::Call& call, const Reference& callee, std::size_t targets, NameWalk& walk);

// What an argument is, by its parameter: most are values.
enum class ArgumentKind : std::uint8_t { value, dtype, text };
struct MatchedArguments {
  OrderedArguments ordered;         // by the callee's parameters
  std::vector<ArgumentKind> kinds;  // of the arguments as they are written
};
MatchedArguments matched_arguments(const ast::Call& call, const Reference& callee, NameWalk& walk);
// The tensor of `load("file", "name")`; null where that was reported.
std::shared_ptr<const Tensor> loaded(ExprId e, const ast::Call& call, const OrderedArguments& arguments,
                                     NameWalk& walk);

}  // namespace rml
