// Replaces `all_sum(e)`, `all_mean(e)`, `broadcast(e)`, `rank()` and `ranks()` in a node with
// dealt inputs by calls of the corresponding nodes of the library:
//
//   node main(end: bool, x: f64 dealt end by 4) …       total, last = all_sum(x when end);
//                                                       total, last = steps.all_sum(4, end, x when end);
//
// A user's own node of such a name is left alone.
#pragma once

#include <string>
#include <string_view>

#include "frontend/ast.h"
#include "semantics/core/core.h"

namespace rml {

bool is_collective(std::string_view name);
// A collective as written in a node with dealt inputs, and in other nodes: "all_sum(e)" and
// "steps.all_sum(n, end, e)".
std::string written_collective(std::string_view name);
std::string library_collective(std::string_view name);
// A new expression, in the node with this deal, for the number of micro-batches per step.
ExprId step_count(Program&, const ast::Deal&);
// The node of the library's `steps` with this name; invalid if no input of the program is dealt.
NodeId step_node(const Program&, std::string_view name);
// The node of the library's `steps` that this node is; none if it is another node, or no input of the program is dealt.
StepsNode as_steps_node(const Program&, NodeId);

// Must run before names are resolved. Running it twice has no further effect.
void write_collectives(Program&);

}  // namespace rml
