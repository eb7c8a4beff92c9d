// `all_sum(e)`, `all_mean(e)`, `broadcast(e)`, `rank()` and `ranks()` of a node with dealt inputs become calls of the
// nodes of the library that they are:
//
//   node main(end: bool, x: f64 dealt end by 4) …       total, last = all_sum(x when end);
//                                                       total, last = steps.all_sum(4, end, x when end);
//
// What a user calls so is left alone.
#pragma once

#include <string>
#include <string_view>

#include "frontend/ast.h"

namespace rml {

bool is_collective(std::string_view name);
// How such a one is written in a node with dealt inputs, and in any other: "all_sum(e)", "steps.all_sum(n, end, e)".
std::string written_collective(std::string_view name);
std::string library_collective(std::string_view name);
// How many micro-batches are a step, anew, as an expression of the node that has this.
ExprId step_count(Program&, const ast::Deal&);
// The node of the library's steps that has the name; invalid: no input of the program is dealt.
NodeId step_node(const Program&, std::string_view name);

// Before names are resolved. What it leaves of such a call is one: it may be done twice.
void write_collectives(Program&);

}  // namespace rml
