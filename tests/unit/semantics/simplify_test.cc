// Properties of simplification that golden tests do not show.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "checked_program.h"
#include "core_texts.h"
#include "semantics/instantiate/instantiate.h"
#include "semantics/simplify/simplify.h"

namespace rml {
namespace {

Core simplified(const std::string& source) {
  CheckedProgram p(source);
  Core core = instantiate(p.checked, p.node("f"), {}, p.diagnostics);
  EXPECT_FALSE(p.diagnostics.has_errors());
  EXPECT_EQ(verify(core), "");
  core = simplify(std::move(core), {});
  EXPECT_EQ(verify(core), "");
  return core;
}

int count(const Core& core, const char* op) {
  int n = 0;
  for (const Value& v : core.values)
    if (const auto* a = std::get_if<core::Apply>(&v.rhs)) n += operators()[a->op].name == op;
  return n;
}
template <class Rhs>
int count(const Core& core) {
  int n = 0;
  for (const Value& v : core.values) n += std::holds_alternative<Rhs>(v.rhs);
  return n;
}
const Value* only(const Core& core, const char* op) {
  const Value* found = nullptr;
  for (const Value& v : core.values)
    if (const auto* a = std::get_if<core::Apply>(&v.rhs); a && operators()[a->op].name == op) found = &v;
  return found;
}

// A second simplification of the results in tests/golden/simplify changes nothing.
TEST(Simplify, IsIdempotent) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(RML_TESTS "/golden/simplify")) {
    if (entry.path().extension() != ".in") continue;
    ++files;
    SCOPED_TRACE(entry.path().string());
    Core core = core_of(read_text(entry.path()));
    EXPECT_EQ(verify(core), "");
    core = simplify(std::move(core), {});
    EXPECT_EQ(verify(core), "");
    const std::string text = print_core(core);
    EXPECT_EQ(print_core(simplify(std::move(core), {})), text);
  }
  EXPECT_GE(files, 3);
}

// Each division moves into its branch, and its operands there are shared on the way, so each
// level has a fixed number of values.
TEST(Simplify, DivisionsSinkThroughManyBranches) {
  constexpr int levels = 500;
  std::string text = "node f(a: i32, n: i32) -> (o)\n  o = ";
  for (int k = 0; k < levels; ++k) {
    const std::string level = std::to_string(k);
    text += "if a > " + level + " then a / (n + " + level + ") else (";
  }
  const Core core = simplified(text + "0" + std::string(levels, ')') + ";");
  EXPECT_EQ(count(core, "div"), levels);
  EXPECT_LE(core.values.size(), 10u * levels);
  std::size_t deepest = 0;
  for (const Value& v : core.values) {
    const auto* apply = std::get_if<core::Apply>(&v.rhs);
    if (apply == nullptr || operators()[apply->op].name != "div") continue;
    std::size_t depth = 0;
    for (ClockId c = v.clock; core[c].parent.valid(); c = core[c].parent) ++depth;
    deepest = std::max(deepest, depth);
  }
  EXPECT_EQ(deepest, static_cast<std::size_t>(levels));
}

TEST(Simplify, DivisionSinksIntoItsBranch) {
  const Core core = simplified("node f(a: i32, n: i32) -> (o) o = if n != 0 then a / n else 0;");
  ASSERT_NE(only(core, "div"), nullptr);
  EXPECT_EQ(clock_string(core, only(core, "div")->clock), "base on (n != 0)");
}

TEST(Simplify, DivisionSinksThroughNestedBranches) {
  const Core core =
      simplified("node f(a: i32, n: i32, c: bool) -> (o) o = if c then (if n != 0 then a / n else 0) else 1;");
  ASSERT_NE(only(core, "div"), nullptr);
  EXPECT_EQ(core[core[only(core, "div")->clock].parent].condition, core.inputs[2].value);
}

TEST(Simplify, EqualDivisionsSinkEachIntoItsBranch) {
  const Core core = simplified(
      "node f(a: i32, b: i32, c: bool, d: bool) -> (x, y) x = if c then a / b else 0; y = if d then a / b else 1;");
  EXPECT_EQ(count(core, "div"), 2);
  for (const Value& v : core.values) {
    const auto* a = std::get_if<core::Apply>(&v.rhs);
    EXPECT_FALSE(a != nullptr && operators()[a->op].can_fail && v.clock == base_clock);
  }
}

