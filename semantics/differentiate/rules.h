// The operator table's derivative rules as syntax.
#pragma once

#include <string>

#include "frontend/ast.h"
#include "semantics/operators/operator.h"

namespace rml {

// The adjoint of one operand, an expression of its own small program over the names that
// OperatorInfo::vjp explains; `x...` is written `x__all`.
struct DerivativeRule {
  const Program* program = nullptr;
  ExprId adjoint;       // invalid: there is none,
  std::string because;  // and why
};

// `operand`: which of the row's operand parameters, counted from 0.
const DerivativeRule& derivative_rule(OperatorId op, std::size_t operand);

}  // namespace rml
