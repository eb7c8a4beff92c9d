// Emits operators that are lists of strided copies (semantics/operators/moves.h).
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

void emit_move(Function&, ValueId, const core::Apply&);
void emit_sum_moves(Function&, ValueId, const core::Apply&);

}  // namespace rml::codegen
