// The core of a program as a picture: one box per equation, arrows along the data, dashed
// where they cross to another cycle; instances are frames.
#pragma once

#include <string>

#include "semantics/core.h"

namespace rml {

// In Graphviz's DOT language.
std::string graph_text(const Core& core);

}  // namespace rml
