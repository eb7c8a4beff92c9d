// The automata of small cores, worked out by hand: the number of states, and the questions of a
// row on every path.
#include <gtest/gtest.h>

#include <set>

#include "semantics/crossing/explore.h"
#include "semantics/crossing/look_ahead.h"
#include "semantics/crossing/productive.h"

namespace rml {
namespace {

// A core, its equations and its automaton; a row consists of the outputs.
struct Explored {
  explicit Explored(const std::string& values, const std::string& clocks = "", const CrossingLimits& limits = {}) {
    std::string error;
    core = read_core("core f\ninstance 0 node 0 @1:1-2\nclock base\n" + clocks + values, error).value_or(Core{});
    EXPECT_EQ(error, "");
    EXPECT_EQ(verify(core), "");
    conditions.emplace(core);
    LookAhead look_ahead(core, *conditions, crossings);
    std::vector<Crossings::Node> columns;
    for (const Port& o : core.outputs) columns.push_back(look_ahead.of_column(o.value));
    CrossingRoots roots;
    roots.row = crossings.all(std::move(columns));
    conditions->close();
    automaton = CrossingAutomaton::explore(crossings, *conditions, roots, limits);
  }

  // The questions of a row on each edge of a state, for example "c asks none, all 2 to 1": for
  // the row, and for all rows so far.
  std::set<std::string> rows(std::uint32_t state) {
    std::set<std::string> found;
    for (const std::uint32_t e : automaton->from(state)) {
      const CrossingAutomaton::Edge& edge = automaton->edges()[e];
      std::string text;
      for (const auto& [v, holds] : edge.letters) text += (holds ? "" : "not ") + describe(core, v) + " ";
      found.insert(text + "asks" + set(edge.row) + ", all" + set(edge.asked) + " to " + std::to_string(edge.to));
    }
    return found;
  }
  std::string set(PortSet s) {
    std::string text;
    for (const PortId p : automaton->sets().members(s)) text += " " + std::to_string(p);
    return text.empty() ? " none" : text;
  }

