// Emits copies between views of dense tensors.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

void copy_strided(Function&, const Shape&, DType, IrValue to, IrValue to_offset, const Strides& to_strides,
                  ValueId from, IrValue from_offset, const Strides& from_strides);
// Copies x into v, where its elements begin at `begin`; computes it there if it is inlined.
void copy_into(Function&, ValueId v, IrValue to, std::int64_t begin, const Strides& to_strides, ValueId x);

}  // namespace rml::codegen
