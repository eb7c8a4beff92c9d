// Emits one cycle of a straight program.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Emits the code that marks outputs as absent, then the block. The ports must be set.
void emit_straight(Function&);

}  // namespace rml::codegen
