// Inner products of the rows of a matrix with a vector, where the inner index is contiguous.
#pragma once

#include "lowering/llvm/products/product.h"

namespace rml::codegen {

void emit_dots(Function&, const Product&, const Sink&);

}  // namespace rml::codegen
