// Finds the addresses and strides of a product's operands.
#pragma once

#include "lowering/llvm/products/product.h"

namespace rml::codegen {

struct Matrix {  // an operand, with the strides of its last two axes
  ValueId value;
  Shape shape;
  std::int64_t row, column;
};

// Computes the operand, if necessary. If it is only transposed here, and `transposable` allows strided reads, the
// matrix is the operand of the transposition.
Matrix matrix_of(Function&, ValueId, bool transposable);
// The product of two matrices, the last axes of v's operands. Missing axes are added to a and b. Addresses are not set.
Product product_of(const Function&, ValueId v, Matrix& a, Matrix& b);

}  // namespace rml::codegen
