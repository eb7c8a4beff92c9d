// Draws applications of any operator of the table, from its row alone.
//
// The dtypes of the operands are drawn from those that the row allows, shapes and attributes at
// random until the row's shape rule accepts them. A new operator is therefore drawn without
// further work. The words that a text attribute may be are the quoted words in the row's
// documentation.
#pragma once

#include <functional>
#include <optional>
#include <random>
#include <string>

#include "semantics/operators/operator.h"

namespace rml::fuzz {

struct DrawnOperation {
  std::string text;  // the application as text: `name(operands, attributes)`
  OperatorId op = 0;
  DType dtype{};
  Shape shape;
};

struct DrawnOperand {
  const OperatorInfo& row;
  std::string_view parameter, rule;  // name of the parameter, and its derivative rule
  DType dtype;
  const Shape& shape;
  bool place;  // true for indices of a tensor, which should mostly be valid
};
// Returns an expression of the operand's type.
using OperandText = std::function<std::string(const DrawnOperand&)>;

// `differentiable` draws only rows that have a derivative, with f64 for floats.
enum class Drawing : std::uint8_t { any, differentiable };

// Returns nothing if no shapes were found that fit the drawn row.
std::optional<DrawnOperation> draw_operation(std::mt19937_64&, const OperandText&, Drawing = Drawing::any);

// True if the row is drawn. Rows that draw random numbers or need an identity are not.
bool is_drawn(const OperatorInfo&, Drawing = Drawing::any);

}  // namespace rml::fuzz
