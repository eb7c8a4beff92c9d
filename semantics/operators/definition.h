// Operators that are defined by an expression of others (Lowering::expanded).
//
// A definition is an R(ML)2 expression over the parameter names of its row: operators, arithmetic,
// comparisons, literals, lists of integers, texts. Literals, attributes that are numbers and `size` are
// numbers until they meet an operand, whose dtype they take. The expression is evaluated
// twice: into tensors, which is the operator's reference semantics, and into core, before code is made.
#pragma once

#include "semantics/operators/rules.h"

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

// A part that fails is the fault of the whole.
Fault evaluate_definition(const OperatorInfo& row, const Application&, std::span<const Tensor* const> operands,
                          Tensor& result);

// A text that a rule has put together, kept for good: definitions are read and not owned.
std::string_view kept_definition(const std::string& text);

// A name as a template argument.
template <std::size_t N>
struct OperatorName {
  char text[N];
  constexpr OperatorName(const char (&t)[N]) {  // NOLINT(google-explicit-constructor): written as a literal
    for (std::size_t k = 0; k < N; ++k) text[k] = t[k];
  }
};

// The row of an operator by its definition, which may depend on the application's attributes and shapes.
template <OperatorName name>
OperatorInfo defined(std::vector<OperatorParameter> parameters, DTypeSlot result, ShapeRule shape,
                     std::string_view (*definition)(const Application&), std::vector<std::string_view> vjp,
                     RowText text) {
  constexpr Evaluate evaluate = [](const Application& app, const EvaluationContext&,
                                   std::span<const Tensor* const> operands, Tensor& made) {
    static const OperatorId id = operators().require(name.text);
    return evaluate_definition(operators()[id], app, operands, made);
  };
  OperatorInfo info =
      row(name.text, std::move(parameters), result, shape, evaluate, Lowering::expanded, std::move(vjp), text);
  info.definition = definition;
  return info;
}

}  // namespace rml
