// Emits convolutions and their gradients as correlations.
#pragma once

#include "lowering/llvm/windows/pool_code.h"

namespace rml::codegen {

// Returns whether code was generated.
bool emit_convolution(Function&, ValueId, const core::Apply&);
// Computes a convolution v whose only user is a pool, image by image.
bool convolution_pooled(Function&, ValueId v, PoolCode&, std::int64_t outputs, IrValue to);

}  // namespace rml::codegen
