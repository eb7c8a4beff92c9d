// Prints the tree of a file as indented text (`rmlc show ast`): one construct per line, its
// children below it, indented by two columns.
#pragma once

#include <string>

#include "frontend/ast.h"

namespace rml {

// Prints the main file and the nodes that were derived for it. Imports are named but not
// expanded.
std::string print_ast(const Program& program);

}  // namespace rml
