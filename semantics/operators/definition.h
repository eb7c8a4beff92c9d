// Operators that are defined by an expression of other operators (Lowering::expanded).
//
// A definition is an R(ML)² expression over the parameter names of its row, with operators,
// arithmetic, comparisons, literals, lists of integers and texts; or a node of such equations, of
// which the last one defines the result. Literals, numeric attributes and `size` are plain numbers
// until they meet an operand, whose dtype they get. The expression is evaluated for two targets:
// tensors, which gives the operator's reference semantics, and the core, before code generation.
#pragma once

#include "semantics/operators/rules.h"

namespace rml {

// Operators that have a kernel are computed without it up to these sizes: elements along the axis that is sorted, rows
// of a matrix (as in runtime/lapack/small.h, whose results are the same to the bit), and elements in all.
inline constexpr std::int64_t longest_axis_in_code = 16, most_rows_in_code = 12, most_elements_in_code = 4096;

// The target of the evaluation of a definition.
class DefinitionTarget {
 public:
  struct Operand {
    std::size_t id = 0;  // number given by the target
    DType dtype{};
    Shape shape;
  };
  virtual ~DefinitionTarget() = default;
  virtual Operand constant(Tensor) = 0;
  virtual Operand apply(OperatorId, const std::vector<Operand>&, std::vector<Attribute>, DType, Shape) = 0;
};

// Evaluates the definition of `row` for `operands`. Its result has at least one element.
DefinitionTarget::Operand define(const OperatorInfo& row, const Application&,
                                 const std::vector<DefinitionTarget::Operand>& operands, DefinitionTarget&);

// Evaluates a node that is given as text. Its equations are in an order in which they can be
// evaluated, each with one target. `numbers` are further names, and `dtype` is the dtype of
// literals that meet no operand. Returns the node's outputs.
std::vector<DefinitionTarget::Operand> define_node(std::string_view text, DType dtype,
                                                   std::span<const DefinitionTarget::Operand> inputs,
                                                   const std::vector<std::pair<std::string_view, double>>& numbers,
                                                   DefinitionTarget&);

// If a part fails, the whole application fails.
Fault evaluate_definition(const OperatorInfo& row, const Application&, std::span<const Tensor* const> operands,
                          Tensor& result);

// Stores a text that a rule has composed, for the rest of the run; definitions are passed as
// views.
std::string_view kept_definition(const std::string& text);

// A name as a template argument.
template <std::size_t N>
struct OperatorName {
  char text[N];
  constexpr OperatorName(const char (&t)[N]) {  // NOLINT(google-explicit-constructor): written as a literal
    for (std::size_t k = 0; k < N; ++k) text[k] = t[k];
  }
};

// The row of an operator with a definition, which may depend on the application's attributes and
// shapes.
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
