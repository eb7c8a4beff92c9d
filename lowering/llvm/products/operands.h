// Operands of products.
#pragma once

#include "lowering/llvm/products/product.h"

namespace rml::codegen {

struct Matrix {  // an operand: its last two axes' strides
  ValueId value;
  Shape shape;
  std::int64_t row, column;
};

// It is computed, if need be; of one that is transposed only here (`transposable`: and may be read so) what it is of.
Matrix matrix_of(Function&, ValueId, bool transposable);
// Of two matrices, the last axes of the operands of v; they get their missing axes. Addresses are not set.
Product product_of(const Function&, ValueId v, Matrix& a, Matrix& b);

}  // namespace rml::codegen
