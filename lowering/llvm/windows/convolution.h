// Convolutions and their gradients as correlations.
#pragma once

#include "lowering/llvm/windows/pool_code.h"

namespace rml::codegen {

// Whether code was generated.
bool emit_convolution(Function&, ValueId, const core::Apply&);
// A convolution v that is pooled only: image by image.
bool convolution_pooled(Function&, ValueId v, PoolCode&, std::int64_t outputs, IrValue to);

}  // namespace rml::codegen