TEST(Simplify, FailureStaysWhenItsResultIsNotNeeded) {
  const Core core = simplified("node f(a: i32, b: i32) -> (o) q = a / b; o = q * 0 + (if true then 1 else q);");
  EXPECT_EQ(count(core, "div"), 1);
}

int merges(const Core& core) {
  return static_cast<int>(
      std::ranges::count_if(core.values, [](const Value& v) { return std::holds_alternative<core::Merge>(v.rhs); }));
}

// Holding a constant parameter gives the parameter itself; holding any other value keeps the
// sample.
TEST(Simplify, HoldsOfWhatStandsStill) {
  EXPECT_EQ(merges(simplified("node f(end: bool, x: f64) -> (o) o = x * param_end(end, param(0.5));")), 0);
  EXPECT_EQ(merges(simplified("node f(end: bool, x: f64) -> (o) o = x * param_end(end, 0.5 fby x);")), 1);
}

TEST(Simplify, EqualOperatorsAreShared) {
  const Core core = simplified("node f(a: f32, b: f32) -> (o) o = (a + b) * (b + a);");
  EXPECT_EQ(count(core, "add"), 1);
}

TEST(Simplify, DrawsAreNotShared) {
  const Core core = simplified("node f() -> (o: f32[2]) o = uniform([2]) + uniform([2]);");
  EXPECT_EQ(count(core, "uniform"), 2);
}

TEST(Simplify, ZeroIsNotAddedAway) {
  const Core core = simplified("node f(a: f32, n: i32) -> (x, y) x = a + 0.0; y = n * 1 + 0;");
  EXPECT_EQ(count(core, "add"), 1);
  EXPECT_EQ(count(core, "mul"), 0);
}

TEST(Simplify, SumToTheSameShapeIsTheOperand) {
  const Core core = simplified("node f(x: f64[2]) -> (y, z) y = sum_to(sin(x), shape(x)); z = sum_to(x, []);");
  EXPECT_EQ(count(core, "sum_to"), 1);
}

TEST(Simplify, EachUseOfPostHasItsOwn) {
  const Core core = simplified("node f(a: f32, c: bool) -> (x, y) x = (post a) when c; y = (post a) when not c;");
  EXPECT_EQ(count<core::Post>(core), 2);
}

TEST(Simplify, SamplingOfAMergeIsItsBranch) {
  const Core core =
      simplified("node f(c: bool, x: f32, y: f32) -> (o) m = merge c (x when c) (y when not c); o = m when c;");
  EXPECT_EQ(count<core::Merge>(core), 0);
}

TEST(Simplify, InitIsComputedAtTheStart) {
  const Core core = simplified("node f(x: f32) -> (o) o = (x * 2.0 + 1.0) fby o;");
  ASSERT_NE(only(core, "mul"), nullptr);
  EXPECT_NE(only(core, "mul")->clock, base_clock);
}

TEST(Simplify, HeldConstantIsAConstant) {
  const Core core = simplified("node f(x: f32) -> (o) k = 2.0 fby k; o = x * k;");
  EXPECT_EQ(count<core::Fby>(core), 0);
}

TEST(Simplify, NeverPresentValuesVanish) {
  const Core core = simplified("const debug = false;\nnode f(x: i32) -> (o) o = if debug then x / 0 else x;");
  EXPECT_EQ(count(core, "div"), 0);
  EXPECT_EQ(core.outputs[0].value, core.inputs[0].value);
}

TEST(Simplify, LongChainsAreLinear) {
  std::string text = "node f(x0: i32, c: bool) -> (o)\n";
  constexpr int length = 20000;
  for (int k = 1; k <= length; ++k) text += "x" + std::to_string(k) + " = x" + std::to_string(k - 1) + " * 3;\n";
  const Core core = simplified(text + "o = if c then x" + std::to_string(length) + " else 0;");
  for (const Value& v : core.values) EXPECT_FALSE(std::holds_alternative<core::Apply>(v.rhs) && v.clock == base_clock);
}

}  // namespace
}  // namespace rml
