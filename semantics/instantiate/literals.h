// Literals and defaults as values with their dtype in an instance.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/diagnostic.h"
#include "semantics/core/core.h"

namespace rml::draft {

// A literal as a value of a dtype. E0307 if it does not fit, E0902 if the dtype has no such
// values.
struct Literal {
  std::shared_ptr<const Tensor> value;  // the value of the literal; null: it has none
  Code code = Code::E0307;
  std::string problem, label;  // message of an error and the label of its place; empty: no error
};
Literal boolean_literal(DType, bool);
Literal integer_literal(DType, std::uint64_t magnitude, bool negative);
Literal float_literal(DType, double);

// For zeros or ones with so many elements that the program should compute them: one element.
std::optional<Tensor> uniform_element(const OperatorInfo& row, DType dtype, const Shape& shape);

// The attribute for the text of a row's default: "0", "[1, 1]", "all", "f32", "0.5".
Attribute default_attribute(std::string_view text, ParameterKind kind);

}  // namespace rml::draft
