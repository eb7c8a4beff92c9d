// Literals at the limits of their dtypes.
#include <gtest/gtest.h>

#include "semantics/instantiate/literals.h"

namespace rml::draft {
namespace {

std::string said(const Literal& l) {
  return l.problem.empty() ? "" : l.problem + (l.label.empty() ? "" : ": " + l.label);
}

TEST(Literals, IntegersThatFit) {
  EXPECT_EQ(said(integer_literal(DType::i8, 127, false)), "");
  EXPECT_EQ(integer_literal(DType::i8, 128, true).value->integers()[0], -128);
  EXPECT_EQ(said(integer_literal(DType::i8, 128, true)), "");
  EXPECT_EQ(said(integer_literal(DType::u8, 255, false)), "");
  EXPECT_EQ(said(integer_literal(DType::u8, 0, true)), "");
  EXPECT_EQ(said(integer_literal(DType::i64, std::uint64_t{1} << 63, true)), "");
  EXPECT_EQ(integer_literal(DType::i64, std::uint64_t{1} << 63, true).value->integers()[0], INT64_MIN);
}

TEST(Literals, IntegersThatDoNot) {
  EXPECT_EQ(said(integer_literal(DType::i8, 128, false)), "`128` does not fit i8: i8 holds -128 to 127");
  EXPECT_EQ(said(integer_literal(DType::i8, 129, true)), "`-129` does not fit i8: i8 holds -128 to 127");
  EXPECT_EQ(said(integer_literal(DType::u8, 1, true)), "`-1` does not fit u8: u8 holds 0 to 255");
  EXPECT_EQ(integer_literal(DType::u8, 256, false).code, Code::E0307);
  EXPECT_EQ(integer_literal(DType::boolean, 1, false).code, Code::E0902);
  EXPECT_EQ(integer_literal(DType::boolean, 1, false).value, nullptr);
}

TEST(Literals, Floats) {
  EXPECT_EQ(said(float_literal(DType::f32, 3.4028234e38)), "");
  EXPECT_EQ(said(float_literal(DType::f32, 3.5e38)), "this number does not fit f32: it would be infinite");
  EXPECT_EQ(said(float_literal(DType::f64, 3.5e38)), "");
  EXPECT_EQ(integer_literal(DType::f64, 3, true).value->as<double>()[0], -3.0);
  EXPECT_EQ(float_literal(DType::i32, 1.5).value, nullptr);
  EXPECT_EQ(float_literal(DType::i32, 1.5).code, Code::E0902);
}

TEST(Literals, Defaults) {
  EXPECT_FALSE(default_attribute("all", ParameterKind::integers).given);
  EXPECT_EQ(default_attribute("[1, -2]", ParameterKind::integers).integers, (std::vector<std::int64_t>{1, -2}));
  EXPECT_FALSE(default_attribute("[1, -2]", ParameterKind::integers).scalar);
  EXPECT_EQ(default_attribute("-1", ParameterKind::integers).integers, std::vector<std::int64_t>{-1});
  EXPECT_TRUE(default_attribute("-1", ParameterKind::integers).scalar);
  EXPECT_EQ(default_attribute("0.5", ParameterKind::number).number, 0.5);
  EXPECT_EQ(default_attribute("f64", ParameterKind::dtype).dtype, DType::f64);
}

}  // namespace
}  // namespace rml::draft
