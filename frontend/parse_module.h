// Parses the text of one file into one module of a Program.
//
// Imports are recorded but not followed; load_imports.cc does that.
#pragma once

#include <vector>

#include "frontend/ast.h"
#include "frontend/diagnostic.h"
#include "frontend/source.h"
#include "frontend/token.h"

namespace rml {

// Adds the nodes and constants of the file to `program`, as those of module `id`. The returned
// tokens have their roles set. The recursion is as deep as the text is nested, so call this on a
// deep stack.
struct ParsedModule {
  ast::Module module;
  std::vector<Token> tokens;
};
ParsedModule parse_module(std::uint32_t file, ModuleId id, Program& program, const SourceMap& sources,
                          Diagnostics& diagnostics);

}  // namespace rml
