// -D NAME=VALUE: replaces the value of `const NAME` before names are resolved, so that the
// new value is checked exactly as a written one would be.
#pragma once

#include <string>
#include <vector>

#include "frontend/ast.h"
#include "frontend/diagnostic.h"
#include "frontend/parse.h"
#include "frontend/source.h"

namespace rml {

// Each definition is registered as a source of its own, named "-D", so errors in VALUE
// have a place. NAME is a constant of the main file, one that it imports by path, or
// q.NAME with the qualifier of an import. Reports E0902; true if all went well.
bool define_constants(Program& program, const std::vector<std::string>& definitions, const ParseOptions& options,
                      SourceMap& sources, Diagnostics& diagnostics);

}  // namespace rml
