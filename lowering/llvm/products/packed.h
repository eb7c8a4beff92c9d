// Emits products of a matrix that rarely changes and has a pack, a copy in the order in which products read it.
#pragma once

#include <functional>
#include <vector>

#include "lowering/llvm/products/product.h"

namespace rml::codegen {

struct PackedTerm {
  Product product;
  std::size_t pack;  // index in Emission::packs
};
// Describes the product v.
PackedTerm packed_term(Function&, ValueId v);
// Computes the sum of products of equal numbers of rows and columns if all packed matrices are in their cells; else
// emits `otherwise`.
void packed_sum(Function&, std::vector<PackedTerm>, const Sink&, const std::function<void()>& otherwise);

}  // namespace rml::codegen
