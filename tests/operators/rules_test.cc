// Checks shape and dtype rules as properties of the table, the completeness of the table, and the
// texts of errors.
#include <gtest/gtest.h>

#include <cmath>
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
    // Code generation uses a body or calls the C library. Conversions, which have two types, need
    // neither.
    const bool spelled = info.body != nullptr || !info.function.empty() || info.scalar == ScalarOp::cast;
    EXPECT_EQ(spelled, info.lowering == Lowering::elementwise);
    EXPECT_TRUE(info.body == nullptr || info.function.empty());
    EXPECT_EQ(info.effort == Effort::call, !info.function.empty());
    EXPECT_EQ(info.random, info.lowering == Lowering::random);
    EXPECT_TRUE(!info.kernel.empty() || (!info.random && info.lowering != Lowering::kernel));
    EXPECT_EQ(operators().find(info.name), id);
  }
}

TEST(Table, half_floats_are_stored_but_not_computed_with) {
  for (std::size_t id = 0; id < operators().size(); ++id) {
    const OperatorInfo& info = operators()[static_cast<OperatorId>(id)];
    for (const OperatorParameter& parameter : info.parameters) {
      if (parameter.kind != ParameterKind::operand) continue;
      const DTypeSet half = parameter.dtype.allowed & dtypes::half;
      EXPECT_TRUE(half == 0 || half == dtypes::half) << info.name;
    }
  }
  for (const std::string_view name : {"add", "negate", "exp", "maximum", "matmul", "sum", "argmax", "solve"}) {
    EXPECT_EQ(operators()[operators().require(name)].parameters[0].dtype.allowed & dtypes::half, 0) << name;
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

// Every elementwise row with two operands returns the broadcast shape, or an error if the shapes
// do not broadcast.
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

// All dtypes that a row with one operand allows are evaluated without error, at ranks 0 to 4.
TEST(DTypeRules, every_allowed_dtype_has_a_kernel) {
  for (std::size_t id = 0; id < operators().size(); ++id) {
    const OperatorInfo& info = operators()[static_cast<OperatorId>(id)];
    if (info.parameters.size() != 1 || operand_count(info) != 1) continue;
    if (info.kernel.starts_with("rml_lapack_")) continue;  // skips operators of linear algebra, which take matrices
    if (info.name == "tree_sum") continue;                 // skips tree_sum, which needs an axis
    if (info.name.ends_with("_pivot")) continue;           // refuse zeros
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
  EXPECT_EQ(error_of(apply_row("argmax", {floats({0})})), "no extremum of no elements: the operand has shape [0]");
  EXPECT_EQ(error_of(apply_row("prod", {floats({6, 2})}, axis(2))), "axis 2 is out of range for rank 2");
  EXPECT_EQ(error_of(apply_row("softmax", {floats({})})), "axis -1 is out of range for rank 0");
  EXPECT_EQ(error_of(apply_row("var", {floats({6, 2})}, {{"axis", vector_attribute({1, -1})}})),
            "an axis appears twice in [1, -1]");
  EXPECT_EQ(error_of(apply_row("tree_sum", {floats({})})), "a scalar has no axis to sum along");
  EXPECT_EQ(error_of(apply_row("tree_sum", {floats({4097})})), "a tree of sums has at most 4096 elements, not 4097");
  EXPECT_EQ(error_of(apply_row("tree_sum", {floats({0, 2})})),
            "the first axis of [0, 2] is empty, so no elements can be summed");
  EXPECT_EQ(error_of(apply_row("norm", {floats({6})}, {{"ord", number_attribute_value(0.5)}})),
            "the order of a norm is at least 1, or infinite");
  EXPECT_EQ(error_of(apply_row("norm_slope", {floats({6}), floats({2})})),
            "a norm of shape [2] does not broadcast to [6]");
  EXPECT_EQ(error_of(apply_row("clip", {floats({6}), floats({}), floats({5})})), "shapes [6] and [5] do not broadcast");
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
      "slice 1:5 is out of range for axis 0 of [3]");
  EXPECT_EQ(
      error_of(apply_row("slice", {floats({3})}, {{"starts", scalar_attribute(2)}, {"stops", scalar_attribute(1)}})),
      "slice 2:1 ends before it begins");
  EXPECT_EQ(error_of(apply_row("slice", {floats({3})}, {{"steps", scalar_attribute(0)}})),
            "slice ::0 never moves: a step of 1 takes every element, one of -1 every element backward");
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

TEST(ShapeRules, errors_of_linear_algebra) {
  EXPECT_EQ(error_of(apply_row("inverse", {floats({3})})), "a matrix has at least two axes, not the shape [3]");
  EXPECT_EQ(error_of(apply_row("det", {floats({2, 3})})),
            "the matrix is not square: its last two axes, of [2, 3], differ");
  EXPECT_EQ(error_of(apply_row("eigh_parts", {floats({4, 2, 1})})),
            "the matrix is not square: its last two axes, of [4, 2, 1], differ");
  EXPECT_EQ(error_of(apply_row("svd_parts", {floats({(1 << 23) + 1, 0})})),
            "a matrix has at most 8388608 rows and columns here, not [8388609, 0]");
  EXPECT_EQ(error_of(apply_row("solve", {floats({2, 2}), floats({3})})),
            "the right-hand side has 3 rows where the matrix has 2: [2, 2] and [3]");
  EXPECT_EQ(error_of(apply_row("solve", {floats({2, 2}), floats({})})),
            "the right-hand side is a vector or a matrix, not a scalar");
  EXPECT_EQ(error_of(apply_row("solve", {floats({2, 1, 1}), floats({3, 1, 1})})),
            "batch dimensions do not broadcast: [2, 1, 1] and [3, 1, 1]");
  EXPECT_EQ(error_of(apply_row("triangular_solve", {floats({1, 1}), floats({1})}, {{"lower", scalar_attribute(2)}})),
            "lower is 0 or 1, not 2");
  EXPECT_EQ(error_of(apply_row("matrix_power", {floats({1, 1})}, {{"n", vector_attribute({1, 2})}})),
            "the exponent must be one integer, not [1, 2]");
}

TEST(ShapeRules, errors_of_draws) {
  const auto draw = [](const char* op, const char* name, double value) {
    return error_of(apply_row(op, {}, {{"shape", vector_attribute({2})}, {name, number_attribute_value(value)}}));
  };
  EXPECT_EQ(draw("uniform", "high", -1), "no numbers are drawn between 0 and -1");
  EXPECT_EQ(draw("uniform", "low", -HUGE_VAL), "no numbers are drawn between -inf and 1");
  EXPECT_EQ(draw("normal", "std", -0.5), "a standard deviation is not negative: -0.5");
  EXPECT_EQ(draw("truncated_normal", "std", NAN), "a standard deviation is not negative: nan");
  EXPECT_EQ(draw("bernoulli", "p", 1.5), "a probability is within 0 and 1, not 1.5");
}

TEST(ShapeRules, errors_of_transforms) {
  const auto n = [](std::int64_t value) { return AttributeArguments{{"n", scalar_attribute(value)}}; };
  const auto cut = [](std::int64_t length, std::int64_t hop) {
    return AttributeArguments{{"length", scalar_attribute(length)}, {"hop", scalar_attribute(hop)}};
  };
  EXPECT_EQ(error_of(apply_row("fourier_plan", {}, n(0))), "a transform has 1 to 268435456 points, not 0");
  EXPECT_EQ(error_of(apply_row("fourier", {floats({4}), floats({8})})),
            "complex numbers are pairs on the last axis, [..., n, 2], not the shape [4]");
  EXPECT_EQ(error_of(apply_row("fourier", {floats({4, 2}), floats({6})})),
            "the plan, of shape [6], is not fourier_plan(4)");
  EXPECT_EQ(error_of(apply_row("real_fourier", {floats({2, 4}), floats({8})})),
            "the plan, of shape [8], is not fourier_plan(4, real=1)");
  EXPECT_EQ(error_of(apply_row("real_fourier_terms", {floats({4, 2}), floats({12})}, n(4))),
            "half a spectrum of 4 points has 3, not 4: [4, 2]");
  EXPECT_EQ(error_of(apply_row("frames", {floats({2, 3})}, cut(4, 1))),
            "a frame of length 4 does not fit a sequence of 3: [2, 3]");
  EXPECT_EQ(error_of(apply_row("frames", {floats({2, 3})}, cut(2, 0))), "hop 0 is not positive");
  EXPECT_EQ(
      error_of(apply_row("overlap_add", {floats({3, 2})}, {{"n", scalar_attribute(5)}, {"hop", scalar_attribute(2)}})),
      "3 frames of length 2 with hop 2 do not fit a sequence of 5");
}

TEST(ShapeRules, errors_of_ctc) {
  const auto integers = [](Shape shape) { return Tensor(DType::i32, std::move(shape)); };
  const auto error = [&](Shape x, Shape targets, Shape frames, std::int64_t blank) {
    return error_of(apply_row(
        "ctc_loss", {floats(std::move(x)), integers(std::move(targets)), integers(std::move(frames)), integers({2})},
        {{"blank", scalar_attribute(blank)}}));
  };
  EXPECT_EQ(error({5, 2}, {2, 1}, {2}, 0), "log_probs are of shape [time, batch, classes], not [5, 2]");
  EXPECT_EQ(error({5, 2, 3}, {4}, {2}, 0),
            "targets are of shape [batch, longest], with the batch of log_probs: [4] and [5, 2, 3]");
  EXPECT_EQ(error({5, 2, 3}, {2, 1}, {3}, 0),
            "lengths are of shape [batch], with the batch of log_probs: [3] and [5, 2, 3]");
  EXPECT_EQ(error({5, 2, 3}, {2, 1}, {2}, 3), "blank 3 is not a class of [5, 2, 3]");
}

TEST(ShapeRules, errors_of_moves_name_widths_and_axes) {
  const auto pad = [](std::int64_t before, std::int64_t after, const char* mode, Shape x) {
    return error_of(apply_row("pad", {floats(std::move(x))},
                              {{"before", scalar_attribute(before)},
                               {"after", scalar_attribute(after)},
                               {"mode", text_attribute_value(mode)}}));
  };
  EXPECT_EQ(pad(1, 1, "mirror", {3}),
            "pad has no mode \"mirror\": constant, edge, reflect, symmetric and wrap are known");
  EXPECT_EQ(pad(-2, -2, "constant", {5, 3}), "padding by -2 and -2 leaves a negative extent of axis 1 of [5, 3]");
  EXPECT_EQ(pad(1, 0, "edge", {2, 0}), "nothing to pad with by \"edge\": extent 0 of axis 1 of [2, 0]");
  EXPECT_EQ(
      error_of(apply_row(
          "pad", {Tensor(DType::i8, {2})},
          {{"before", scalar_attribute(1)}, {"after", scalar_attribute(1)}, {"value", number_attribute_value(0.5)}})),
      "value 0.5 does not fit i8");
  EXPECT_EQ(error_of(apply_row("tile", {floats({3})}, {{"reps", scalar_attribute(-1)}})),
            "number of repetitions -1 is negative");
  EXPECT_EQ(error_of(apply_row("tile", {floats({3})}, {{"reps", scalar_attribute(std::int64_t{1} << 62)}})),
            "[3] times [4611686018427387904] has more than 4294967296 elements");
  EXPECT_EQ(
      error_of(apply_row("repeat", {floats({3})}, {{"repeats", scalar_attribute(2)}, {"axis", scalar_attribute(1)}})),
      "axis 1 is out of range for rank 1");
  EXPECT_EQ(error_of(apply_row("roll", {floats({3})}, {{"shift", vector_attribute({1, 2})}})), "2 shifts for 1 axis");
  EXPECT_EQ(error_of(apply_row("diagonal", {floats({3, 2})}, {{"axis2", scalar_attribute(0)}})),
            "a diagonal needs two axes, not axis 0 twice");
  EXPECT_EQ(error_of(apply_row("diag", {floats({3, 2, 1})}, {})),
            "diag takes a vector or a matrix, not [3, 2, 1]; for the diagonal of other tensors use `diagonal`");
}

TEST(ShapeRules, errors_of_gathers_name_both_shapes) {
  const auto indices = [](Shape shape) { return Tensor(DType::i32, std::move(shape)); };
  EXPECT_EQ(error_of(apply_row("take", {floats({3}), indices({2})}, {{"axis", scalar_attribute(2)}})),
            "axis 2 is out of range for rank 1");
  EXPECT_EQ(error_of(apply_row("gather_elements", {floats({3, 2}), indices({2})}, {})),
            "a tensor and its indices must have the same rank, not [3, 2] and [2]");
  EXPECT_EQ(error_of(apply_row("gather_elements", {floats({3, 2}), indices({4, 2})}, {})),
            "indices of shape [4, 2] go beyond [3, 2] along axis 0");
  EXPECT_EQ(error_of(apply_row("take_along_axis", {floats({3, 2}), indices({2, 2})}, {})),
            "indices of shape [2, 2] do not broadcast to [3, 2]");
  EXPECT_EQ(error_of(apply_row("gather_nd", {floats({3, 2}), indices({4, 3})}, {})),
            "tuples of 3 indices for the 2 axes of [3, 2]");
  EXPECT_EQ(error_of(apply_row("gather_nd", {floats({3, 2}), indices({2, 1})}, {{"batch_dims", scalar_attribute(1)}})),
            "batches of a tensor and its indices differ along axis 0: [3, 2] and [2, 1]");
  EXPECT_EQ(error_of(apply_row("scatter_elements", {floats({3}), indices({2}), floats({3})}, {})),
            "updates have the shape [3], not [2]");
  EXPECT_EQ(error_of(apply_row("scatter_nd", {floats({3}), indices({2, 1}), floats({2})},
                               {{"reduction", text_attribute_value("sum")}})),
            "no reduction is called \"sum\": none, add, mul, min and max are known");
  EXPECT_EQ(error_of(apply_row("dynamic_slice", {floats({3, 2}), indices({2})}, {{"sizes", vector_attribute({1, 3})}})),
            "a slice of shape [1, 3] is not a part of [3, 2] along axis 1");
  EXPECT_EQ(error_of(apply_row("argtopk", {floats({3, 2})}, {{"k", scalar_attribute(3)}})),
            "k = 3 of the 2 elements along axis 1 of [3, 2]");
}

std::string einsum_error(const char* subscripts, const std::vector<Tensor>& operands) {
  return error_of(apply_row("einsum", operands, {{"subscripts", text_attribute_value(subscripts)}}));
}

TEST(ShapeRules, errors_of_contractions_name_the_index_and_both_extents) {
  EXPECT_EQ(einsum_error("ij,jk", {floats({2, 3}), floats({4, 2})}),
            "index j of \"ij,jk\" has extents 3 and 4 (operand 1, shape [4, 2])");
  EXPECT_EQ(einsum_error("ii", {floats({2, 3})}), "index i of \"ii\" has extents 2 and 3 (operand 0, shape [2, 3])");
  EXPECT_EQ(einsum_error("ij,jk", {floats({2, 3})}), "subscripts \"ij,jk\" are for 2 operands, not for 1");
  EXPECT_EQ(einsum_error("ij", {floats({2, 3, 4})}), "operand 0 of \"ij\" has 2 indices and the shape [2, 3, 4]");
  EXPECT_EQ(einsum_error("ij->ik", {floats({2, 3})}), "index k of the result of \"ij->ik\" is in no operand");
  EXPECT_EQ(einsum_error("ij->ii", {floats({2, 3})}), "index i is twice in the result of \"ij->ii\"");
  EXPECT_EQ(einsum_error("i?", {floats({2, 3})}), "subscripts \"i?\": '?' is not a letter, `,`, `...` or `->`");
  EXPECT_EQ(einsum_error("...i->i", {floats({2, 3})}), "the result of \"...i->i\" lacks the `...` of its operands");
  EXPECT_EQ(einsum_error("...i,...i", {floats({2, 3}), floats({4, 3})}),
            "axes of `...` in \"...i,...i\" have extents 2 and 4");
}

// Another library accepts a repeated axis and contracts it twice.
TEST(KnownDefects, tensordot_refuses_duplicate_axes) {
  const auto axes = [](std::vector<std::int64_t> a, std::vector<std::int64_t> b) {
    return error_of(apply_row("tensordot", {floats({2, 2}), floats({2, 2})},
                              {{"axes", vector_attribute(std::move(a))}, {"axes_b", vector_attribute(std::move(b))}}));
  };
  EXPECT_EQ(axes({0, 0}, {0, 1}), "an axis appears twice in [0, 0]");
  EXPECT_EQ(axes({0, 1}, {1, -1}), "an axis appears twice in [1, -1]");
  EXPECT_EQ(axes({0}, {0, 1}), "axes [0] and [0, 1] are not equally many");
  EXPECT_EQ(error_of(apply_row("tensordot", {floats({2, 3}), floats({2, 3})}, {{"axes", scalar_attribute(1)}})),
            "axis 1 of [2, 3] and axis 0 of [2, 3] have extents 3 and 2");
}

}  // namespace

}  // namespace rml
