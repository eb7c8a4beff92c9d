// Selects the generator of each row of the operator table.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Computes v from its operands. Inlined operands are computed as well (Emission::compute).
void compute(Function&, ValueId v);

}  // namespace rml::codegen
