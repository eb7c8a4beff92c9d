// One file's text to one module of a Program.
//
// Imports are recorded, not followed: that is load_imports.cc's part.
#pragma once

#include <vector>

#include "frontend/ast.h"
#include "frontend/diagnostic.h"
#include "frontend/source.h"
#include "frontend/token.h"

namespace rml {

// Adds the file's nodes and constants to program as those of module `id`. The tokens come
// back with their roles. Recurses as deep as the text nests: call it on a deep stack.
struct ParsedModule {
  ast::Module module;
  std::vector<Token> tokens;
};
ParsedModule parse_module(std::uint32_t file, ModuleId id, Program& program, const SourceMap& sources,
                          Diagnostics& diagnostics);

}  // namespace rml
