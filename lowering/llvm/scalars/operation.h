// Applies an elementwise operator to one element.
#pragma once

#include <vector>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// True for floats that have the same form in registers and in memory.
inline bool is_real(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

// v's operator applied to these operands: elements or, if the operator supports them, vectors of elements.
IrValue scalar_operation(Function&, ValueId v, const std::vector<IrValue>& operands);

}  // namespace rml::codegen
