// Emits `map`, `fold` and `scan`.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

void emit_iteration(Function&, ValueId, const core::Call&);

}  // namespace rml::codegen
