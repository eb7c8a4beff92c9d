// Sets a bound from the text `NAME=N` of `--limit` or of a host program.
#pragma once

#include <string>

#include "semantics/values/limits.h"

namespace rml {

// Returns an empty text if the bound was set, or else the error.
std::string set_limit(Limits& limits, const std::string& text);

}  // namespace rml
