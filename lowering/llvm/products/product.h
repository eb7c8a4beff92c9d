// The description of a product of two matrices, C[m, n] = A[m, inner] B[inner, n], for all generators. A and B are
// views with strides, so a transposed operand is read in place.
//
// The results leave the registers as a few neighbouring elements of C at a time, which are handed to a sink. The sink
// stores them, or computes an elementwise expression from them (a bias, an activation, the step of a parameter). Then
// the product itself is never in memory.
#pragma once

#include <functional>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

struct Product {
  DType dtype{};
  IrValue a = nullptr, b = nullptr;  // addresses of the matrices A and B
  IrValue c = nullptr;               // offset of the result C among all elements of the result
  std::int64_t m = 0, inner = 0, n = 0;
  // Strides of A and B along their rows, the inner axis and the columns.
  std::int64_t a_row = 0, a_inner = 0, b_inner = 0, b_column = 0;
  // The extent in index_type, if it is known at run time only; m or inner is then very large.
  IrValue all_m = nullptr, all_inner = nullptr;
  IrValue so_far = nullptr;  // address of sums to which the terms are added
  // For a product of one row or column: the other operand, if it is a constant so large that its layout matters.
  const Tensor* constant = nullptr;
  IrValue packed = nullptr;  // B in consecutive panels, in the order of `emit_tiles`
  // True if the computed element (i, j) is stored elsewhere: in row j of a single column, or in column i of this row.
  bool turned = false;
  IrValue row = nullptr;
  Rounds panels, row_tiles;  // for gemm: the computed panels and tiles
};

// Turns a single column into a row, B^T A^T. Elements keep their places.
Product as_row(const Product&);

struct Spot {  // an element of C: its offset in the whole result, its place in the matrix
  IrValue offset, row, column;
};
Spot spot(Function&, const Product&, IrValue row, IrValue column);

// Takes each element of the result once: `count` neighbouring elements from a spot on, along its row, or along its
// column if the result has only one column. They are the first lanes of a vector, or a scalar.
using Sink = std::function<void(const Spot&, IrValue elements, std::int64_t count)>;

// The sum without terms, which is neutral to the bit, also for -0.0.
IrValue no_terms(DType, llvm::Type*);

}  // namespace rml::codegen
