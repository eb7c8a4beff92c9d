// Fused loops over elements: pointwise values and reductions.
#pragma once

#include <vector>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Computes v, a pointwise value.
void emit_pointwise(Function&, ValueId v);
// Computes values with the same loop shape (lowering/steps/loop_group.h), pointwise ones and reductions, in one loop
// nest.
void emit_loops(Function&, const std::vector<ValueId>& members);

}  // namespace rml::codegen
