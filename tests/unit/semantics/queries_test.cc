// Queries on a core that is small enough to answer them by hand.
#include "semantics/core/queries.h"

#include <gtest/gtest.h>

#include "core_texts.h"
#include "semantics/values/overloaded.h"

namespace rml {
namespace {

// Clock c3 is a clock on c2; c4 and c2 are both on base. %9, %10 and %12 are on c3.
const char* const nested =
    "core f\nclock base\nclock c2 = base on %0\nclock c3 = c2 on not %4\nclock c4 = base on not %0\n"
    "%0: bool = input 0 c\n%1: i32 = input 1 x\n%2: i32 on c2 = when %0 %1\n%3: i32 = const 3\n"
    "%4: bool on c2 = gt %2 %3\n%5: bool = const T\n%6: bool = const F\n%7: bool = fby %5 %6\n"
    "%8: bool = fby %6 %5\n%9: i32 on c3 = when not %4 %2\n%10: i32 on c3 = add %9 %9\n%11: i32 = sub %1 %1\n"
    "%12: i32 on c3 = mul %10 %9\n"
    "input c = %0\ninput x = %1\noutput y = %12\n";

std::vector<ValueId> values(std::initializer_list<std::size_t> of) {
  std::vector<ValueId> ids;
  for (const std::size_t v : of) ids.emplace_back(v);
  return ids;
}

std::vector<ClockId> clocks(std::initializer_list<std::size_t> of) {
  std::vector<ClockId> ids;
  for (const std::size_t c : of) ids.emplace_back(c);
  return ids;
}

std::vector<ClockId> climbed(const Core& core, ClockId clock, ClockId until = base_clock) {
  std::vector<ClockId> met;
  for (const ClockId c : ancestors(core, clock, until)) met.push_back(c);
  return met;
}

TEST(ApplyOf, AsksForOperatorRowAndForm) {
  const Core core = core_of(nested);
  const core::Apply* add = apply_of(core, ValueId{10});
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(add->operands, values({9, 9}));
  EXPECT_EQ(apply_of(core, ValueId{10}, operators().require("add")), add);
  EXPECT_EQ(apply_of(core, ValueId{10}, operators().require("sub")), nullptr);
  EXPECT_EQ(apply_of(core, ValueId{10}, "add"), add);
  EXPECT_EQ(apply_of(core, ValueId{10}, "sub"), nullptr);
  EXPECT_EQ(apply_of(core, ValueId{10}, Lowering::elementwise), add);
  EXPECT_EQ(apply_of(core, ValueId{10}, Lowering::reshape), nullptr);
  EXPECT_EQ(apply_of(core, ValueId{9}), nullptr);
  EXPECT_EQ(apply_of(core, ValueId{9}, "add"), nullptr);
}

TEST(Ancestors, GoFromTheClockOutwardsAndLeaveBaseOut) {
  const Core core = core_of(nested);
  EXPECT_EQ(climbed(core, ClockId{3}), clocks({3, 2}));
  EXPECT_EQ(climbed(core, ClockId{3}, ClockId{2}), clocks({3}));
  EXPECT_EQ(climbed(core, ClockId{3}, ClockId{3}), clocks({}));
  EXPECT_EQ(climbed(core, ClockId{3}, ClockId{4}), clocks({3, 2}));
  EXPECT_EQ(climbed(core, base_clock), clocks({}));
  EXPECT_EQ(climbed(core, never_clock), clocks({}));
  EXPECT_EQ(climbed(core, ClockId{}), clocks({}));
  EXPECT_EQ(path_to(core, ClockId{3}), clocks({2, 3}));
  EXPECT_EQ(path_to(core, ClockId{3}, ClockId{2}), clocks({3}));
}

TEST(Clocks, MeetAtTheNearestCommonOne) {
  const Core core = core_of(nested);
  EXPECT_EQ(common_clock(core, ClockId{3}, ClockId{2}), ClockId{2});
  EXPECT_EQ(common_clock(core, ClockId{2}, ClockId{3}), ClockId{2});
  EXPECT_EQ(common_clock(core, ClockId{3}, ClockId{3}), ClockId{3});
  EXPECT_EQ(common_clock(core, ClockId{3}, ClockId{4}), base_clock);
  EXPECT_EQ(common_clock(core, ClockId{3}, base_clock), base_clock);
  EXPECT_EQ(common_clock(core, never_clock, ClockId{3}), ClockId{3});
  EXPECT_EQ(common_clock(core, ClockId{3}, never_clock), ClockId{3});
  EXPECT_TRUE(within(core, ClockId{3}, ClockId{2}));
  EXPECT_TRUE(within(core, ClockId{3}, ClockId{3}));
  EXPECT_TRUE(within(core, ClockId{3}, base_clock));
  EXPECT_FALSE(within(core, ClockId{2}, ClockId{3}));
  EXPECT_FALSE(within(core, ClockId{4}, ClockId{2}));
  EXPECT_FALSE(within(core, never_clock, base_clock));
}

TEST(Conditions, AreWhatClocksAreSampledBy) {
  const std::vector<bool> found = conditions(core_of(nested));
  ASSERT_EQ(found.size(), 13u);
  for (std::size_t v = 0; v < found.size(); ++v) EXPECT_EQ(found[v], v == 0 || v == 4) << v;
}

TEST(Truth, OfBooleanScalarsThatAreConstant) {
  const Core core = core_of(
      "core f\nclock base\n%0: bool = const T\n%1: bool = const F\n%2: i32 = const 1\n"
      "%3: bool[2] = const [T,T]\n%4: bool = fby %0 %1\n%5: bool = fby %1 %0\n%6: bool = fby %0 %0\n"
      "%7: bool[2] = const [F,F]\n%8: bool[2] = fby %3 %7\n%9: bool = fby %0 %4\n");
  EXPECT_EQ(constant_truth(core, ValueId{0}), true);
  EXPECT_EQ(constant_truth(core, ValueId{1}), false);
  for (const ValueId v : values({2, 3, 4})) EXPECT_EQ(constant_truth(core, v), std::nullopt) << v.index;
  std::vector<ValueId> starts;
  for (std::size_t i = 0; i < core.values.size(); ++i)
    if (is_start(core, ValueId{i})) starts.emplace_back(i);
  EXPECT_EQ(starts, values({4}));
}

TEST(Uses, ListsWhoHasAValueAsOperand) {
  Core core = core_of(nested);
  const Uses uses(core);
  const auto of = [&](std::size_t v) {
    const auto users = uses.of(ValueId{v});
    return std::vector<ValueId>(users.begin(), users.end());
  };
  EXPECT_EQ(of(0), values({2}));
  EXPECT_EQ(of(1), values({2, 11, 11}));
  EXPECT_EQ(of(9), values({10, 10, 12}));
  EXPECT_EQ(of(10), values({12}));
  EXPECT_EQ(of(12), values({}));  // a port is not counted as a user
  core.values.push_back(core[ValueId{10}]);
  EXPECT_EQ(of(13), values({}));
  EXPECT_EQ(of(9), values({10, 10, 12}));
}

TEST(Reachable, GoesThroughOperandsAndConditions) {
  const Core core = core_of(nested);
  std::vector<ValueId> found;
  const std::vector<bool> seen = reachable(core, values({9}));
  for (std::size_t v = 0; v < seen.size(); ++v)
    if (seen[v]) found.emplace_back(v);
  EXPECT_EQ(found, values({0, 1, 2, 3, 4, 9}));
}

TEST(Results, AreOutputsAssertsAndMovingParameters) {
  const Core core = core_of(
      "core f\nclock base\n%0: i32 = const 1\n%1: bool = const T\n%2: i32 = fby %0 %3\n%3: i32 = add %2 %0\n"
      "%4: i32 = fby %0 %4\n%5: bool = gt %3 %0\n%6: i32 = div %0 %3\n%7: i32 = div %3 %0\n%8: i32 on never = div %0 "
      "%3\n"
      "output o = %3\nassert %5 \"grows\"\nparameter w = %2\nparameter still = %4\n");
  EXPECT_EQ(results(core), values({3, 5, 2}));
  EXPECT_EQ(failing(core), values({6}));  // a divisor that may be zero can fail; not on a clock that never ticks
}

TEST(RemoveUnreachable, KeepsTheOrderOfWhatIsLeft) {
  EXPECT_EQ(print_core(remove_unreachable(core_of(nested))),
            "core f\nclock base\nclock c2 = base on %0\nclock c3 = c2 on not %4\n"
            "%0: bool = input 0                      c\n%1: i32 = input 1                       x\n"
            "%2: i32 on c2 = when %0 %1\n%3: i32 = const 3\n%4: bool on c2 = gt %2 %3\n"
            "%5: i32 on c3 = when not %4 %2\n%6: i32 on c3 = add %5 %5\n%7: i32 on c3 = mul %6 %5\n"
            "input c = %0\ninput x = %1\noutput y = %7\n");
}

TEST(Overloaded, PicksTheAlternative) {
  const std::variant<int, bool> which = true;
  EXPECT_EQ(std::visit(Overloaded{[](int) { return "int"; }, [](bool) { return "bool"; }}, which), std::string("bool"));
}

}  // namespace
}  // namespace rml
