// The meaning of attributes once shapes are known: axes, permutations, bounds of slices.
#include "semantics/operators/operator.h"

#include <gtest/gtest.h>

namespace rml {

namespace {

Attribute integers(std::vector<std::int64_t> values) {
  Attribute attribute;
  attribute.given = true;
  attribute.integers = std::move(values);
  return attribute;
}

std::vector<std::size_t> permutation(Shape shape, Attribute axes, std::int64_t inverse) {
  const std::vector<Shape> shapes = {std::move(shape)};
  const std::vector<Attribute> attributes = {std::move(axes), integers({inverse})};
  return transposed_axes({{}, shapes, attributes, DType::f32});
}

TEST(Axes, count_from_either_end) {
  EXPECT_EQ(normalized_axis(0, 3), 0u);
  EXPECT_EQ(normalized_axis(-1, 3), 2u);
  EXPECT_EQ(normalized_axis(-3, 3), 0u);
  EXPECT_FALSE(normalized_axis(3, 3));
  EXPECT_FALSE(normalized_axis(-4, 3));
  EXPECT_FALSE(normalized_axis(0, 0));
}

TEST(Axes, permutations) {
  EXPECT_EQ(permutation({2, 3, 4}, {}, 0), (std::vector<std::size_t>{2, 1, 0}));
  EXPECT_EQ(permutation({2, 3, 4}, integers({1, 2, 0}), 0), (std::vector<std::size_t>{1, 2, 0}));
  EXPECT_EQ(permutation({2, 3, 4}, integers({1, 2, 0}), 1), (std::vector<std::size_t>{2, 0, 1}));
  EXPECT_EQ(permutation({2, 3, 4}, integers({-1, -2}), 0), (std::vector<std::size_t>{0, 2, 1}));
  EXPECT_EQ(permutation({}, {}, 0), (std::vector<std::size_t>{}));
}

TEST(Axes, reduced) {
  EXPECT_EQ(reduced_axes({}, 2), (std::vector<bool>{true, true}));
  EXPECT_EQ(reduced_axes(integers({}), 2), (std::vector<bool>{false, false}));
  EXPECT_EQ(reduced_axes(integers({-1}), 2), (std::vector<bool>{false, true}));
  EXPECT_FALSE(reduced_axes(integers({0, -2}), 2));
}

TEST(Slices, bounds) {
  const auto range = [](Shape whole, Attribute starts, Attribute stops, Attribute steps) {
    const std::vector<Attribute> bounds = {std::move(starts), std::move(stops), std::move(steps)};
    return std::get<0>(slice_ranges(whole, bounds));
  };
  const auto all = range({5, 7}, {}, {}, {});
  EXPECT_EQ(all[0].count, 5);
  EXPECT_EQ(all[1].count, 7);
  const auto some = range({5, 7}, integers({1, -3}), integers({-1, INT64_MAX}), integers({2}));
  EXPECT_EQ(some[0].start, 1);
  EXPECT_EQ(some[0].count, 2);
  EXPECT_EQ(some[0].step, 2);
  EXPECT_EQ(some[1].start, 4);
  EXPECT_EQ(some[1].count, 3);
  EXPECT_EQ(some[1].step, 1);
  EXPECT_EQ(range({5}, integers({5}), {}, {})[0].count, 0);
}

TEST(Slices, steps) {
  using Bound = std::optional<std::int64_t>;
  const auto text = [](std::int64_t extent, Bound start, Bound stop, std::int64_t step) {
    const auto range = slice_range({extent}, 0, start, stop, step);
    if (const auto* error = std::get_if<std::string>(&range)) return *error;
    const auto& [begin, count, by] = std::get<SliceRange>(range);
    return std::to_string(begin) + " " + std::to_string(count) + " " + std::to_string(by);
  };
  constexpr auto least = std::numeric_limits<std::int64_t>::min(), greatest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(text(5, {}, {}, -1), "4 5 -1");
  EXPECT_EQ(text(5, -1, -6, -2), "4 3 -2");
  EXPECT_EQ(text(5, 3, 0, -2), "3 2 -2");
  EXPECT_EQ(text(5, 1, 1, -2), "1 0 1");
  EXPECT_EQ(text(5, -6, -6, -1), "0 0 1");
  EXPECT_EQ(text(0, {}, {}, -1), "0 0 1");
  EXPECT_EQ(text(0, {}, {}, 3), "0 0 1");
  EXPECT_EQ(text(5, {}, {}, least), "4 1 1");
  EXPECT_EQ(text(5, 1, {}, greatest), "1 1 1");
  EXPECT_EQ(text(5, 5, {}, -1),
            "5::-1 is out of range for axis 0 of [5]: backward the first element is 4, or none is written");
  EXPECT_EQ(text(5, {}, -7, -1),
            ":-7:-1 is out of range for axis 0 of [5]: backward the first element is 4, or none is written");
  EXPECT_EQ(text(5, least, {}, 1), "-9223372036854775808: is out of range for axis 0 of [5]");
  EXPECT_EQ(text(5, 1, 2, -1), "1:2:-1 ends before it begins: backward the first bound is the greater one");
  EXPECT_EQ(text(5, {}, 2, 0), ":2:0 never moves: a step of 1 takes every element, one of -1 every element backward");
}

}  // namespace

}  // namespace rml
