// Prints syntax as text that parses to the same syntax, for nodes that are in no file.
#pragma once

#include <string>

#include "frontend/ast.h"

namespace rml {

// Prints one node with one equation per line. Calls name their callee without its module.
// `format` does the layout.
std::string print_source(const Program& program, const ast::Node& node);

// Returns `scan[reverse] ` or the like, which precedes the name of the iterated node.
std::string iterator_text(const ast::Iteration&);
// Returns the separator before an argument of a call: `; ` if a group of an iteration begins
// there.
std::string_view before_argument(const ast::Call&, std::size_t argument);

}  // namespace rml
