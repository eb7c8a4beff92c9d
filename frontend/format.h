// Formats a source file in the canonical layout (`rmlc fmt`). Comments and the AST stay the same;
// formatting is idempotent.
#pragma once

#include <optional>
#include <string>

#include "frontend/diagnostic.h"
#include "frontend/source.h"

namespace rml {

// Returns the formatted text of a registered file. If it does not parse, returns nothing and
// reports the errors.
std::optional<std::string> format(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics);

}  // namespace rml
