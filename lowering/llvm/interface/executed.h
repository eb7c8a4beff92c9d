// Estimates how many instructions a call executes.
#pragma once

#include "lowering/llvm/module/ir_types.h"

namespace rml::codegen {

// Estimates the executed instructions of a function. `at_once` rounds of a loop count as one.
double executed_instructions(const llvm::Function&, double at_once = 1);

}  // namespace rml::codegen
