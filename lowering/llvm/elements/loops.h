// Loops over elements: pointwise values and reductions, fused.
#pragma once

#include <vector>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// v, which is pointwise.
void emit_pointwise(Function&, ValueId v);
// One loop nest for values with the same loop shape (lowering/steps/loop_group.h), pointwise ones and reductions.
void emit_loops(Function&, const std::vector<ValueId>& members);

}  // namespace rml::codegen
