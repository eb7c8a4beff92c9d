// Emits convolutions, pools and their gradients as generated code, where there is a generator for them.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Returns whether code was generated; otherwise the runtime's kernel must be called.
bool emit_windows(Function&, ValueId, const core::Apply&);

}  // namespace rml::codegen
