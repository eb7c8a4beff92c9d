// Computes the places of a product's elements.
#include "lowering/llvm/products/product.h"

#include <utility>

#include "lowering/llvm/function/vectors.h"

namespace rml::codegen {

Product as_row(const Product& p) {
  Product row = p;
  std::swap(row.a, row.b);
  row.m = 1, row.n = p.m, row.turned = true;
  row.a_row = 0, row.a_inner = p.b_inner, row.b_inner = p.a_inner, row.b_column = p.a_row;
  return row;
}

Spot spot(Function& f, const Product& p, IrValue i, IrValue j) {
  if (p.row != nullptr) return {strided(f, p.c, i, 1), p.row, i};
  if (p.turned) return {strided(f, p.c, j, 1), j, f.constant(0)};
  return {strided(f, strided(f, p.c, i, p.n), j, 1), i, j};
}

// The neutral element of sums, to the bit, also for -0.0.
IrValue no_terms(DType dtype, llvm::Type* type) {
  return is_float(dtype) ? llvm::ConstantFP::getNegativeZero(type) : llvm::Constant::getNullValue(type);
}

}  // namespace rml::codegen
