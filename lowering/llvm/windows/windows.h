// Convolutions, pools and their gradients as generated code.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Whether code was generated, instead of a call of the kernel.
bool emit_windows(Function&, ValueId, const core::Apply&);

}  // namespace rml::codegen
