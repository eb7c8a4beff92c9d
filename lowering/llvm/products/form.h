// Chooses the loops of a product, by its extents, its strides and the target's vectors alone.
#pragma once

#include "lowering/llvm/products/product.h"

namespace rml::codegen {

enum class ProductForm : std::uint8_t {
  nothing,       // a product without terms, whose result is zeros
  constant,      // a vector times a constant matrix, which the compiler stores in panels
  dots,          // inner products of the rows of A with B, a single column (dots.h)
  row,           // a single column, computed as a row: the vector by the matrix in place, in tiles
  dots_of_rows,  // inner products of the columns of B with each row of A
  gemm,          // a product with many rows, computed by panels of B (gemm.h)
  tiles,         // a product with few rows, where B is read in place (tile.h)
};

ProductForm form_of(const Product&, const Target&, const Numeric&);

}  // namespace rml::codegen
