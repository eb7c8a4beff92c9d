// One cycle of a straight program.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Absent outputs, the block. Ports are set.
void emit_straight(Function&);

}  // namespace rml::codegen
