// Emits products of matrices with many rows, which read B panel by panel.
#pragma once

#include "lowering/llvm/products/product.h"

namespace rml::codegen {

void emit_gemm(Function&, const Product&, const Sink&);
// Writes the product to `to`, which also holds the partial sums between blocks. Extents may be known at run time only.
void gemm_into(Function&, const Product&, IrValue to);
// Adds the product to the matrix at `to`. If there are many terms they are summed at `sums` first, so that small terms
// are not lost one by one.
void gemm_onto(Function&, const Product&, IrValue sums, IrValue to);

}  // namespace rml::codegen
