// A product of two matrices, C[m, n] = A[m, inner] B[inner, n], as all who compute one look at it: A and B are views
// with strides, so that a transposed operand is read where it lies.
//
// What leaves the registers, a few neighbouring elements of C at a time, is handed to a sink: it is
// stored, or an elementwise expression is computed from it (a bias, an activation, the step of a
// parameter), and the product itself is never in memory.
#pragma once

#include <functional>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

struct Product {
  DType dtype{};
  IrValue a = nullptr, b = nullptr;  // addresses
  IrValue c = nullptr;               // offset of C among all elements of the result
  std::int64_t m = 0, inner = 0, n = 0;
  std::int64_t a_row = 0, a_inner = 0, b_inner = 0, b_column = 0;  // strides
  // Where an extent is known only while running: it, in index_type; m or inner is then very large.
  IrValue all_m = nullptr, all_inner = nullptr;
  IrValue so_far = nullptr;  // address of sums that these are added to
  // Of one row or column: the other operand, where it is a constant of so many elements that its order matters.
  const Tensor* constant = nullptr;
  IrValue packed = nullptr;  // B in panels, one behind the other, as `emit_tiles` takes them
  // Where the element (i, j) that is computed lies, if not there: in row j of a single column, or in
  // column i of this row.
  bool turned = false;
  IrValue row = nullptr;
  Rounds panels, row_tiles;  // of gemm: those that are computed
};

// Of a single column: the same as a row, B^T A^T. Elements still go where they belong.
Product as_row(const Product&);

struct Spot {  // an element of C: its offset in the whole result, its place in the matrix
  IrValue offset, row, column;
};
Spot spot(Function&, const Product&, IrValue row, IrValue column);

// Takes each element of the result once: `count` neighbouring ones from a spot on, along its row, or along its column
// if it has only one: the first ones of a vector, or a scalar.
using Sink = std::function<void(const Spot&, IrValue elements, std::int64_t count)>;

// A sum of nothing: neutral to the bit, also of -0.0.
IrValue no_terms(DType, llvm::Type*);

}  // namespace rml::codegen
