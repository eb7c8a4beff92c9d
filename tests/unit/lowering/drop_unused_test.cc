// What nobody looks at is not computed; what fails, draws or stores is.
#include "lowering/drop_unused.h"

#include <gtest/gtest.h>

#include "tests/unit/lowering/program_builder.h"

namespace rml::testing {
namespace {

TEST(DropUnused, ChainsAndEmptyBranches) {
  ProgramBuilder b;
  const ValueId c = b.input("c", DType::boolean), x = b.input("x", DType::f32, {40});
  const CellId cell = b.cell(Tensor(DType::f32, {40}));
  const ValueId p = b.value(core::Fby{}, DType::f32, {40}), q = b.value(core::Merge{}, DType::f32, {40});
  const ValueId twice = b.apply("add", {p, p}, DType::f32, {40});
  steps::Branch unless = branch(c);
  add_all(*unless.else_block, steps::Copy{q, twice});
  add_all(b.block(), steps::LoadInput{c}, steps::LoadInput{x}, steps::LoadCell{p, cell}, steps::Compute{twice},
          std::move(unless), steps::StoreCell{cell, x});
  b.finish();
  drop_unused(b.program);
  ASSERT_EQ(b.block().statements.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<steps::StoreCell>(b.block().statements[2]));
}

TEST(DropUnused, WhatFailsOrDrawsStays) {
  ProgramBuilder b;
  const ValueId x = b.input("x", DType::i32);
  const ValueId y = b.apply("add", {x, x}, DType::i32);
  const ValueId quotient = b.apply("div", {x, y}, DType::i32);
  const ValueId noise = b.apply("uniform", {}, DType::f32, {}, {all(), all(), all()});
  add_all(b.block(), steps::LoadInput{x}, steps::Compute{y}, steps::Compute{quotient}, steps::Compute{noise});
  b.finish();
  drop_unused(b.program);
  EXPECT_EQ(b.block().statements.size(), 4u);
}

}  // namespace
}  // namespace rml::testing
