// Small tensors as one vector each.
#pragma once

#include "lowering/llvm/elements/expression.h"

namespace rml::codegen {

bool fits_vector(const Function&, const Expression&, const Shape&);
// The values of all nodes, of so many elements.
std::vector<IrValue> as_vectors(Function&, const Expression&, std::int64_t count);

}  // namespace rml::codegen
