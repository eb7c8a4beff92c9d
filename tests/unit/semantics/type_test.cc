// Dtypes, shapes, broadcasting, and the text of tensors.
#include "semantics/values/type.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "semantics/values/read_element.h"

namespace rml {

namespace {

TEST(DType, names_round_trip) {
  for (int d = 0; d < dtype_count; ++d) {
    const auto dtype = static_cast<DType>(d);
    EXPECT_EQ(dtype_named(name(dtype)), dtype);
  }
  EXPECT_EQ(dtype_named("int"), DType::i32);
  EXPECT_EQ(dtype_named("float"), DType::f32);
  EXPECT_FALSE(dtype_named("f8"));
}

TEST(DType, sizes_and_kinds) {
  EXPECT_EQ(byte_size(DType::boolean), 1u);
  EXPECT_EQ(byte_size(DType::bf16), 2u);
  EXPECT_EQ(byte_size(DType::f64), 8u);
  EXPECT_TRUE(is_float(DType::f16));
  EXPECT_FALSE(is_float(DType::i64));
  EXPECT_TRUE(is_integer(DType::u8));
  EXPECT_FALSE(is_integer(DType::boolean));
}

TEST(Shape, element_count_is_bounded) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3}), 6);
  EXPECT_EQ(element_count({2, 0, 3}), 0);
  EXPECT_EQ(element_count({std::int64_t{1} << 32}), std::int64_t{1} << 32);
  EXPECT_FALSE(element_count({(std::int64_t{1} << 32) + 1}));
  EXPECT_FALSE(element_count({std::int64_t{1} << 62, std::int64_t{1} << 62}));
  EXPECT_FALSE(element_count({0, std::int64_t{1} << 62}));  // there is no count, because strides would overflow
  EXPECT_FALSE(element_count({-1}));
}

