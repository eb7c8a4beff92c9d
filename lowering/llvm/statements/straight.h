// Emits one cycle of a straight program.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Marks absent outputs and emits the block. Ports must be set.
void emit_straight(Function&);

}  // namespace rml::codegen
