// Emits operators that move elements, as strided copies between dense tensors.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

void emit_reshape(Function&, ValueId, ValueId x);
void emit_concat(Function&, ValueId, const core::Apply&);
void emit_array(Function&, ValueId, const core::Apply&);
void emit_index(Function&, ValueId, const core::Apply&);
void emit_place(Function&, ValueId, const core::Apply&);
void emit_place_slice(Function&, ValueId, const core::Apply&);
void emit_iota(Function&, ValueId);
void emit_one_hot(Function&, ValueId, ValueId at);

}  // namespace rml::codegen
