// Emits blocks of statements.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

void emit_block(Function&, const steps::Block&);

}  // namespace rml::codegen
