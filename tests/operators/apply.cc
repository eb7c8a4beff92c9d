// Finds dtypes and the result shape as the compiler does, and then calls the kernel of the row.
#include "tests/operators/apply.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>

#include "runtime/kernels/half_float.h"

namespace rml {

namespace {

Attribute default_attribute(const OperatorParameter& parameter) {
  const std::string text(parameter.default_value);
  Attribute attribute;
  if (text == "all") return attribute;
  attribute.given = true;
  if (text == "[]") return attribute;
  if (parameter.kind == ParameterKind::text) {
    attribute.text = text;
  } else if (parameter.kind == ParameterKind::dtype) {
    attribute.dtype = dtype_named(text).value();
  } else {
    attribute.scalar = true;
    attribute.number = std::strtod(text.c_str(), nullptr);
    attribute.integers = {static_cast<std::int64_t>(attribute.number)};
  }
  return attribute;
}

DType result_dtype(const OperatorInfo& info, const std::vector<Tensor>& operands,
                   const std::vector<Attribute>& attributes, std::optional<DType> wanted) {
  if (info.result.variable < 0) return static_cast<DType>(std::countr_zero(info.result.allowed));
  std::size_t operand = 0, attribute = 0;
  for (const OperatorParameter& parameter : info.parameters) {
    if (parameter.kind == ParameterKind::dtype) return attributes[attribute].dtype;
    if (parameter.kind != ParameterKind::operand) {
      ++attribute;
    } else if (parameter.dtype.variable == info.result.variable) {
      return operands[operand].dtype();
    } else {
      ++operand;
    }
  }
  return wanted.value_or(info.result.fallback);
}

}  // namespace

Attribute scalar_attribute(std::int64_t value) {
  return {
      .given = true, .scalar = true, .integers = {value}, .number = static_cast<double>(value), .dtype = DType::f32};
}

Attribute vector_attribute(std::vector<std::int64_t> values) {
  return {.given = true, .scalar = false, .integers = std::move(values), .number = 0, .dtype = DType::f32};
}

Attribute number_attribute_value(double value) {
  return {.given = true, .scalar = true, .integers = {}, .number = value, .dtype = DType::f32};
}

Attribute text_attribute_value(std::string text) {
  Attribute attribute;
  attribute.given = true;
  attribute.text = std::move(text);
  return attribute;
}

Attribute dtype_attribute(DType dtype) {
  return {.given = true, .scalar = false, .integers = {}, .number = 0, .dtype = dtype};
}

Applied apply_row(const OperatorInfo& info, const std::vector<Tensor>& operands, const AttributeArguments& arguments,
                  std::optional<DType> wanted, EvaluationContext context, std::int64_t cycle) {
  std::vector<Attribute> attributes;
  for (const OperatorParameter& parameter : info.parameters) {
    if (parameter.kind == ParameterKind::operand) continue;
    const auto given = arguments.find(parameter.name);
    if (given == arguments.end()) {
      EXPECT_NE(parameter.default_value, "") << info.name << " needs " << parameter.name;
    }
    attributes.push_back(given != arguments.end() ? given->second : default_attribute(parameter));
  }
  std::vector<DType> dtypes;
  std::vector<Shape> shapes;
  std::vector<const Tensor*> pointers;
  for (const Tensor& operand : operands) {
    dtypes.push_back(operand.dtype());
    shapes.push_back(operand.shape());
    pointers.push_back(&operand);
  }
  const Tensor cycle_operand = Tensor::scalar<std::int64_t>(DType::i64, cycle);
  if (info.random) {
    dtypes.push_back(DType::i64);
    shapes.emplace_back();
    pointers.push_back(&cycle_operand);
  }
  const Application app{dtypes, shapes, attributes, result_dtype(info, operands, attributes, wanted)};
  ShapeResult shape = info.shape(app);
  if (auto* error = std::get_if<std::string>(&shape)) return std::move(*error);
  Tensor result(app.result_dtype, std::get<Shape>(shape));
  // The result is filled with a pattern, since kernels must not rely on zeros.
  if (result.bytes() > 0) std::memset(result.data(), 0x55, result.bytes());
  const Fault fault = info.evaluate(app, context, pointers, result);
  if (fault.kind != 0) return fault;
  return result;
}

Applied apply_row(std::string_view name, const std::vector<Tensor>& operands, const AttributeArguments& arguments) {
  return apply_row(operators()[operators().require(name)], operands, arguments);
}

Tensor floats(Shape shape) { return Tensor(DType::f32, std::move(shape)); }

Tensor tensor(DType dtype, Shape shape, const std::vector<double>& values) {
  Tensor result(dtype, std::move(shape));
  EXPECT_EQ(result.elements(), static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    switch (dtype) {
      case DType::boolean:
      case DType::u8:
        result.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(values[i]);
        break;
      case DType::i8:
        result.as<std::int8_t>()[i] = static_cast<std::int8_t>(values[i]);
        break;
      case DType::i16:
        result.as<std::int16_t>()[i] = static_cast<std::int16_t>(values[i]);
        break;
      case DType::i32:
        result.as<std::int32_t>()[i] = static_cast<std::int32_t>(values[i]);
        break;
      case DType::i64:
        result.as<std::int64_t>()[i] = static_cast<std::int64_t>(values[i]);
        break;
      case DType::u16:
        result.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(values[i]);
        break;
      case DType::u32:
        result.as<std::uint32_t>()[i] = static_cast<std::uint32_t>(values[i]);
        break;
      case DType::u64:
        result.as<std::uint64_t>()[i] = static_cast<std::uint64_t>(values[i]);
        break;
      case DType::f32:
        result.as<float>()[i] = static_cast<float>(values[i]);
        break;
      case DType::f64:
        result.as<double>()[i] = values[i];
        break;
      case DType::f16:
        result.as<std::uint16_t>()[i] = rt::f16_from_double(values[i]);
        break;
      case DType::bf16:
        result.as<std::uint16_t>()[i] = rt::bf16_from_double(values[i]);
        break;
    }
  }
  return result;
}

Tensor value_of(const Applied& applied) {
  if (const auto* value = std::get_if<Tensor>(&applied)) return *value;
  if (const auto* error = std::get_if<std::string>(&applied))
    ADD_FAILURE() << *error;
  else
    ADD_FAILURE() << "fault " << std::get<Fault>(applied).kind;
  return {};
}

std::string error_of(const Applied& applied) {
  const auto* error = std::get_if<std::string>(&applied);
  return error != nullptr ? *error : "(no error)";
}

}  // namespace rml
