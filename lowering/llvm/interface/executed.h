// How many instructions a call takes.
#pragma once

#include "lowering/llvm/module/ir_types.h"

namespace rml::codegen {

// … of a loop, at_once rounds take as long as one.
double executed_instructions(const llvm::Function&, double at_once = 1);

}  // namespace rml::codegen
