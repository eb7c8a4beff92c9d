// Loads and stores elements of tensors as vectors in registers.
#pragma once

#include <vector>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// computes base + index * stride
IrValue strided(Function&, IrValue base, IrValue index, std::int64_t stride);
// Loads `count` elements from `from` on, then zeros. With more than one lane the result is a vector.
IrValue load_elements(Function&, DType, unsigned lane_count, std::int64_t count, IrValue from);
// Stores the first `count` elements.
void store_elements(Function&, DType, IrValue vector, std::int64_t count, IrValue to, Access);
// Copies by vectors of at most `lanes` lanes.
void copy_elements(Function&, DType, std::int64_t lanes, std::int64_t count, IrValue from, IrValue to);
// Transposes squares. The vectors, a power of two of them, are the rows of adjacent squares, and each vector has as
// many lanes as there are rows.
void transpose_squares(Function&, std::vector<IrValue>& vectors);

}  // namespace rml::codegen
