// Applications of any operator of the table, drawn from its row alone.
//
// Operands' dtypes are drawn from what the row allows, shapes and attributes at random until the
// row's shape rule takes them; so an operator that is added is drawn without further ado. What
// text an attribute may be is read from the quoted words of the row's documentation.
#pragma once

#include <functional>
#include <optional>
#include <random>
#include <string>

#include "semantics/operators/operator.h"

namespace rml::fuzz {

struct DrawnOperation {
  std::string text;  // `name(operands, attributes)`
  OperatorId op = 0;
  DType dtype{};
  Shape shape;
};

struct DrawnOperand {
  const OperatorInfo& row;
  std::string_view parameter, rule;  // its name and derivative
  DType dtype;
  const Shape& shape;
  bool place;  // an index of a tensor, which should mostly be one that exists
};
// An expression of the operand's type.
using OperandText = std::function<std::string(const DrawnOperand&)>;

// With `differentiable`, of rows that have a derivative, floats being f64.
enum class Drawing : std::uint8_t { any, differentiable };

// Nothing: no shapes were found that suit the row that was drawn.
std::optional<DrawnOperation> draw_operation(std::mt19937_64&, const OperandText&, Drawing = Drawing::any);

// Whether rows like this one are drawn: not those that draw numbers, or are known by their place.
bool is_drawn(const OperatorInfo&, Drawing = Drawing::any);

}  // namespace rml::fuzz
