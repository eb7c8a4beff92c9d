// Branches, as jumps and as selects. Only the chosen branch may have an effect.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/unit/lowering/program_builder.h"

namespace rml::testing {
namespace {

class EmitBranch : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Levels, EmitBranch, ::testing::Values(0, 1, 2, 3));

// Returns the outputs for rows of two Booleans and a number.
std::vector<std::int32_t> rows(ProgramBuilder& b, int level, const std::vector<std::array<std::int32_t, 3>>& in) {
  Machine m(b.finish(), options(level));
  EXPECT_NE(m.table, nullptr) << m.error;
  if (m.table == nullptr) return {};
  std::vector<std::int32_t> got;
  for (const auto& [c, d, x] : in) {
    const std::uint8_t first = c != 0, second = d != 0;
    EXPECT_EQ(m.push({&first, &second, &x}), 0);
    for (const std::int32_t row : m.pop_all<std::int32_t>()) got.push_back(row);
  }
  return got;
}

struct Inputs {
  ValueId c, d, x;
  explicit Inputs(ProgramBuilder& b)
      : c(b.input("c", DType::boolean)), d(b.input("d", DType::boolean)), x(b.input("x", DType::i32)) {
    add_all(b.block(), steps::LoadInput{c}, steps::LoadInput{d}, steps::LoadInput{x});
  }
};

// if c { if d { cell := last + x } else { other := x } }; the row is last * 100 + other.
TEST_P(EmitBranch, CellsKeepWhatNobodyWrites) {
  ProgramBuilder b;
  const Inputs in(b);
  const CellId cell = b.cell(Tensor::scalar(DType::i32, std::int32_t{1})),
               other = b.cell(Tensor::scalar(DType::i32, std::int32_t{2}));
  const ValueId last = b.value(core::Fby{}, DType::i32), held = b.value(core::Fby{}, DType::i32);
  const ValueId sum = b.apply("add", {last, in.x}, DType::i32);
  const ValueId times = b.apply("mul", {last, b.integer(100)}, DType::i32);
  const ValueId row = b.apply("add", {times, held}, DType::i32);
  b.output("row", row);
  steps::Branch outer = branch(in.c), inner = branch(in.d);
  add_all(*inner.then_block, steps::Compute{sum}, steps::StoreCell{cell, sum});
  add(*inner.else_block, steps::StoreCell{other, in.x});
  add(*outer.then_block, std::move(inner));
  add_all(b.block(), steps::LoadCell{last, cell}, steps::LoadCell{held, other});
  add(b.block(), std::move(outer));
  add_all(b.block(), steps::Compute{times}, steps::Compute{row}, steps::StoreOutput{0, row});
  EXPECT_EQ(rows(b, GetParam(), {{0, 0, 5}, {0, 1, 5}, {1, 1, 5}, {1, 0, 7}, {0, 1, 9}, {1, 1, 1}, {0, 0, 0}}),
            (std::vector<std::int32_t>{102, 102, 102, 602, 607, 607, 707}));
}

// Two branches define one value, one if c is true and the other if it is not.
TEST_P(EmitBranch, OneValueOfTwoBranches) {
  ProgramBuilder b;
  const Inputs in(b);
  const ValueId doubled = b.apply("add", {in.x, in.x}, DType::i32),
                y = b.value(core::Merge{in.c, in.x, in.x}, DType::i32);
  b.output("y", y);
  steps::Branch first = branch(in.c), second = branch(in.c);
  add_all(*first.then_block, steps::Compute{doubled}, steps::Copy{y, doubled});
  add(*second.else_block, steps::Copy{y, in.x});
  add(b.block(), std::move(first));
  add(b.block(), std::move(second));
  add(b.block(), steps::StoreOutput{0, y});
  EXPECT_EQ(rows(b, GetParam(), {{1, 0, 5}, {0, 0, 5}, {1, 1, -3}}), (std::vector<std::int32_t>{10, 5, -6}));
}

// One branch reads a cell, the other copies a value, as for a delay with a computed first value.
TEST_P(EmitBranch, OneSideLoads) {
  ProgramBuilder b;
  const Inputs in(b);
  const CellId cell = b.cell(Tensor::scalar(DType::i32, std::int32_t{3}));
  const ValueId y = b.value(core::Fby{}, DType::i32);
  b.output("y", y);
  steps::Branch either = branch(in.c);
  add(*either.then_block, steps::Copy{y, in.x});
  add(*either.else_block, steps::LoadCell{y, cell});
  add(b.block(), std::move(either));
  add_all(b.block(), steps::StoreOutput{0, y}, steps::StoreCell{cell, in.x});
  EXPECT_EQ(rows(b, GetParam(), {{0, 0, 5}, {1, 0, 6}, {0, 0, 7}, {0, 0, 8}}), (std::vector<std::int32_t>{3, 6, 6, 7}));
}

// A division in a branch that is not taken does not fail.
TEST_P(EmitBranch, WhatMayFailWaits) {
  ProgramBuilder b;
  const Inputs in(b);
  const ValueId quotient = b.apply("div", {b.integer(12), in.x}, DType::i32),
                y = b.value(core::Merge{in.c, in.x, in.x}, DType::i32);
  b.program.value_sites[quotient.index] = b.site("division by zero");
  b.output("y", y);
  steps::Branch either = branch(in.c);
  add_all(*either.then_block, steps::Compute{quotient}, steps::Copy{y, quotient});
  add(*either.else_block, steps::Copy{y, in.x});
  add(b.block(), std::move(either));
  add(b.block(), steps::StoreOutput{0, y});
  EXPECT_EQ(rows(b, GetParam(), {{1, 0, 5}, {0, 0, 0}, {1, 1, -3}}), (std::vector<std::int32_t>{2, 0, -4}));
}

// A comparison with NaN is false, in either order of the operands.
TEST_P(EmitBranch, BlendsByNotANumber) {
  ProgramBuilder b;
  const ValueId x = b.input("x", DType::f64), p = b.input("p", DType::f64);
  const ValueId one = b.constant(Tensor::scalar(DType::f64, 1.0)), minus = b.constant(Tensor::scalar(DType::f64, -1.0));
  const CellId cell = b.cell(Tensor::scalar(DType::f64, 0.0));
  const ValueId last = b.value(core::Fby{}, DType::f64);
  const ValueId high = b.apply("gt", {x, one}, DType::boolean), low = b.apply("lt", {x, p}, DType::boolean);
  const ValueId up = b.apply("gt", {p, one}, DType::boolean);
  const ValueId both = b.apply("logical_and", {high, up}, DType::boolean);
  const ValueId held = b.apply("logical_or", {both, low}, DType::boolean);
  const ValueId next = b.apply("add", {last, one}, DType::f64);
  const ValueId u = b.value(core::Merge{high, one, x}, DType::f64), v = b.value(core::Merge{low, minus, u}, DType::f64);
  const ValueId y = b.apply("add", {v, last}, DType::f64);
  b.output("y", y);
  steps::Branch where = branch(held), above = branch(high), below = branch(low);
  add_all(*where.else_block, steps::Compute{next}, steps::StoreCell{cell, next});
  add(*above.then_block, steps::Copy{u, one});
  add(*above.else_block, steps::Copy{u, x});
  add(*below.then_block, steps::Copy{v, minus});
  add(*below.else_block, steps::Copy{v, u});
  add_all(b.block(), steps::LoadInput{x}, steps::LoadInput{p}, steps::LoadCell{last, cell}, steps::Compute{high},
          steps::Compute{low}, steps::Compute{up}, steps::Compute{both}, steps::Compute{held});
  for (steps::Branch* s : {&where, &above, &below}) add(b.block(), std::move(*s));
  add_all(b.block(), steps::Compute{y}, steps::StoreOutput{0, y});
  Machine m(b.finish(), options(GetParam()));
  ASSERT_NE(m.table, nullptr) << m.error;
  const double nan = std::nan("");
  // x, p, and the row: -1 if x < p, else 1 if x > 1, else x; plus 1 for each row before with
  // neither x < p nor x > 1 and with p > 1.
  const std::vector<std::array<double, 3>> in = {{0.5, 0, 0.5}, {2, 0, 2},   {2, 1.5, 3},    {0, 3, 1},
                                                 {2, nan, 3},   {2, 1.5, 4}, {0.25, 0, 3.25}};
  const auto row = [&](double a, double c) {
    EXPECT_EQ(m.push({&a, &c}), 0);
    return m.pop_all<double>().at(0);
  };
  for (const auto& [a, c, expected] : in) EXPECT_EQ(row(a, c), expected);
  EXPECT_TRUE(std::isnan(row(nan, 1.5)));
}

}  // namespace
}  // namespace rml::testing
