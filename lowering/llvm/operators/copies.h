// Copies between views of dense tensors.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

void copy_strided(Function&, const Shape&, DType, IrValue to, IrValue to_offset, const Strides& to_strides,
                  ValueId from, IrValue from_offset, const Strides& from_strides);
// Copies x, or computes it if it is inlined, to where it begins in v.
void copy_into(Function&, ValueId v, IrValue to, std::int64_t begin, const Strides& to_strides, ValueId x);

}  // namespace rml::codegen
