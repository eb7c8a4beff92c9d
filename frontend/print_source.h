// Syntax as text that parses to the same syntax: for nodes that no file holds.
#pragma once

#include <string>

#include "frontend/ast.h"

namespace rml {

// One node, an equation a line; calls name their callee without its module. Layout is for `format`.
std::string print_source(const Program& program, const ast::Node& node);

}  // namespace rml
