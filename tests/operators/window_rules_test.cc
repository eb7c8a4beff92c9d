// Checks the shape rules of convolutions and pooling by the texts of their errors, and cases that
// other libraries compute wrongly.
#include <gtest/gtest.h>

#include "tests/operators/apply.h"

namespace rml {

namespace {

AttributeArguments with(std::string_view name, std::vector<std::int64_t> values, AttributeArguments others = {}) {
  others[std::string(name)] = vector_attribute(std::move(values));
  return others;
}
std::string error(std::string_view op, const std::vector<Tensor>& operands, const AttributeArguments& arguments) {
  return error_of(apply_row(op, operands, arguments));
}

TEST(WindowRules, convolutions_name_what_differs) {
  const Tensor x = floats({1, 2, 5, 5}), w = floats({4, 2, 3, 3});
  EXPECT_EQ(error("conv", {floats({5, 5}), w}, {}),
            "windows slide over [batch, channels, one to three spatial axes], not [5, 5]");
  EXPECT_EQ(error("conv", {x, floats({4, 2, 3})}, {}),
            "a filter is of shape [channels out, channels in, window…], of the rank of [1, 2, 5, 5], not [4, 2, 3]");
  EXPECT_EQ(error("conv", {x, floats({4, 3, 3, 3})}, {}),
            "channels differ: [1, 2, 5, 5] has 2, a filter of shape [4, 3, 3, 3] in 1 group takes 3");
  EXPECT_EQ(error("conv", {x, w}, {{"groups", scalar_attribute(3)}}),
            "the 4 channels out of a filter of shape [4, 2, 3, 3] do not divide into 3 groups");
  EXPECT_EQ(error("conv", {x, w}, {{"groups", scalar_attribute(0)}}), "groups must be one positive integer, not [0]");
  EXPECT_EQ(error("conv", {x, floats({4, 2, 7, 3})}, {}),
            "a window of [7, 3] elements, dilated by 1, does not fit into [1, 2, 5, 5] with padding 0");
  EXPECT_EQ(error("conv", {x, w}, with("dilations", {1, 3})),
            "a window of [3, 3] elements, dilated by [1, 3], does not fit into [1, 2, 5, 5] with padding 0");
  EXPECT_EQ(error("conv", {x, floats({4, 2, 0, 3})}, {}),
            "a window of [0, 3] elements along 2 spatial axes: it takes one positive integer for all, or one for each");
}

TEST(WindowRules, attributes_are_one_per_axis) {
  const Tensor x = floats({1, 2, 5, 5}), w = floats({4, 2, 3, 3});
  EXPECT_EQ(error("conv", {x, w}, with("strides", {1, 2, 3})),
            "strides [1, 2, 3] along 2 spatial axes: they are one positive integer for all, or one for each");
  EXPECT_EQ(error("conv", {x, w}, with("strides", {0})),
            "strides [0] along 2 spatial axes: they are one positive integer for all, or one for each");
  EXPECT_EQ(error("conv", {x, w}, with("padding", {1, 2, 3})),
            "padding [1, 2, 3] along 2 spatial axes: it is one integer, not negative, for all, one for each, or all "
            "beginnings and then all ends");
  EXPECT_EQ(error("conv", {x, w}, with("padding", {-1})),
            "padding [-1] along 2 spatial axes: it is one integer, not negative, for all, one for each, or all "
            "beginnings and then all ends");
  EXPECT_EQ(error("conv", {x, w}, with("dilations", {std::int64_t{1} << 40})),
            "dilations [1099511627776] along 2 spatial axes: they are one positive integer for all, or one for each");
  EXPECT_EQ(error("conv", {x, w}, {{"same", scalar_attribute(3)}}),
            "same is 0, 1 (more at the end) or 2 (more at the beginning), not 3");
  EXPECT_EQ(error("conv", {x, w}, with("padding", {1}, {{"same", scalar_attribute(1)}})),
            "padding is either given or chosen by same, not both");
  EXPECT_EQ(error("conv", {floats({1, 2, 5}), floats({1, 2, 3})}, with("padding", {INT32_MAX, INT32_MAX})),
            "shape [1, 1, 4294967297] has more than 4294967296 elements");
}

TEST(WindowRules, adjoints_want_the_shapes_of_the_convolution) {
  const Tensor x = floats({1, 2, 5, 5}), w = floats({4, 2, 3, 3});
  EXPECT_EQ(error("conv_input_gradient", {floats({1, 4, 2, 3}), w}, with("shape", {1, 2, 5, 5})),
            "a convolution of [1, 2, 5, 5] by [4, 2, 3, 3] is of shape [1, 4, 3, 3], not [1, 4, 2, 3]");
  EXPECT_EQ(error("conv_weight_gradient", {x, floats({1, 4, 2, 3})}, with("shape", {4, 2, 3, 3})),
            "a convolution of [1, 2, 5, 5] by [4, 2, 3, 3] is of shape [1, 4, 3, 3], not [1, 4, 2, 3]");
  EXPECT_EQ(error("conv_transpose", {x, floats({3, 2, 3, 3})}, {}),
            "channels differ: [1, 2, 5, 5] has 2, a filter of shape [3, 2, 3, 3] in 1 group takes 3");
  EXPECT_EQ(error("conv_transpose", {x, floats({2, 2, 3, 3})}, with("output_padding", {1})),
            "output_padding [1] and strides 1: it is one integer for all axes, or one for each, from 0 up to, "
            "without, the stride");
  EXPECT_EQ(error("conv_transpose", {floats({1, 2, 1, 1}), floats({2, 2, 3, 3})}, with("padding", {2})),
            "padding [2] leaves nothing of the transposed convolution of [1, 2, 1, 1] by [2, 2, 3, 3]");
}

TEST(WindowRules, pools_cover_elements) {
  const Tensor x = floats({1, 2, 5, 5});
  EXPECT_EQ(error("max_pool", {x}, with("window", {2}, with("padding", {2}))),
            "window 0 of 4 along an axis of [1, 2, 5, 5] covers only padding: padding [2] is too large");
  EXPECT_EQ(error("max_pool", {floats({1, 2, 0})}, with("window", {1}, with("padding", {1}))),
            "no window covers an element of [1, 2, 0]");
  EXPECT_EQ(error("max_pool", {x}, with("window", {6})),
            "a window of [6] elements, dilated by 1, does not fit into [1, 2, 5, 5] with padding 0");
  EXPECT_EQ(error("max_pool_gradient", {x, floats({1, 2, 2, 3})}, with("window", {2})),
            "pooling of [1, 2, 5, 5] is of shape [1, 2, 2, 2], not [1, 2, 2, 3]");
  EXPECT_EQ(error("max_pool_select", {x, floats({1, 2, 5, 4})}, with("window", {2})),
            "places of maxima in [1, 2, 5, 5] are none in [1, 2, 5, 4]");
  EXPECT_EQ(error("average_pool_gradient", {floats({1, 2, 2, 3})}, with("shape", {1, 2, 5, 5}, with("window", {2}))),
            "pooling of [1, 2, 5, 5] is of shape [1, 2, 2, 2], not [1, 2, 2, 3]");
  EXPECT_EQ(error("col2im", {floats({1, 8, 9})}, with("shape", {1, 2, 5, 5}, with("window", {2}))),
            "the columns of [1, 2, 5, 5] are of shape [1, 8, 16], not [1, 8, 9]");
}

// ---- known defects of other libraries

Tensor counted(Shape shape) {
  Tensor x(DType::f64, std::move(shape));
  for (std::int64_t i = 0; i < x.elements(); ++i) x.as<double>()[i] = static_cast<double>(i);
  return x;
}
std::string value(std::string_view op, const std::vector<Tensor>& operands, const AttributeArguments& arguments) {
  return to_string(value_of(apply_row(op, operands, arguments)));
}

TEST(KnownDefects, im2col_that_differs_in_dilation_only_is_another_one) {
  const Tensor x = counted({1, 1, 4});
  EXPECT_EQ(value("im2col", {x}, with("window", {2}, with("strides", {2}))), "[[0,2;1,3]]");
  EXPECT_EQ(value("im2col", {x}, with("window", {2}, with("strides", {2}, with("dilations", {2})))), "[[0;2]]");
  EXPECT_NE(vector_attribute({1}), vector_attribute({2}));
}

TEST(KnownDefects, max_pool_begins_at_the_padding_before_not_after) {
  const Tensor x = counted({1, 1, 2, 3});
  EXPECT_EQ(value("max_pool", {x}, with("window", {2}, with("padding", {1, 0, 0, 1}))), "[[[1,2]]]");
  EXPECT_EQ(value("max_pool", {x}, with("window", {2}, with("padding", {0, 1, 1, 0}))), "[[[3,5]]]");
}

TEST(KnownDefects, max_pool_with_padding_has_the_padded_shape) {
  const Tensor y = value_of(apply_row("max_pool", {counted({1, 1, 4, 4})}, with("window", {3}, with("padding", {1}))));
  EXPECT_EQ(y.shape(), (Shape{1, 1, 2, 2}));
}

TEST(KnownDefects, average_pool_divides_by_the_window_not_the_width) {
  EXPECT_EQ(value("average_pool", {counted({1, 1, 2, 6})}, with("window", {2})), "[[[3.5,5.5,7.5]]]");
}

TEST(KnownDefects, average_pool_along_one_axis_is_no_maximum) {
  EXPECT_EQ(value("average_pool", {counted({1, 1, 4})}, with("window", {2})), "[[0.5,2.5]]");
}

TEST(KnownDefects, conv_of_more_than_one_channel) {
  // The digits of each result are a window of two elements of channel [0, 1, 2], then one of channel [3, 4, 5].
  const Tensor w = tensor(DType::f64, {1, 2, 2}, {1000, 100, 10, 1});
  EXPECT_EQ(value("conv", {counted({1, 2, 3}), w}, {}), "[[134,1245]]");
}

TEST(KnownDefects, conv_pads_all_beginnings_then_all_ends) {
  const Tensor w = tensor(DType::f64, {1, 1, 1, 1}, {1});
  EXPECT_EQ(value("conv", {counted({1, 1, 1, 2}), w}, with("padding", {1, 0, 0, 0})), "[[[0,0;0,1]]]");
  EXPECT_EQ(value("conv", {counted({1, 1, 1, 2}), w}, with("padding", {0, 1, 0, 0})), "[[[0,0,1]]]");
  EXPECT_EQ(value("conv", {counted({1, 1, 1, 2}), w}, with("padding", {0, 0, 1, 0})), "[[[0,1;0,0]]]");
}

TEST(KnownDefects, conv_obeys_groups_and_pads_the_beginning_for_same_lower) {
  const Tensor w = tensor(DType::f64, {2, 1, 2}, {1, 10, 1, 10});
  EXPECT_EQ(value("conv", {counted({1, 2, 2}), w}, {{"groups", scalar_attribute(2)}, {"same", scalar_attribute(2)}}),
            "[[0,10;20,32]]");
}

}  // namespace

}  // namespace rml
