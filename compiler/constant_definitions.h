// `-D NAME=VALUE` replaces the value of `const NAME` before names are resolved. The new value is
// therefore checked exactly as if it were written in the source.
#pragma once

#include <string>
#include <vector>

#include "frontend/ast.h"
#include "frontend/diagnostic.h"
#include "frontend/parse.h"
#include "frontend/source.h"

namespace rml {

// NAME is a constant of the main file, a constant of a file that it imports by path, or q.NAME
// with the qualifier q of an import. Each definition is registered as a source of its own, named
// "command line", so that errors in VALUE have a position. Reports E0902 for each definition that
// fails, and returns true if there is none.
bool define_constants(Program& program, const std::vector<std::string>& definitions, const ParseOptions& options,
                      SourceMap& sources, Diagnostics& diagnostics);

}  // namespace rml
