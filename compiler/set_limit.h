// `--limit NAME=N`, as the command line and hosts give it.
#pragma once

#include <string>

#include "semantics/values/limits.h"

namespace rml {

// What is wrong with the text; empty: the bound has been set.
std::string set_limit(Limits& limits, const std::string& text);

}  // namespace rml
