// The expressions of an imported program, and the arguments of operators that are no expressions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "onnx/model.h"
#include "semantics/values/type.h"

namespace rml::onnx {

// An expression of the program. If its value is known, `value` is set and the text is made at
// each use.
struct Term {
  static constexpr int atom = 100;  // precedence of an expression that never needs parentheses

  std::string text;
  int precedence = 0;  // precedence of its outermost operator
  DType dtype = DType::f32;
  Shape shape;
  std::shared_ptr<const Tensor> value;
  std::string hint;  // preferred name of the constant, if the value is known

  bool known() const { return value != nullptr; }
  std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
  std::int64_t elements() const { return element_count(shape).value_or(max_elements); }
};

using Argument = std::variant<std::int64_t, std::vector<std::int64_t>, double, DType, std::string>;
using Arguments = std::vector<std::pair<std::string_view, Argument>>;

}  // namespace rml::onnx
