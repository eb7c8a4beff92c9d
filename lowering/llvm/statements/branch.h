// Emits branches.
#pragma once

#include <functional>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Emits a branch. `emit_block` emits a side that is executed conditionally.
void emit_branch(Function&, const steps::Branch&, const std::function<void(const steps::Block&)>& emit_block);

}  // namespace rml::codegen
