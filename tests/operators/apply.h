// Applies rows of the operator table outside of any program: dtypes, shape rule, kernel.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "semantics/operators/operator.h"

namespace rml {

// Attribute arguments by parameter name; those left out take the row's default.
using AttributeArguments = std::map<std::string, Attribute, std::less<>>;

Attribute scalar_attribute(std::int64_t value);
Attribute vector_attribute(std::vector<std::int64_t> values);
Attribute number_attribute_value(double value);
Attribute text_attribute_value(std::string text);
Attribute dtype_attribute(DType dtype);

using Applied = std::variant<Tensor, Fault, std::string>;  // value, fault, error of shape

// `wanted` is what the context asks of a free result dtype; without it, the fallback.
Applied apply_row(const OperatorInfo& info, const std::vector<Tensor>& operands, const AttributeArguments& arguments,
                  std::optional<DType> wanted = {}, EvaluationContext context = {}, std::int64_t cycle = 0);
Applied apply_row(std::string_view name, const std::vector<Tensor>& operands, const AttributeArguments& arguments = {});

// Zeros in f32.
Tensor floats(Shape shape);

// As a test writes values; values of a float tensor are rounded to its dtype.
Tensor tensor(DType dtype, Shape shape, const std::vector<double>& values);

// The value, or a test failure and an empty tensor.
Tensor value_of(const Applied& applied);
std::string error_of(const Applied& applied);

}  // namespace rml
