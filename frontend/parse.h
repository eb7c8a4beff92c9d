// Parsing: source text to Program (grammar/Rml.g4).
//
// parse_program reads the file, follows its imports (each file once; cycles are E08) and
// puts the prelude in scope. Syntax errors are reported with recovery, several per run;
// what could not be parsed is left out or is ast::Error. parse.cc alone includes ANTLR.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "frontend/ast.h"
#include "frontend/diagnostic.h"
#include "frontend/source.h"

namespace rml {

struct ParseOptions {
  std::vector<std::filesystem::path> import_dirs;  // -I, searched after the importing file's folder
  std::filesystem::path stdlib_dir;                // holds prelude.rml; searched last
};

// Deeper nesting of expressions is E0104; every pass may recurse that deep on the stack
// of run_with_deep_stack.
inline constexpr int max_nesting = 10000;

Program parse_program(const std::filesystem::path& file, const ParseOptions& options, SourceMap& sources,
                      Diagnostics& diagnostics);
// The same for text held in memory; `name` is what diagnostics call it.
Program parse_text(const std::string& name, const std::string& text, const ParseOptions& options, SourceMap& sources,
                   Diagnostics& diagnostics);

// Runs f on a thread whose stack holds recursion max_nesting deep.
void run_with_deep_stack(void (*f)(void*), void* argument);

}  // namespace rml
