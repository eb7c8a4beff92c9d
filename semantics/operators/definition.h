// Operators that are defined by an expression of others (Lowering::expanded).
//
// A definition is an R(ML)2 expression over the parameter names of its row: operators, arithmetic,
// comparisons, literals, lists of integers. Literals, attributes that are numbers and `size` are
// numbers until they meet an operand, whose dtype they take. The expression is evaluated
// twice: into tensors, which is the operator's reference semantics, and into core, before code is made.
#pragma once

#include "semantics/operators/operator.h"

namespace rml {

// What the parts of a definition become.
class DefinitionTarget {
 public:
  struct Operand {
    std::size_t id = 0;  // as the target counts them
    DType dtype{};
    Shape shape;
  };
  virtual ~DefinitionTarget() = default;
  virtual Operand constant(Tensor) = 0;
  virtual Operand apply(OperatorId, const std::vector<Operand>&, std::vector<Attribute>, DType, Shape) = 0;
};

// `operands` are those of the application of `row`; its result has elements.
DefinitionTarget::Operand define(const OperatorInfo& row, const Application&,
                                 const std::vector<DefinitionTarget::Operand>& operands, DefinitionTarget&);

Fault evaluate_definition(const OperatorInfo& row, const Application&, std::span<const Tensor* const> operands,
                          Tensor& result);

}  // namespace rml
