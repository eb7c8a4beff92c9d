// What an elementwise operator computes of one element.
#pragma once

#include <vector>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Floats that are in registers what they are in memory.
inline bool is_real(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

// v applied to these operands, elements or, where the operator works on them, vectors of elements.
IrValue scalar_operation(Function&, ValueId v, const std::vector<IrValue>& operands);

}  // namespace rml::codegen
