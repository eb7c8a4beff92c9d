// Operators defined by others (Lowering::expanded) replaced by their definitions.
#pragma once

#include "semantics/core.h"

namespace rml {

// Returns whether there was any. Equal parts of definitions are not shared yet.
bool expand(Core& core);

}  // namespace rml
