// Products of matrices with many rows: B panel by panel.
#pragma once

#include "lowering/llvm/products/product.h"

namespace rml::codegen {

void emit_gemm(Function&, const Product&, const Sink&);
// To `to`, where the sums of blocks wait: any extents may be known only while running.
void gemm_into(Function&, const Product&, IrValue to);
// Added to what is at `to`; of many terms the sum is made first, at `sums`, so that small ones are not lost one by one.
void gemm_onto(Function&, const Product&, IrValue sums, IrValue to);

}  // namespace rml::codegen
