// Elements of tensors as vectors in registers.
#pragma once

#include <vector>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// base + index * stride
IrValue strided(Function&, IrValue base, IrValue index, std::int64_t stride);
// `count` elements from there, and zeros; more than one lane: a vector.
IrValue load_elements(Function&, DType, unsigned lane_count, std::int64_t count, IrValue from);
// The first `count` elements.
void store_elements(Function&, DType, IrValue vector, std::int64_t count, IrValue to, Access);
// As many vectors as each has lanes, a power of two: rows become columns.
void transpose_square(Function&, std::vector<IrValue>& vectors);

}  // namespace rml::codegen
