// The generator of every row of the operator table.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// v from its operands, which are computed as well where they are inlined (Emission::compute).
void compute(Function&, ValueId v);

}  // namespace rml::codegen
