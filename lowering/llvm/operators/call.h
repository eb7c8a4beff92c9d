// Calls of functions outside the generated code: external nodes and kernels of the runtime.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

void emit_call(Function&, ValueId, const core::Call&);  // emits a call of an external node
void emit_random(Function&, ValueId, const core::Apply&);
void emit_kernel(Function&, ValueId, const core::Apply&);  // emits a call of the runtime
void emit_parameter(Function&, ValueId, ValueId init);

}  // namespace rml::codegen
