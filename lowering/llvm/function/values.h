// Stores whole values into memory.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

void store_value(Function&, ValueId, IrValue address);  // stores all elements of the value
void fill_zero(Function&, ValueId, IrValue address);    // fills `address` instead of the value's own place

}  // namespace rml::codegen
