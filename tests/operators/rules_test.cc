// Shape and dtype rules as properties of the table, the table's own completeness, and the
// wording of errors.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/operators/apply.h"

namespace rml {

namespace {

std::size_t operand_count(const OperatorInfo& info) {
  std::size_t count = 0;
  for (const OperatorParameter& parameter : info.parameters) count += parameter.kind == ParameterKind::operand;
  return count;
}

TEST(Table, rows_are_complete) {
  std::set<std::string_view> names;
  for (std::size_t id = 0; id < operators().size(); ++id) {
    const OperatorInfo& info = operators()[static_cast<OperatorId>(id)];
    SCOPED_TRACE(info.name);
    EXPECT_TRUE(names.insert(info.name).second);
    for (const std::string_view alias : info.aliases) EXPECT_TRUE(names.insert(alias).second);
    EXPECT_EQ(info.vjp.size(), operand_count(info));
    for (const std::string_view rule : info.vjp) EXPECT_FALSE(rule.empty());
    EXPECT_FALSE(info.doc.empty());
    EXPECT_EQ(info.doc.find('\n'), std::string_view::npos);
    EXPECT_NE(info.example.find(" -- "), std::string_view::npos);
    EXPECT_NE(info.example.find(info.name), std::string_view::npos);
    ASSERT_NE(info.shape, nullptr);
    ASSERT_NE(info.evaluate, nullptr);
    EXPECT_EQ(info.lowering == Lowering::elementwise, info.scalar != ScalarOp::none);
    EXPECT_EQ(info.random, info.lowering == Lowering::random);
    EXPECT_EQ(info.random || info.lowering == Lowering::kernel, !info.kernel.empty());
    EXPECT_EQ(operators().find(info.name), id);
  }
}

TEST(Table, no_row_takes_half_floats_yet) {
  for (std::size_t id = 0; id < operators().size(); ++id) {
    const OperatorInfo& info = operators()[static_cast<OperatorId>(id)];
    EXPECT_EQ(info.result.allowed & dtypes::half, 0) << info.name;
    for (const OperatorParameter& parameter : info.parameters) {
      if (parameter.kind != ParameterKind::operand) continue;
      EXPECT_EQ(parameter.dtype.allowed & dtypes::half, 0) << info.name;
    }
  }
}

TEST(Table, variadic_operands_are_the_last_operands) {
  for (std::size_t id = 0; id < operators().size(); ++id) {
    const OperatorInfo& info = operators()[static_cast<OperatorId>(id)];
    bool seen = false;
    for (const OperatorParameter& parameter : info.parameters) {
      if (parameter.kind != ParameterKind::operand) continue;
      EXPECT_FALSE(seen) << info.name;
      seen = parameter.variadic;
    }
  }
}

TEST(Table, finds_aliases) {
  EXPECT_EQ(operators().find("where"), operators().find("select"));
  EXPECT_EQ(operators().find("concatenate"), operators().find("concat"));
  EXPECT_FALSE(operators().find("no_such_operator"));
}

TEST(Table, reference_page_names_every_row) {
  const std::string page = operator_reference();
  for (const std::string& name : operators().names()) EXPECT_NE(page.find("### " + name + "\n"), std::string::npos);
}

// Every elementwise row of two operands yields the broadcast shape, or an error exactly
// where there is none.
TEST(ShapeRules, elementwise_rows_broadcast) {
  std::mt19937 random(1);
  const auto shape = [&] {
    Shape s(random() % 5);
    for (auto& extent : s) extent = static_cast<std::int64_t>(random() % 4);
    return s;
  };
  for (int round = 0; round < 2000; ++round) {
    const Shape a = shape(), b = shape();
    for (const std::string_view name : {"add", "lt", "maximum"}) {
      const Applied applied = apply_row(name, {Tensor(DType::f32, a), Tensor(DType::f32, b)});
      const auto expected = broadcast(a, b);
      ASSERT_EQ(std::holds_alternative<Tensor>(applied), expected.has_value()) << to_string(a) << to_string(b);
      if (!expected) continue;
      ASSERT_EQ(std::get<Tensor>(applied).shape(), *expected);
    }
  }
}

// All dtypes a one-operand row allows, at ranks 0 to 4, are evaluated without complaint.
TEST(DTypeRules, every_allowed_dtype_has_a_kernel) {
  for (std::size_t id = 0; id < operators().size(); ++id) {
    const OperatorInfo& info = operators()[static_cast<OperatorId>(id)];
    if (info.parameters.size() != 1 || operand_count(info) != 1) continue;
    for (int d = 0; d < dtype_count; ++d) {
      const auto dtype = static_cast<DType>(d);
      if ((info.parameters[0].dtype.allowed & bit(dtype)) == 0) continue;
      for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 1}, Shape{2, 0, 2}, Shape{1, 2, 1, 2}}) {
        const Applied applied = apply_row(info, {Tensor(dtype, shape)}, {});
        ASSERT_TRUE(std::holds_alternative<Tensor>(applied)) << info.name << " " << type_string(dtype, shape);
      }
    }
  }
}

Tensor floats(Shape shape) { return Tensor(DType::f32, std::move(shape)); }

