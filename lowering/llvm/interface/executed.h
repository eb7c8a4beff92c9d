// How many instructions a call takes.
#pragma once

#include "lowering/llvm/module/ir_types.h"

namespace rml::codegen {

double executed_instructions(const llvm::Function&);

}  // namespace rml::codegen
