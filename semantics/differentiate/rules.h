// The derivative rules of the operator table as syntax.
#pragma once

#include <string>

#include "frontend/ast.h"
#include "semantics/operators/operator.h"

namespace rml {

// The adjoint of one operand: an expression of its own small program over the names that
// OperatorInfo::vjp describes. `x...` is written `x__all`.
struct DerivativeRule {
  const Program* program = nullptr;
  ExprId adjoint;       // the adjoint of the operand; invalid: the operator has no derivative for it
  std::string because;  // the reason why there is no derivative
};

// Returns the derivative rule of an operator. `operand` is the index among its operands, from 0.
const DerivativeRule& derivative_rule(OperatorId op, std::size_t operand);

}  // namespace rml
