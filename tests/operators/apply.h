// Applies rows of the operator table without a program: dtypes, shape rule, kernel.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "semantics/operators/operator.h"

namespace rml {

// Attribute arguments by parameter name. Omitted ones take the default of the row.
using AttributeArguments = std::map<std::string, Attribute, std::less<>>;

Attribute scalar_attribute(std::int64_t value);
Attribute vector_attribute(std::vector<std::int64_t> values);
Attribute number_attribute_value(double value);
Attribute text_attribute_value(std::string text);
Attribute dtype_attribute(DType dtype);

using Applied = std::variant<Tensor, Fault, std::string>;  // the value, a fault, or an error of the shape rule

// `wanted` is the dtype that the context requires of a free result; without it, the fallback
// applies.
Applied apply_row(const OperatorInfo& info, const std::vector<Tensor>& operands, const AttributeArguments& arguments,
                  std::optional<DType> wanted = {}, EvaluationContext context = {}, std::int64_t cycle = 0);
Applied apply_row(std::string_view name, const std::vector<Tensor>& operands, const AttributeArguments& arguments = {});

// A tensor of zeros in f32.
Tensor floats(Shape shape);

// A tensor from the values of a test, which are rounded to a float dtype.
Tensor tensor(DType dtype, Shape shape, const std::vector<double>& values);

// Returns the value; otherwise fails the test and returns an empty tensor.
Tensor value_of(const Applied& applied);
std::string error_of(const Applied& applied);

}  // namespace rml
