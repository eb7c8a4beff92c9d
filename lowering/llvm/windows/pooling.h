// Emits pools and their gradients.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Returns whether code was generated.
bool emit_pooling(Function&, ValueId, const core::Apply&);

}  // namespace rml::codegen
