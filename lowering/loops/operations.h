// What is known of an operation on elements: what the text calls it, how many operands it takes, of which dtypes.
#pragma once

#include <optional>
#include <string_view>

#include "semantics/operators/operator.h"

namespace rml::loops {

struct OperationFacts {
  std::string_view name;  // empty: it is no operation on elements, but made of others, or a function of the C library
  std::size_t operands = 0;
  DTypeSet allowed = 0;  // what they may be; all are of one dtype, but the condition of select
};
OperationFacts facts_of(ScalarOp);
std::optional<ScalarOp> operation_named(std::string_view);

// What it yields, of operands of this dtype.
DType dtype_of(ScalarOp, DType operands);
bool compares(ScalarOp);

}  // namespace rml::loops
