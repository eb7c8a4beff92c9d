// Compares kernels with values of other libraries: every case of expected.json
// (make_expected.py), one test per operator. Results must be equal to the bit unless the case
// gives a tolerance. All NaNs are equal.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "semantics/operators/half_types.h"
#include "tests/operators/apply.h"

namespace rml {

namespace {

using nlohmann::json;

// The same seeds and cycle as in make_expected.py.
constexpr EvaluationContext context{0x0123456789ABCDEFu, 0xFEDCBA9876543210u};
constexpr std::int64_t cycle = 41;

const json& expected_cases() {
  static const json cases = json::parse(std::ifstream(RML_EXPECTED));
  return cases;
}

double number_in(const json& x) {
  if (x.is_boolean()) return x.get<bool>() ? 1 : 0;
  if (!x.is_string()) return x.get<double>();
  if (x == "nan") return std::numeric_limits<double>::quiet_NaN();
  return x == "inf" ? HUGE_VAL : -HUGE_VAL;
}

// The JSON form is [dtype, shape, elements].
Tensor tensor_in(const json& x) {
  const DType dtype = dtype_named(x[0].get<std::string>()).value();
  std::vector<double> values;
  for (const json& element : x[2]) values.push_back(number_in(element));
  Tensor result = tensor(dtype == DType::i64 ? DType::f64 : dtype, x[1].get<Shape>(), values);
  if (dtype != DType::i64) return result;
  Tensor wide(dtype, x[1].get<Shape>());  // 64-bit integers are read without conversion to double
  for (std::size_t i = 0; i < x[2].size(); ++i) wide.as<std::int64_t>()[i] = x[2][i].get<std::int64_t>();
  return wide;
}

Attribute attribute_in(const OperatorInfo& info, const std::string& name, const json& x) {
  for (const OperatorParameter& parameter : info.parameters) {
    if (parameter.name != name) continue;
    if (parameter.kind == ParameterKind::dtype) return dtype_attribute(dtype_named(x.get<std::string>()).value());
    if (parameter.kind == ParameterKind::number) return number_attribute_value(number_in(x));
    if (parameter.kind == ParameterKind::text) return text_attribute_value(x.get<std::string>());
    if (x.is_array()) return vector_attribute(x.get<std::vector<std::int64_t>>());
    return scalar_attribute(x.get<std::int64_t>());
  }
  ADD_FAILURE() << info.name << " has no attribute " << name;
  return {};
}

template <class T>
bool near(T actual, T expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (tolerance == 0) return actual == expected && std::signbit(actual) == std::signbit(expected);
  if (actual == expected) return true;
  return std::fabs(double(actual) - double(expected)) <= tolerance * std::max(1e-3, std::fabs(double(expected)));
}

void expect_equal(const Tensor& actual, const Tensor& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(actual.dtype(), expected.dtype()) << what;
  ASSERT_EQ(actual.shape(), expected.shape()) << what;
  bool equal = is_float(expected.dtype()) || actual == expected;
  for (std::int64_t i = 0; equal && i < expected.elements(); ++i) {
    if (expected.dtype() == DType::f16) equal = near<float>(actual.as<F16>()[i], expected.as<F16>()[i], tolerance);
    if (expected.dtype() == DType::bf16) equal = near<float>(actual.as<BF16>()[i], expected.as<BF16>()[i], tolerance);
    if (expected.dtype() == DType::f32) equal = near(actual.as<float>()[i], expected.as<float>()[i], tolerance);
    if (expected.dtype() == DType::f64) equal = near(actual.as<double>()[i], expected.as<double>()[i], tolerance);
  }
  EXPECT_TRUE(equal) << what << "\nactual " << to_string(actual) << "\nexpected " << to_string(expected);
}

void run_case(const OperatorInfo& info, const json& entry) {
  const std::string what = entry.dump();
  std::vector<Tensor> operands;
  for (const json& operand : entry["in"]) operands.push_back(tensor_in(operand));
  AttributeArguments arguments;
  for (const auto& [name, value] : entry["attr"].items()) arguments[name] = attribute_in(info, name, value);
  if (entry.contains("fault")) {
    const Applied applied = apply_row(info, operands, arguments);
    ASSERT_TRUE(std::holds_alternative<Fault>(applied)) << what;
    EXPECT_EQ(std::get<Fault>(applied).kind, entry["fault"].get<int>()) << what;
    EXPECT_TRUE(info.can_fail) << what;
    return;
  }
  const Tensor expected = tensor_in(entry["out"]);
  const Applied applied = apply_row(info, operands, arguments, expected.dtype(), context, cycle);
  ASSERT_TRUE(std::holds_alternative<Tensor>(applied)) << what << " " << error_of(applied);
  expect_equal(std::get<Tensor>(applied), expected, entry["tol"].get<double>(), what);
}

class Values : public testing::TestWithParam<std::string> {};

TEST_P(Values, as_expected) {
  const OperatorInfo& info = operators()[operators().require(GetParam())];
  int count = 0;
  for (const json& entry : expected_cases()) {
    if (entry["op"] != GetParam()) continue;
    ++count;
    run_case(info, entry);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(count, 0) << "make_expected.py has no case for " << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Operators, Values, testing::ValuesIn(operators().names()),
                         [](const auto& test) { return test.param; });

}  // namespace

}  // namespace rml
