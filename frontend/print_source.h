// Syntax as text that parses to the same syntax: for nodes that no file holds.
#pragma once

#include <string>

#include "frontend/ast.h"

namespace rml {

// One node, an equation a line; calls name their callee without its module. Layout is for `format`.
std::string print_source(const Program& program, const ast::Node& node);

// `scan[reverse] `, before the name of what is called for each element.
std::string iterator_text(const ast::Iteration&);
// What stands before an argument of a call: a semicolon where a group of an iteration begins.
std::string_view before_argument(const ast::Call&, std::size_t argument);

}  // namespace rml
