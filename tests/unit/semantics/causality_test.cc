// Finds the values of a core that need themselves within an instant, from core text.
#include <gtest/gtest.h>

#include "semantics/time/causality.h"
#include "semantics/values/formulas.h"

namespace rml {
namespace {

// Returns the report with all its hops.
std::string told(const std::string& values, const std::string& clocks = "") {
  std::string error;
  const auto core = read_core("core f\ninstance 0 node 0 @1:1-2\nclock base\n" + clocks + values, error);
  EXPECT_TRUE(core) << error;
  if (!core) return error;
  EXPECT_EQ(verify(*core), "");
  Diagnostics diagnostics;
  check_causality(*core, diagnostics);
  std::string text;
  for (const Diagnostic& d : diagnostics.all()) {
    EXPECT_EQ(d.code, Code::E0501);
    for (const std::string& note : d.notes)
      if (note.find("needs") != std::string::npos) text += note + "; ";
  }
  return text;
}

const std::string on_c = "clock c2 = base on %0\nclock c3 = base on not %0\n";
const std::string inputs = "%0: bool = input 0  c #0\n%1: i32 = input 1  x #0\n";
const std::string ports = "input c = %0\ninput x = %1\n";

TEST(Causality, OperatorsAreStrict) {
  EXPECT_EQ(told(inputs + "%2: bool = logical_or %0 %2  seen #0\n" + ports), "`seen` needs `seen` at the same cycle; ");
}

TEST(Causality, LoopsThatNobodyLooksAt) {
  EXPECT_EQ(told(inputs + "%2: i32 = add %1 %3  a #0\n%3: i32 = add %1 %2  b #0\n" + ports),
            "`a` needs `b` at the same cycle; `b` needs `a` at the same cycle; ");
}

TEST(Causality, DelaysBreakThem) {
  EXPECT_EQ(told(inputs + "%2: i32 = const 0\n%3: i32 = fby %2 %4\n%4: i32 = add %3 %1  a #0\n" + ports), "");
  EXPECT_EQ(told(inputs + "%2: i32 = post %3\n%3: i32 = add %2 %1  a #0\n" + ports), "");
}

TEST(Causality, BranchesThatExcludeEachOther) {
  const std::string swap =
      "%2: i32 on c2 = when %0 %6\n%3: i32 on c3 = when not %0 %1\n%4: i32 = merge %0 %2 %3  a #0\n"
      "%5: i32 on c3 = when not %0 %4\n%6: i32 = merge %0 %7 %5  b #0\n%7: i32 on c2 = when %0 %1\n";
  EXPECT_EQ(told(inputs + swap + ports, on_c), "");
  const std::string same =
      "%2: i32 on c2 = when %0 %5\n%3: i32 on c3 = when not %0 %1\n%4: i32 = merge %0 %2 %3  a #0\n"
      "%5: i32 = merge %0 %6 %3  b #0\n%6: i32 on c2 = when %0 %4\n";
  EXPECT_EQ(told(inputs + same + ports, on_c),
            "`a` needs `b` at the same cycle, if `c`; `b` needs `a` at the same cycle, if `c`; ");
}

TEST(Formulas, DefinedByThemselves) {
  Formulas f;
  const auto d = f.letter(), q = f.letter(), v = f.variable();
  // v = if d then w else q; w = if d then q else v
  const auto w = f.choice(d, q, v);
  f.define(v, f.choice(d, w, q));
  const auto stuck = f.variable();
  f.define(stuck, !stuck);
  const std::vector<Formulas::Formula> all{v, w, stuck};
  const auto cone = f.cone(all);
  std::vector<Truth> values(f.size(), Truth::unseen);
  for (const Truth truth : {Truth::yes, Truth::no}) {
    values[d.node()] = truth;
    values[q.node()] = Truth::yes;
    f.evaluate(cone, values);
    EXPECT_EQ(Formulas::value(v, values), Truth::yes);
    EXPECT_EQ(Formulas::value(!w, values), Truth::no);
    EXPECT_EQ(Formulas::value(stuck, values), Truth::unseen);
    EXPECT_EQ(f.undecided(stuck, values), 0u);
  }
  values[d.node()] = Truth::unseen;
  f.evaluate(cone, values);
  EXPECT_EQ(f.undecided(v, values), d.node());
}

TEST(Formulas, EqualOnesAreOne) {
  Formulas f;
  const auto a = f.letter(), b = f.letter();
  EXPECT_EQ(f.both(a, !a), Formulas::no);
  EXPECT_EQ(f.either(a, !a), Formulas::yes);
  EXPECT_EQ(f.both(a, b), f.both(b, a));
  EXPECT_EQ(f.same(a, a), Formulas::yes);
  EXPECT_EQ(!f.both(!a, !b), f.either(a, b));
}

}  // namespace
}  // namespace rml