  Core core;
  std::optional<Conditions> conditions;
  Crossings crossings;
  std::optional<CrossingAutomaton> automaton;
};

using Rows = std::set<std::string>;

const std::string on_real_c = "clock c2 = base on %0\nclock c3 = base on not %0\n";
const std::string real_inputs = "%0: bool = input 0  c #0\n%1: f64 = input 1  x #0\n";
const std::string real_ports = "input c = %0\ninput x = %1\n";

// The program is y = if c then x else post y.
TEST(Crossings, BackwardRecurrence) {
  Explored e(real_inputs +
                 "%2: f64 on c2 = when %0 %1\n%3: f64 = post %5\n%4: f64 on c3 = when not %0 %3\n"
                 "%5: f64 = merge %0 %2 %4  y #0\n" +
                 real_ports + "output y = %5\n",
             on_real_c);
  ASSERT_TRUE(e.automaton);
  EXPECT_EQ(e.automaton->states(), 2U);
  EXPECT_EQ(e.rows(0), (Rows{"c asks none, all none to 0", "not c asks 2, all 2 to 1"}));
  EXPECT_EQ(e.rows(1), (Rows{"c asks none, all none to 0", "not c asks 2, all 2 to 1"}));
}

// s = 0 fby (s + post x): every row is known at its own instant, so no row asks a question.
TEST(Crossings, MemoriesOfWhatLooksAhead) {
  Explored e(real_inputs + "%2: f64 = const 0\n%3: f64 = fby %2 %5  s #0\n%4: f64 = post %1\n%5: f64 = add %3 %4\n" +
             real_ports + "output s = %3\n");
  ASSERT_TRUE(e.automaton);
  for (const CrossingAutomaton::Edge& edge : e.automaton->edges()) EXPECT_TRUE(edge.row.empty());
}

// post (post x): one row asks through two ports, one after the other.
TEST(Crossings, BoundedLookAhead) {
  Explored e(real_inputs + "%2: f64 = post %1\n%3: f64 = post %2\n" + real_ports + "output y = %3\n");
  ASSERT_TRUE(e.automaton);
  EXPECT_EQ(e.rows(0), (Rows{"asks 3, all 3 to 1"}));
  EXPECT_EQ(e.rows(1), (Rows{"asks 3, all 2 3 to 2"}));
  EXPECT_EQ(e.rows(2), (Rows{"asks 3, all 2 3 to 2"}));
  const auto& edge = e.automaton->edges()[e.automaton->from(1)[0]];
  EXPECT_EQ(e.set(edge.through.of[3]), " 2");
}

// In post (x when c), a row waits until the clock ticks.
TEST(Crossings, SampledLookAhead) {
  Explored e(real_inputs + "%2: f64 on c2 = when %0 %1\n%3: f64 on c2 = post %2\n" + real_ports + "output y = %3\n",
             on_real_c);
  ASSERT_TRUE(e.automaton);
  EXPECT_EQ(e.rows(0), (Rows{"c asks 2, all 2 to 1", "not c asks none, all none to 0"}));
  EXPECT_EQ(e.rows(1), (Rows{"c asks 2, all 2 to 1", "not c asks none, all 2 to 1"}));
}

// if true fby c then x else post x, with c: the automaton follows the memory.
TEST(Crossings, BooleanMemories) {
  Explored e(real_inputs +
                 "%2: bool = const T\n%3: bool = fby %2 %0  d #0\n%4: f64 on c2 = when %3 %1\n%5: f64 = post %1\n"
                 "%6: f64 on c3 = when not %3 %5\n%7: f64 = merge %3 %4 %6\n" +
                 real_ports + "output y = %7\n",
             "clock c2 = base on %3\nclock c3 = base on not %3\n");
  ASSERT_TRUE(e.automaton);
  EXPECT_EQ(e.rows(0), (Rows{"c asks none, all none to 2", "not c asks none, all none to 1"}));
  EXPECT_EQ(e.rows(1), (Rows{"c asks 2, all 2 to 4", "not c asks 2, all 2 to 3"}));
}

// if post c then x else post y: a promise about c is kept, and a state that cannot keep it does
// not exist.
TEST(Crossings, Promises) {
  Explored e(real_inputs +
                 "%2: bool = post %0\n%3: f64 on c2 = when %2 %1\n%4: f64 = post %6\n%5: f64 on c3 = when not %2 %4\n"
                 "%6: f64 = merge %2 %3 %5  y #0\n" +
                 real_ports + "output y = %6\n",
             "clock c2 = base on %2\nclock c3 = base on not %2\n");
  ASSERT_TRUE(e.automaton);
  // The first edge promises that c is true; the second is impossible if c is false.
  for (const std::uint32_t first : e.automaton->from(0)) {
    const auto& edge = e.automaton->edges()[first];
    for (const std::uint32_t second : e.automaton->from(edge.to))
      EXPECT_EQ(e.automaton->edges()[second].letters.front().second, edge.letters.front().second);
  }
}

// The values x = post (0 fby x) and v = v + 1 need themselves.
TEST(Crossings, ValuesThatNeedThemselves) {
  Explored knot(real_inputs + "%2: f64 = const 0\n%3: f64 = fby %2 %4\n%4: f64 = post %3  y #0\n" + real_ports +
                "output y = %4\n");
  ASSERT_TRUE(knot.automaton);
  const auto has = [](Explored& of, PortId p) {
    bool found = false;
    for (const auto& edge : of.automaton->edges()) found = found || of.automaton->sets().contains(edge.asked, p);
    return found;
  };
  EXPECT_TRUE(has(knot, itself_in_time));
  EXPECT_FALSE(has(knot, itself_at_once));
  Explored ring(real_inputs + "%2: f64 = const 1\n%3: f64 = add %3 %2  v #0\n" + real_ports + "output v = %3\n");
  ASSERT_TRUE(ring.automaton);
  EXPECT_TRUE(has(ring, itself_at_once));
}

// A counter without inputs is simulated: k = 0 fby (if k == 2 then 0 else k + 1); y = if k == 2
// then x else post y.
TEST(Crossings, WhatHangsOnNoInputRepeatsItself) {
  Explored e(real_inputs +
                 "%2: i32 = const 0\n%3: i32 = fby %2 %9  k #0\n%4: i32 = const 2\n%5: bool = eq %3 %4  last #0\n"
                 "%6: i32 = const 1\n%7: i32 = add %3 %6\n%8: i32 on c3 = when not %5 %7\n%9: i32 = merge %5 %2 %8\n"
                 "%10: f64 on c2 = when %5 %1\n%11: f64 = post %13\n%12: f64 on c3 = when not %5 %11\n"
                 "%13: f64 = merge %5 %10 %12  y #0\n" +
                 real_ports + "output y = %13\n",
             "clock c2 = base on %5\nclock c3 = base on not %5\n");
  ASSERT_TRUE(e.automaton);
  EXPECT_EQ(e.rows(0), (Rows{"asks 2, all 2 to 1"}));
  EXPECT_EQ(e.rows(1), (Rows{"asks 2, all 2 to 2"}));
  EXPECT_EQ(e.rows(2), (Rows{"asks none, all none to 3"}));
  EXPECT_EQ(e.rows(3), (Rows{"asks 2, all 2 to 1"}));  // like state 0, except that the counter has begun
}

Knowable knowable(const std::string& values, const std::string& clocks = "") {
  std::string error;
  const auto core = read_core("core f\ninstance 0 node 0 @1:1-2\nclock base\n" + clocks + values, error);
  EXPECT_EQ(error, "");
  return core ? find_unknown_rows(*core) : Knowable{};
}

TEST(UnknownRows, ARecurrenceWithoutEnd) {
  const Knowable found =
      knowable(real_inputs + "%2: f64 = post %3\n%3: f64 = add %2 %1  y #0\n" + real_ports + "output y = %3\n");
  EXPECT_EQ(found.unknown_row, 0U);
  EXPECT_EQ(found.posts, (std::vector<ValueId>{ValueId{2U}}));
  EXPECT_FALSE(found.knot);
}

// y = if d then x else post y, where d = true fby false: only the first row is known.
TEST(UnknownRows, WhatEndsAtTheFirstCycleOnly) {
  const Knowable found = knowable(real_inputs +
                                      "%2: bool = const T\n%3: bool = const F\n%4: bool = fby %2 %3  d #0\n"
                                      "%5: f64 on c2 = when %4 %1\n%6: f64 = post %8\n%7: f64 on c3 = when not %4 %6\n"
                                      "%8: f64 = merge %4 %5 %7  y #0\n" +
                                      real_ports + "output y = %8\n",
                                  "clock c2 = base on %4\nclock c3 = base on not %4\n");
  EXPECT_EQ(found.unknown_row, 1U);
}

// c may be true at some cycle; `c and not c` never is.
TEST(UnknownRows, WhatMayHold) {
  const std::string text = "%2: bool = logical_not %0\n%3: bool = logical_and %0 %2\n%4: bool = fby %3 %0\n" +
                           real_ports + "output o = %4\n";
  std::string error;
  const Core core =
      read_core("core f\ninstance 0 node 0 @1:1-2\nclock base\n" + real_inputs + text, error).value_or(Core{});
  ASSERT_EQ(error, "");
  EXPECT_TRUE(can_hold(core, {ValueId{0U}, true}));
  EXPECT_FALSE(can_hold(core, {ValueId{3U}, true}));
  EXPECT_TRUE(can_hold(core, {ValueId{3U}, false}));
  EXPECT_TRUE(can_hold(core, {ValueId{4U}, true}));
}

TEST(Crossings, ABudgetIsKept) {
  const Explored e(real_inputs + "%2: f64 = post %1\n%3: f64 = post %2\n" + real_ports + "output y = %3\n", "",
                   {.states = 2});
  EXPECT_FALSE(e.automaton);
}

// Two recurrences with one end are merged, a third one with another end is not. A part contains
// only its dependences.
TEST(Crossings, WhatIsAlikeIsOne) {
  std::string error;
  const std::string text =
      "core f\ninstance 0 node 0 @1:1-2\nclock base\nclock c2 = base on not %0\nclock c3 = base on not %1\n"
      "%0: bool = input 0  c #0\n%1: bool = input 1  d #0\n%2: f64 = input 2  x #0\n%3: f64 = const 0\n"
      "%4: f64 = post %6\n%5: f64 on c2 = when not %0 %4\n%6: f64 = merge %0 %3 %5  a #0\n"
      "%7: f64 = post %10\n%8: f64 on c2 = when not %0 %7\n%9: f64 = merge %0 %3 %8\n%10: f64 = add %9 %2  b #0\n"
      "%11: f64 = post %13\n%12: f64 on c3 = when not %1 %11\n%13: f64 = merge %1 %3 %12  e #0\n"
      "input c = %0\ninput d = %1\ninput x = %2\noutput a = %6\noutput b = %10\noutput e = %13\n";
  const Core core = read_core(text, error).value_or(Core{});
  ASSERT_EQ(error, "");
  Conditions conditions(core);
  Crossings crossings;
  LookAhead look_ahead(core, conditions, crossings);
  std::vector<Crossings::Node> roots;
  for (const Port& o : core.outputs) roots.push_back(look_ahead.of_column(o.value));
  conditions.close();
  const std::vector<CrossingPart> parts = parts_of(crossings, conditions, roots);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].roots[0], parts[0].roots[1]);
  EXPECT_EQ(parts[0].roots[2], Crossings::none);
  EXPECT_NE(parts[1].roots[2], Crossings::none);
  EXPECT_EQ(parts[0].crossings.ports(), first_port + 1U);
}

TEST(PortSets, AreKeptOnce) {
  PortSets sets(200);
  const PortSet a = sets.unite(sets.one(3), sets.one(150)), b = sets.unite(sets.one(150), sets.one(3));
  EXPECT_EQ(a, b);
  EXPECT_EQ(sets.unite(a, sets.one(3)), a);
  EXPECT_EQ(sets.members(a), (std::vector<PortId>{3, 150}));
  EXPECT_TRUE(sets.intersect(a, sets.one(150)));
  EXPECT_FALSE(sets.intersect(a, sets.one(86)));
}

}  // namespace
}  // namespace rml
