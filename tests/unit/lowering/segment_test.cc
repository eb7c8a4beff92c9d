// The result of each pass over small segments, worked out by hand, and segments that `verify`
// refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "lowering/schedule/schedule_text.h"
#include "lowering/segment/assign_homes.h"
#include "lowering/segment/batch_in_time.h"
#include "lowering/segment/defer.h"
#include "lowering/segment/sink.h"

namespace rml {
namespace {

// s = x + (0 fby s);  o = if end then s else s * (1 - s) * post o
const char* const recurrence = R"(form schedule 1
core main
clock base
clock c2 = base on not %0
clock c3 = base on %0
%0: bool = input 0                      end
%1: f32[4] = input 1                    x
%2: f32[4] = const all 0
%3: f32[4] = fby %2 %4
%4: f32[4] = add %1 %3                  s
%5: f32 = const 1
%6: f32[4] on c2 = when not %0 %4
%7: f32[4] on c2 = sub %5 %6
%8: f32[4] on c3 = when %0 %4
%9: f32[4] on c2 = mul %6 %7
%10: f32[4] = post %13
%11: f32[4] on c2 = when not %0 %10
%12: f32[4] on c2 = mul %9 %11
%13: f32[4] = merge %0 %8 %12           o
input end = %0
input x = %1
output o = %13
end
unit 0 forward on base
  reads %0
  reads %1
  value %3
  value %4
  value %8
  value %6
  value %7
  value %9
unit 1 segmented on base
  reads %0
  reads %8
  reads %9
  value %10
  value %11
  value %12
  value %13
  ends %0
  cut %0
  sweep forward
  sweep backward
    %10 at first interior
    %11 at first interior
    %12 at first interior
    %13
)";

Segments planned(const char* text) {
  TextFault fault;
  auto arranged = read_schedule(text, fault);
  EXPECT_TRUE(arranged) << to_string(fault, text);
  Segments segments = plan_segments(std::move(*arranged));
  EXPECT_EQ(verify(segments), "");
  return segments;
}

Segments finished(const char* text) {
  Segments s = sink(defer(planned(text), {}, Target()));
  EXPECT_EQ(verify(s), "");
  s = sink(batch_in_time(std::move(s), Target()));
  EXPECT_EQ(verify(s), "");
  s = assign_homes(std::move(s));
  EXPECT_EQ(verify(s), "");
  return s;
}

// Finds a value of the scheduled core by the user's name, or by its operator.
ValueId find(const Segments& s, const std::string& what) {
  const Core& core = *s.schedule.core;
  for (std::size_t v = 0; v < core.values.size(); ++v) {
    const auto* a = std::get_if<core::Apply>(&core.values[v].rhs);
    const bool in_segment = s.schedule.unit_of[v] == s.list[0].unit;
    if (in_segment && (core.values[v].name == what || (a != nullptr && operators()[a->op].name == what)))
      return ValueId{v};
  }
  ADD_FAILURE() << "no " << what;
  return {};
}

TEST(Segment, ThePlanHasALeadingSweepThatOnlyTakesOperands) {
  const Segments s = planned(recurrence);
  ASSERT_EQ(s.list.size(), 1u);
  const Segment& segment = s.list[0];
  ASSERT_EQ(segment.sweeps.size(), 2u);
  EXPECT_TRUE(segment.sweeps[0].items.empty());
  EXPECT_TRUE(segment.sweeps[1].backward);
  EXPECT_EQ(segment.sweeps[1].items.back().value, find(s, "o"));
  EXPECT_TRUE(segment.memories.empty());
  EXPECT_TRUE(segment.homes.empty());
}

// The sweep reads `end` at every instant, s only at the end (so one element suffices), and the
// other factor elsewhere.
TEST(Segment, WhatTheBackwardSweepReadsIsKept) {
  const Segments s = finished(recurrence);
  const Segment& segment = s.list[0];
  std::map<Home::Kind, int> kinds;
  for (const auto& [v, home] : segment.homes) ++kinds[home.kind];
  EXPECT_EQ(kinds[Home::cell], 1);
  EXPECT_EQ(kinds[Home::array], 3);  // the arrays of end, of the factor, and of o for its rows
  EXPECT_EQ(segment.homes.at(find(s, "o")).kind, Home::array);
}

TEST(Segment, TheCutIsAValueOfTheCore) {
  const Segments s = planned(recurrence);
  EXPECT_EQ((*s.schedule.core)[s.schedule.units[s.list[0].unit].cut].name, "end");
}

// The changes that make a correct segment wrong, by name.
struct Mutation {
  const char* name;
  std::function<void(Segments&)> change;
};

class Mutated : public ::testing::TestWithParam<Mutation> {};

TEST_P(Mutated, IsRefused) {
  Segments s = finished(recurrence);
  GetParam().change(s);
  EXPECT_NE(verify(s), "") << GetParam().name;
}

std::vector<SweepItem>& backward(Segments& s) { return s.list[0].sweeps[1].items; }

INSTANTIATE_TEST_SUITE_P(
    Segment, Mutated,
    ::testing::Values(
        Mutation{"operands_after_their_user", [](Segments& s) { std::ranges::reverse(backward(s)); }},
        Mutation{"a_value_twice", [](Segments& s) { backward(s).push_back(backward(s).back()); }},
        Mutation{"no_instant", [](Segments& s) { backward(s).back().classes = 0; }},
        Mutation{"the_other_way", [](Segments& s) { s.list[0].sweeps[1].backward = false; }},
        Mutation{"a_leading_sweep_backward", [](Segments& s) { s.list[0].sweeps[0].backward = true; }},
        Mutation{"in_the_leading_sweep",
                 [](Segments& s) {
                   s.list[0].sweeps[0].items.push_back(backward(s).back());
                   backward(s).pop_back();
                   s.list[0].sweeps[0].items.insert(s.list[0].sweeps[0].items.end(), backward(s).begin(),
                                                    backward(s).end());
                 }},
        Mutation{"a_foreign_value", [](Segments& s) { backward(s).push_back({s.schedule.units[0].values[0]}); }},
        Mutation{"no_home",
                 [](Segments& s) {
                   std::erase_if(s.list[0].homes, [](const auto& h) { return h.second.kind == Home::cell; });
                 }},
        Mutation{"a_home_with_nobody",
                 [](Segments& s) { s.list[0].homes.begin()->second = {Home::memory, s.list[0].homes.begin()->first}; }},
        Mutation{"a_memory_that_is_none", [](Segments& s) { s.list[0].memories[find(s, "o")] = {}; }},
        Mutation{"a_product_in_no_sweep", [](Segments& s) { s.list[0].products[ValueId{0}] = {}; }},
        Mutation{"a_product_before_its_matrix",
                 [](Segments& s) { s.list[0].products[backward(s)[0].value].a.value = find(s, "o"); }},
        Mutation{"a_unit_that_is_not_segmented", [](Segments& s) { s.list[0].unit = 0; }},
        Mutation{"no_segment", [](Segments& s) { s.list.clear(); }}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace rml
