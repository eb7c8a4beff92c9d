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
// By vectors of at most so many lanes.
void copy_elements(Function&, DType, std::int64_t lanes, std::int64_t count, IrValue from, IrValue to);
// So many vectors, a power of two, are rows of squares that lie side by side, of as many lanes each: rows become
// columns.
void transpose_squares(Function&, std::vector<IrValue>& vectors);

}  // namespace rml::codegen
