// Keeps small tensors in vector registers.
#pragma once

#include "lowering/llvm/elements/expression.h"

namespace rml::codegen {

struct SmallVectors {
  std::int64_t widest = 0;  // lanes of the widest vector; 0: the tensor is computed element by element
  bool whole = false;       // a single vector has room for all elements
};
SmallVectors find_vectors(const Function&, const Expression&, const Shape&);
// The values of all nodes for `count` elements from `begin` on, as vectors of `lanes` lanes; scalars have one lane.
std::vector<IrValue> as_vectors(Function&, const Expression&, std::int64_t begin, std::int64_t count,
                                std::int64_t lanes);

}  // namespace rml::codegen
