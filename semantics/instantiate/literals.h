// Literals and defaults as values of the dtypes that they have in an instance.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/diagnostic.h"
#include "semantics/core/core.h"

namespace rml::draft {

// The value that a literal has as a dtype; E0307 where it does not fit, E0902 where a dtype has no such value.
struct Literal {
  std::shared_ptr<const Tensor> value;  // null: there is none
  Code code = Code::E0307;
  std::string problem, label;  // empty: none
};
Literal boolean_literal(DType, bool);
Literal integer_literal(DType, std::uint64_t magnitude, bool negative);
Literal float_literal(DType, double);

// Of zeros or ones of so many elements that they are better made while running than kept in the program: one of them.
std::optional<Tensor> uniform_element(const OperatorInfo& row, DType dtype, const Shape& shape);

// The attribute that a row's default stands for: "0", "[1, 1]", "all", "f32", "0.5".
Attribute default_attribute(std::string_view text, ParameterKind kind);

}  // namespace rml::draft
