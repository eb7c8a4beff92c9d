// Panels: columns of B, copied so that a tile reads them sequentially.
#pragma once

#include "lowering/llvm/products/product.h"

namespace rml::codegen {

// Fills a panel: pack[k][j] = b[k, column + j] for all k. Missing columns are zero.
void fill_panel(Function&, const Product&, IrValue pack, IrValue column, std::int64_t columns, std::int64_t width);

}  // namespace rml::codegen
