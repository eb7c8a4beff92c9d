// Properties of an operation on elements: its name in the text, the number of its operands, their dtypes.
#pragma once

#include <optional>
#include <string_view>

#include "semantics/operators/operator.h"

namespace rml::loops {

struct OperationFacts {
  std::string_view name;  // name of the operation; empty: a composed operation, or a function of the C library
  std::size_t operands = 0;
  DTypeSet allowed = 0;  // the allowed dtypes; all operands have the same one, except the condition of select
};
OperationFacts facts_of(ScalarOp);
std::optional<ScalarOp> operation_named(std::string_view);

// The dtype of the result for operands of this dtype.
DType dtype_of(ScalarOp, DType operands);
bool compares(ScalarOp);

}  // namespace rml::loops
