// Operators defined by others (Lowering::expanded) replaced by their definitions.
#pragma once

#include <functional>

#include "semantics/core/core.h"

namespace rml {

// Returns whether there was any. Equal parts of definitions are not shared yet. `stays`: operators that
// are left as they are.
bool expand(Core& core, const std::function<bool(OperatorId)>& stays = {});
// Convolutions whose one window is the whole input, as products (flatten_convolutions.cc); likewise.
bool flatten_convolutions(Core& core);

}  // namespace rml
