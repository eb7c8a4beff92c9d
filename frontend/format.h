// Canonical layout of a source file (`rmlc fmt`): comments kept, idempotent, equal AST.
#pragma once

#include <optional>
#include <string>

#include "frontend/diagnostic.h"
#include "frontend/source.h"

namespace rml {

// The formatted text of a registered file; nothing (and diagnostics) if it does not parse.
std::optional<std::string> format(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics);

}  // namespace rml
