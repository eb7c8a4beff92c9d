// Parses source text to a Program (grammar/Rml.g4).
//
// parse_program reads a file, follows its imports and puts the prelude in scope. Each file is
// loaded once, and cycles of imports are reported (E0803). Several syntax errors are reported per
// run. Text that could not be parsed is omitted or becomes ast::Error. Only parse.cc and scan.cc
// use ANTLR.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "frontend/ast.h"
#include "frontend/diagnostic.h"
#include "frontend/source.h"

namespace rml {

struct ParseOptions {
  std::vector<std::filesystem::path> import_dirs;  // folders of -I; searched after the folder of the importing file
  std::filesystem::path stdlib_dir;                // contains prelude.rml; searched last
};

Program parse_program(const std::filesystem::path& file, const ParseOptions& options, SourceMap& sources,
                      Diagnostics& diagnostics);
// Parses text in memory; `name` is its name in diagnostics.
Program parse_text(const std::string& name, const std::string& text, const ParseOptions& options, SourceMap& sources,
                   Diagnostics& diagnostics);

}  // namespace rml
