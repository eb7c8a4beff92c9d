// Small tensors as vectors.
#pragma once

#include "lowering/llvm/elements/expression.h"

namespace rml::codegen {

struct SmallVectors {
  std::int64_t widest = 0;  // lanes; 0: the tensor is computed element by element
  bool whole = false;       // one vector, with room for all elements
};
SmallVectors find_vectors(const Function&, const Expression&, const Shape&);
// The values of all nodes, of `count` elements from `begin` on, in so many lanes; scalars in one.
std::vector<IrValue> as_vectors(Function&, const Expression&, std::int64_t begin, std::int64_t count,
                                std::int64_t lanes);

}  // namespace rml::codegen