TEST(ShapeRules, errors_are_in_the_users_words) {
  const auto shape = [](std::vector<std::int64_t> extents) {
    return AttributeArguments{{"shape", vector_attribute(std::move(extents))}};
  };
  const auto axis = [](std::int64_t a) { return AttributeArguments{{"axis", scalar_attribute(a)}}; };
  EXPECT_EQ(error_of(apply_row("add", {floats({3}), floats({4})})), "shapes [3] and [4] do not broadcast");
  EXPECT_EQ(error_of(apply_row("zeros", {}, shape({-1}))), "shape [-1] has a negative extent");
  EXPECT_EQ(error_of(apply_row("zeros", {}, shape({1 << 20, 1 << 20}))),
            "shape [1048576, 1048576] has more than 4294967296 elements");
  EXPECT_EQ(error_of(apply_row("zeros", {}, shape({1, 1, 1, 1, 1, 1, 1, 1, 1}))),
            "shape [1, 1, 1, 1, 1, 1, 1, 1, 1] has more than 8 axes");
  EXPECT_EQ(error_of(apply_row("matmul", {floats({3, 4}), floats({5})})), "inner dimensions differ: [3, 4] and [5]");
  EXPECT_EQ(error_of(apply_row("matmul", {floats({}), floats({5})})),
            "matmul takes vectors or matrices, not a scalar: write a * b");
  EXPECT_EQ(error_of(apply_row("matmul", {floats({2, 1, 1}), floats({3, 1, 1})})),
            "batch dimensions do not broadcast: [2, 1, 1] and [3, 1, 1]");
  EXPECT_EQ(error_of(apply_row("reshape", {floats({6})}, shape({4}))), "cannot reshape [6] to [4]: 6 and 4 elements");
  EXPECT_EQ(error_of(apply_row("reshape", {floats({6})}, shape({4, -1}))), "cannot reshape [6] to [4, -1]");
  EXPECT_EQ(error_of(apply_row("reshape", {floats({6})}, shape({-1, -1}))),
            "shape [-1, -1] leaves more than one extent open");
  EXPECT_EQ(error_of(apply_row("reshape", {floats({0})}, shape({0, -1}))), "cannot reshape [0] to [0, -1]");
  EXPECT_EQ(error_of(apply_row("sum", {floats({6})}, axis(1))), "axis 1 is out of range for rank 1");
  EXPECT_EQ(error_of(apply_row("sum", {floats({6})}, {{"axis", vector_attribute({0, -1})}})),
            "an axis appears twice in [0, -1]");
  EXPECT_EQ(error_of(apply_row("max", {floats({0})})), "no extremum of no elements: the operand has shape [0]");
  EXPECT_EQ(error_of(apply_row("concat", {floats({2, 3}), floats({3, 2})})),
            "cannot concatenate [2, 3] and [3, 2] along axis 0");
  EXPECT_EQ(error_of(apply_row("concat", {floats({}), floats({})})),
            "concat takes vectors or tensors, not scalars: write [a, b]");
  EXPECT_EQ(error_of(apply_row("array", {floats({2}), floats({})})), "elements of an array have shapes [2] and []");
  EXPECT_EQ(error_of(apply_row("index", {floats({2}), Tensor(DType::i32, {}), Tensor(DType::i32, {})})),
            "2 indices for a tensor of rank 1");
  EXPECT_EQ(error_of(apply_row("index", {floats({2}), Tensor(DType::i32, {1})})),
            "an index must be a scalar, not of shape [1]");
  EXPECT_EQ(
      error_of(apply_row("slice", {floats({3})}, {{"starts", scalar_attribute(1)}, {"stops", scalar_attribute(5)}})),
      "slice 1:5 is out of range for extent 3 (axis 0)");
  EXPECT_EQ(
      error_of(apply_row("slice", {floats({3})}, {{"starts", scalar_attribute(2)}, {"stops", scalar_attribute(1)}})),
      "slice 2:1 ends before it begins");
  EXPECT_EQ(error_of(apply_row("slice", {floats({3})}, {{"steps", scalar_attribute(0)}})),
            "slice step 0 is not positive");
  EXPECT_EQ(error_of(apply_row("broadcast_to", {floats({3})}, shape({2}))), "cannot broadcast [3] to [2]");
  EXPECT_EQ(error_of(apply_row("broadcast_to", {floats({3})}, shape({1}))), "cannot broadcast [3] to [1]");
  EXPECT_EQ(error_of(apply_row("sum_to", {floats({3})}, shape({2}))), "cannot sum [3] to [2]");
  EXPECT_EQ(error_of(apply_row("squeeze", {floats({3})}, axis(0))), "axis 0 of [3] has extent 3, not 1");
  EXPECT_EQ(error_of(apply_row("transpose", {floats({3, 2})}, {{"axes", vector_attribute({0, 0})}})),
            "an axis appears twice in [0, 0]");
  EXPECT_EQ(error_of(apply_row("full", {floats({3})}, shape({2}))),
            "full takes a scalar, not [3]: write broadcast_to(x, shape)");
  EXPECT_EQ(error_of(apply_row("iota", {}, {{"n", scalar_attribute(-2)}})), "length -2 is negative");
  EXPECT_EQ(error_of(apply_row("place", {floats({3}), Tensor(DType::i32, {})}, shape({2, 2}))),
            "cannot place [3] where there is [2]");
}

}  // namespace

}  // namespace rml
