// A row of the operator table applied to terms.
//
// The rules of the row compute the dtype and the shape of the result. If all operands are known, its
// reference kernel computes the value.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/term.h"
#include "semantics/operators/operator.h"

namespace rml::onnx {

class AppliedOperator {
 public:
  // Throws ModelError if the operator's row does not accept these operands. `result` is needed if
  // no operand determines the dtype of the result. The arguments must outlive this object.
  AppliedOperator(std::string_view op, std::vector<Term> operands, const Arguments& arguments,
                  std::optional<DType> result);

  // The result with its value, if all operands are known and the value is worth its memory. Calls
  // `spend` with the number of steps before it computes.
  std::optional<Term> known(const std::function<void(std::int64_t)>& spend) const;

  // The text of an operand. The second argument is true if the context determines the type of a literal.
  using TextOf = std::function<std::string(const Term&, bool)>;
  // The result with its text.
  Term written(const TextOf& text_of) const;

 private:
  std::string text(const TextOf& text_of, std::size_t operand) const;
  // The text of an operand, in parentheses if its outermost operator binds less than `level`.
  std::string grouped(const TextOf& text_of, std::size_t operand, int level) const;
  // The form OP(OPERAND, …, NAME=ARGUMENT).
  std::string call(const TextOf& text_of) const;
  std::size_t count(const OperatorParameter& operand) const { return operand.variadic ? operands_.size() - fixed_ : 1; }

  const OperatorInfo& info_;
  const std::vector<Term> operands_;
  const Arguments& arguments_;
  std::vector<const OperatorParameter*> slots_;  // of the operands, in their order
  std::size_t fixed_ = 0;                        // number of operands that are not variadic
  std::vector<Attribute> attributes_;
  std::vector<DType> dtypes_;  // of the operands
  std::vector<Shape> shapes_;
  DType dtype_ = DType::f32;  // of the result
  Shape shape_;
};

}  // namespace rml::onnx
