// Writes contractions with the operators that compute them.
#pragma once

#include <functional>

#include "semantics/core/core.h"
#include "semantics/operators/contraction.h"

namespace rml::draft {

// Makes a value from the name of an operator, its operands, attributes and shape.
using MakeValue = std::function<ValueId(const char* op, std::vector<ValueId>, std::vector<Attribute>, Shape)>;

// The value of the contraction. `operands` are in the order of its terms; `zero` is a scalar of
// the dtype.
ValueId write_contraction(const Contraction&, const std::vector<ValueId>& operands, ValueId zero, const MakeValue&);

}  // namespace rml::draft
