// A sum over a segment is added directly to its target, unless another statement reads the sum or
// the old value.
#include "lowering/steps/add_in_place.h"

#include <gtest/gtest.h>

#include "tests/unit/lowering/program_builder.h"

namespace rml::testing {
namespace {

// cell `sum` := sum of …; each instant: g := sum; if first { w := cell `weights`; next := w + g;
// weights := next }
struct Training : ProgramBuilder {
  static constexpr std::int64_t m = 6, n = 8;
  CellId weights = cell(Tensor(DType::f32, {m, n})), sum = cell(Tensor(DType::f32, {m, n}));
  ValueId product = value(core::Fby{}, DType::f32, {m, n}), g = value(core::Fby{}, DType::f32, {m, n}),
          w = value(core::Fby{}, DType::f32, {m, n});
  ValueId next = apply("add", {w, g}, DType::f32, {m, n});

  Training() {
    steps::Unit& unit = program.units[0];
    unit.segmented = true;
    const ArrayId a = array(DType::f32, {m}, 0), b = array(DType::f32, {n}, 0);
    unit.sweeps.resize(2);
    add_all(unit.sweeps[0].prologue,
            steps::SegmentProduct{product, {a, {}, 1, m}, {b, {}, n, 1}, m, 1, n, {}, sum, {}});
    steps::Branch first = branch_at(steps::Test::first);
    add_all(*first.then_block, steps::LoadCell{w, weights}, steps::Compute{next}, steps::StoreCell{weights, next});
    add_all(body(), steps::LoadCell{g, sum}, std::move(first));
  }
  steps::Block& body() { return program.units[0].sweeps[1].body; }
  const steps::SegmentProduct* moved() const {
    const auto& prologue = program.units[0].sweeps[1].prologue.statements;
    return prologue.empty() ? nullptr : std::get_if<steps::SegmentProduct>(&prologue[0]);
  }
  bool run() {
    finish();
    return add_in_place(program);
  }
};

TEST(AddInPlace, TheSumIsAddedInThePassThatWantsIt) {
  Training t;
  ASSERT_TRUE(t.run());
  EXPECT_TRUE(t.program.units[0].sweeps[0].prologue.statements.empty());
  ASSERT_NE(t.moved(), nullptr);
  EXPECT_EQ(t.moved()->onto, t.weights);
  // The two statements contain no store.
  EXPECT_EQ(std::get<steps::Branch>(t.body().statements[1]).then_block->statements.size(), 2u);
}

TEST(AddInPlace, NotWhereTheSumIsTold) {
  Training t;
  add(t.body(), steps::StoreCell{t.cell(Tensor(DType::f32, {t.m, t.n})), t.g});
  EXPECT_FALSE(t.run());
}

TEST(AddInPlace, NotWhereTheOldValueIsLookedAt) {
  Training t;
  const ValueId old = t.value(core::Fby{}, DType::f32, {t.m, t.n});
  add(t.body(), steps::LoadCell{old, t.weights});
  EXPECT_FALSE(t.run());
}

TEST(AddInPlace, NotWhereTheNewValueIsLookedAt) {
  Training t;
  auto& first = std::get<steps::Branch>(t.body().statements[1]);
  add(*first.then_block, steps::StoreCell{t.cell(Tensor(DType::f32, {t.m, t.n})), t.next});
  EXPECT_FALSE(t.run());
}

TEST(AddInPlace, NotAtEveryInstant) {
  Training t;
  std::get<steps::Branch>(t.body().statements[1]).test.kind = steps::Test::last;
  EXPECT_FALSE(t.run());
}

TEST(AddInPlace, NotADifference) {
  Training t;
  std::get<core::Apply>((*t.core).values[t.next.index].rhs).op = operators().require("sub");
  EXPECT_FALSE(t.run());
}

}  // namespace
}  // namespace rml::testing
