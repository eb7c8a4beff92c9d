// Tiles: some rows by some columns of a product, whose sums stay in registers while the inner index runs once through
// both operands.
//
//   s[rows][2 vectors] = 0;  for k: s += a[rows, k] * b[k, 2 vectors];  c = s
#pragma once

#include <utility>
#include <vector>

#include "lowering/llvm/products/product.h"

namespace rml::codegen {

struct Panel {  // some columns of B: element (k, j) is at k * inner_stride + (column + j) * column_stride
  IrValue data = nullptr, column = nullptr;
  std::int64_t inner_stride = 0, column_stride = 0;
  std::int64_t columns = 0, width = 0;  // number of columns that exist, and number of columns that are computed
  IrValue column_of_c = nullptr;        // the column in C, if it is not `column`
};

// Further products whose terms are added to the same sums.
using Terms = std::vector<std::pair<const Product*, Panel>>;

// Computes the sums of `height` rows from `row` on, over the panel's columns.
void emit_tile(Function&, const Product&, const Panel&, IrValue row, std::int64_t height, const Sink&,
               const Terms& more = {});

// Calls body(first, size) for the tiles of an extent; the last one may be smaller.
void each_tile(Function&, const Rounds&, std::int64_t extent, std::int64_t size,
               const std::function<void(IrValue, std::int64_t)>& body);
// Calls body(first, size) for the tiles of the rows of C.
void each_row_tile(Function&, const Product&, std::int64_t size,
                   const std::function<void(IrValue, std::int64_t)>& body);

// The number of columns of a tile, for a product that reads B in place.
std::int64_t widest_tile(const Target&, const Product&);
// Computes a few rows; B is read in place.
void emit_tiles(Function&, const Product&, const Sink&);

}  // namespace rml::codegen
