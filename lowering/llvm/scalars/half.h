// Emits conversions of the 16-bit floats.
#pragma once

#include "lowering/llvm/module/ir_types.h"

namespace rml::codegen {

IrValue from_half(llvm::IRBuilder<>&, DType from, IrValue);  // to f32
IrValue to_half(llvm::IRBuilder<>&, DType to, DType from, IrValue);

}  // namespace rml::codegen
