// Chooses the loops of a product, by its extents, its strides and the target's vectors alone.
#pragma once

#include "lowering/llvm/products/product.h"

namespace rml::codegen {

enum class ProductForm : std::uint8_t {
  nothing,       // no terms: the result is zeros
  constant,      // the vector by a constant matrix, which the compiler stores in panels
  dots,          // inner products of the rows of A with B, a single column (dots.h)
  row,           // a single column, computed as a row: the vector by the matrix in place, in tiles
  dots_of_rows,  // inner products of the columns of B with each row of A
  gemm,          // many rows: panels of B (gemm.h)
  tiles,         // a few rows: B is read in place (tile.h)
};

ProductForm form_of(const Product&, const Target&, const Numeric&);

}  // namespace rml::codegen
