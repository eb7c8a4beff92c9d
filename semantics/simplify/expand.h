// Expansion: replaces operators with a definition (Lowering::expanded) by their definitions.
#pragma once

#include <functional>

#include "semantics/core/core.h"

namespace rml {

// Replaces the operators, except those for which `stays` is true. Returns true if any was
// replaced. Equal parts of definitions are not shared yet.
bool expand(Core& core, const std::function<bool(OperatorId)>& stays = {});
// Replaces convolutions with a single window, the whole input, by products
// (flatten_convolutions.cc). Returns true if there were any.
bool flatten_convolutions(Core& core);

}  // namespace rml
