// Products of matrices and vectors, stacks of them, and the stores of their results.
#pragma once

#include "lowering/llvm/products/product.h"

namespace rml::codegen {

// Computes v, the product of a and b.
void emit_matmul(Function&, ValueId v, ValueId a, ValueId b);
// Calls the sink for all elements of the product a b, which has v's shape.
void each_product(Function&, ValueId v, ValueId a, ValueId b, bool unrolled, const Sink&);
// The product of two matrices.
void emit_product(Function&, const Product&, const Sink&);

}  // namespace rml::codegen
