// Products of a matrix that stands still.
#pragma once

#include <functional>
#include <vector>

#include "lowering/llvm/products/product.h"

namespace rml::codegen {

struct PackedTerm {
  Product product;
  std::size_t pack;  // in Emission::packs
};
// The product that v is.
PackedTerm packed_term(Function&, ValueId v);
// The sum of products, of as many rows and columns each, where all packed matrices lie in their cells.
void packed_sum(Function&, std::vector<PackedTerm>, const Sink&, const std::function<void()>& otherwise);

}  // namespace rml::codegen
