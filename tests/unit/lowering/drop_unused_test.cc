// A value without a use is not computed, unless it can fail, draws random numbers, or is stored.
#include "lowering/steps/drop_unused.h"

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

// y is pushed to the second unit, which reads x and, if c is true, takes y.
TEST(DropUnused, OperandsAndTheirQueues) {
  ProgramBuilder b;
  const ValueId c = b.input("c", DType::boolean), x = b.input("x", DType::f32, {40});
  const ValueId y = b.apply("add", {x, x}, DType::f32, {40});
  const ValueId z = b.apply("mul", {x, x}, DType::f32, {40});
  const QueueId to_c = b.queue(DType::boolean), for_y = b.queue(DType::f32, {40}),
                to_x = b.queue(DType::f32, {40}, 3, {0, 2, 1}), for_z = b.queue(DType::f32, {40});
  b.finish();
  b.program.straight = false;
  add_all(b.block(), steps::LoadInput{c}, steps::LoadInput{x}, steps::Push{to_c, c}, steps::Push{to_x, x});
  steps::Branch where = branch(c);
  add_all(*where.then_block, steps::Compute{y}, steps::Push{for_y, y});
  add_all(b.block(), std::move(where));
  steps::Unit reader;
  reader.clock = base_clock;
  reader.operands = {{c, to_c, 0, {}, {}, false}, {y, for_y, 0, {{c, true}}, {}, false}, {x, to_x, 2, {}, {}, false}};
  add_all(reader.instant, steps::Compute{z}, steps::Push{for_z, z});
  b.program.units.push_back(std::move(reader));
  b.program.emitter.operands = {{z, for_z, 0, {}, {}, false}};
  drop_unused(b.program);
  // Both inputs, which are read where they arrive even if nothing uses them, and the push of x.
  EXPECT_EQ(b.block().statements.size(), 3u);
  const auto& operands = b.program.units[1].operands;
  ASSERT_EQ(operands.size(), 1u);
  EXPECT_EQ(operands[0].value, x);
  EXPECT_EQ(operands[0].reader, 0u);
  ASSERT_EQ(b.program.queues.size(), 2u);
  EXPECT_EQ(b.program.queues[operands[0].queue.index].skips, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(b.program.queues[operands[0].queue.index].readers, 1u);
  EXPECT_EQ(b.program.emitter.operands[0].queue, QueueId(1));
}

}  // namespace
}  // namespace rml::testing
