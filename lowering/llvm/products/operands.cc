// Finds the addresses and strides of a product's operands.
#include "lowering/llvm/products/operands.h"

#include "semantics/core/queries.h"

namespace rml::codegen {

namespace {

bool is_transposition(const Function& f, ValueId v) {
  return apply_of(f.module.core, v, Lowering::transpose) != nullptr;
}

}  // namespace

// The operand's elements and the strides of its last two axes. A transposition that only this product uses is not
// computed.
Matrix matrix_of(Function& f, ValueId v, bool transposable) {
  Shape shape = f.info(v).shape;
  const bool transposed = transposable && f.module.inlined(v) && is_transposition(f, v);
  if (transposed) v = std::get<core::Apply>(f.info(v).rhs).operands[0];
  f.prepare(v);
  Matrix m{v, shape, shape.size() > 1 ? shape.back() : 1, 1};
  if (transposed) m.row = 1, m.column = shape[shape.size() - 2];
  return m;
}

// Describes the product of the operands' last two axes. Missing axes are added.
Product product_of(const Function& f, ValueId v, Matrix& x, Matrix& y) {
  if (x.shape.size() == 1) {
    x.shape.insert(x.shape.begin(), 1);
    x.row = 0, x.column = 1;
  }
  if (y.shape.size() == 1) {
    y.shape.push_back(1);
    y.row = 1, y.column = 0;
  }
  Product p;
  p.dtype = f.info(v).dtype;
  p.m = x.shape[x.shape.size() - 2], p.inner = x.shape.back(), p.n = y.shape.back();
  p.a_row = x.row, p.a_inner = x.column, p.b_inner = y.row, p.b_column = y.column;
  return p;
}

}  // namespace rml::codegen