TEST(Shape, broadcasts_as_numpy) {
  EXPECT_EQ(broadcast({}, {2, 3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast({2, 1}, {1, 3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast({3}, {2, 1}), (Shape{2, 3}));
  EXPECT_EQ(broadcast({0}, {1}), (Shape{0}));
  EXPECT_FALSE(broadcast({0}, {2}));
  EXPECT_FALSE(broadcast({2, 3}, {2}));
}

TEST(Shape, text) {
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(to_string(Shape{4, 3}), "[4, 3]");
  EXPECT_EQ(type_string(DType::f32, {4, 3}), "f32[4, 3]");
  EXPECT_EQ(type_string(DType::boolean, {}), "bool");
}

TEST(Tensor, begins_as_zeros) {
  const Tensor t(DType::i16, {2, 2});
  EXPECT_EQ(t.elements(), 4);
  EXPECT_EQ(t.bytes(), 8u);
  EXPECT_EQ(t.integers(), (std::vector<std::int64_t>{0, 0, 0, 0}));
  EXPECT_THROW(Tensor(DType::i16, {-1}), std::length_error);
}

TEST(Tensor, equality_is_of_bits) {
  const auto f64 = [](double v) { return Tensor::scalar(DType::f64, v); };
  EXPECT_EQ(f64(std::nan("")), f64(std::nan("")));
  EXPECT_NE(f64(0.0), f64(-0.0));
  EXPECT_NE(Tensor(DType::f32, {}), Tensor(DType::i32, {}));
  EXPECT_NE(Tensor(DType::f32, {}), Tensor(DType::f32, {1}));
}

TEST(Tensor, integers_of_every_integer_dtype) {
  EXPECT_EQ(Tensor::boolean(true).integers()[0], 1);
  EXPECT_EQ(Tensor::scalar<std::int8_t>(DType::i8, -128).integers()[0], -128);
  EXPECT_EQ(Tensor::scalar<std::uint8_t>(DType::u8, 255).integers()[0], 255);
  EXPECT_EQ(Tensor::scalar<std::int64_t>(DType::i64, INT64_MIN).integers()[0], INT64_MIN);
}

std::string text(double v) { return to_string(Tensor::scalar(DType::f64, v)); }
std::string text(float v) { return to_string(Tensor::scalar(DType::f32, v)); }

TEST(Tensor, floats_print_shortest) {
  EXPECT_EQ(text(3.0), "3");
  EXPECT_EQ(text(5.1), "5.1");
  EXPECT_EQ(text(5.1f), "5.1");
  EXPECT_EQ(text(-0.0), "-0");
  EXPECT_EQ(text(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(text(10000.0), "10000");
  EXPECT_EQ(text(100000.0), "1e+05");
  EXPECT_EQ(text(123456.0), "123456");
  EXPECT_EQ(text(16777216.0f), "16777216");
  EXPECT_EQ(text(1e-5), "1e-05");
  EXPECT_EQ(text(1e-6), "1e-06");
  EXPECT_EQ(text(std::nan("")), "nan");
  EXPECT_EQ(text(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(text(std::numeric_limits<float>::infinity()), "inf");
}

TEST(Tensor, half_floats_print) {
  EXPECT_EQ(to_string(Tensor::scalar<std::uint16_t>(DType::f16, 0x3E00)), "1.5");
  EXPECT_EQ(to_string(Tensor::scalar<std::uint16_t>(DType::f16, 0xFC00)), "-inf");
  EXPECT_EQ(to_string(Tensor::scalar<std::uint16_t>(DType::bf16, 0xBFC0)), "-1.5");
}

Tensor counting(Shape shape) {
  Tensor t(DType::i32, std::move(shape));
  for (std::int64_t i = 0; i < t.elements(); ++i) t.as<std::int32_t>()[i] = static_cast<std::int32_t>(i + 1);
  return t;
}

TEST(Tensor, axes_print_as_separators_and_brackets) {
  EXPECT_EQ(to_string(counting({})), "1");
  EXPECT_EQ(to_string(counting({1})), "[1]");
  EXPECT_EQ(to_string(counting({3})), "[1,2,3]");
  EXPECT_EQ(to_string(counting({2, 2})), "[1,2;3,4]");
  EXPECT_EQ(to_string(counting({3, 1})), "[1;2;3]");
  EXPECT_EQ(to_string(counting({2, 2, 2})), "[[1,2;3,4],[5,6;7,8]]");
  EXPECT_EQ(to_string(counting({1, 2, 2, 1})), "[[[1;2],[3;4]]]");
  EXPECT_EQ(to_string(counting({2, 1, 1, 2, 1})), "[[[[1;2]]],[[[3;4]]]]");
  for (const Shape& shape : {Shape{0, 3}, Shape{2, 0}, Shape{2, 0, 2}}) EXPECT_EQ(to_string(counting(shape)), "[]");
  EXPECT_EQ(to_string(Tensor(DType::boolean, {2})), "[F,F]");
}

TEST(Tensor, text_of_every_rank_reads_back) {
  const Shape shapes[] = {
      {},        {3},       {1},          {0},          {2, 3},          {3, 1},          {2, 0},         {2, 3, 2},
      {1, 1, 2}, {2, 0, 3}, {2, 2, 1, 3}, {1, 2, 2, 1}, {2, 3, 1, 2, 2}, {1, 1, 1, 1, 1}, {2, 2, 0, 1, 2}};
  for (const Shape& shape : shapes) {
    const Tensor tensor = counting(shape);
    EXPECT_EQ(read_tensor(DType::i32, shape, to_string(tensor)), tensor) << to_string(tensor);
  }
}

TEST(Tensor, text_of_another_shape_is_refused) {
  const auto reads = [](Shape shape, std::string_view text) {
    return read_tensor(DType::i32, shape, text).has_value();
  };
  EXPECT_TRUE(reads({2, 2, 1}, "[[1;2],[3;4]]"));
  for (const char* text :
       {"[1;2;;3;4]", "[[1,2],[3,4]]", "[[1;2];[3;4]]", "[[1;2],[3;4]", "[1;2],[3;4]]", "[[1;2,3;4]]", "[[1;2],[3;4],]",
        "[[1;2],[3;]]", "[[1;2],[3;4]]]", "[[1;2]]", "[[]]", "[]", "[", ""}) {
    EXPECT_FALSE(reads({2, 2, 1}, text)) << text;
  }
  EXPECT_FALSE(reads({2, 0}, "[;]"));
  EXPECT_FALSE(reads({2, 0, 2}, "[[],[]]"));
  EXPECT_FALSE(reads({0}, "[1]"));
  EXPECT_FALSE(reads({0}, "]["));
}

}  // namespace

}  // namespace rml
