// The tree of a file as indented text (`rmlc show ast`): one construct a line, children
// below it, two columns in.
#pragma once

#include <string>

#include "frontend/ast.h"

namespace rml {

// The main file, and the nodes that were derived for it; imports are named, not entered.
std::string print_ast(const Program& program);

}  // namespace rml
