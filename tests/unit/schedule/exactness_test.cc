// Programs whose schedule writes every row when it is determined, and programs whose schedule
// does not, for a reason that is found by hand.
#include <gtest/gtest.h>

#include "compiler/pipeline.h"
#include "lowering/schedule/check/exactness.h"

namespace rml {
namespace {

std::optional<Inexact> inexact(const std::string& text, Segmenting how = {}) {
  Session session{Resources{RML_TESTS "/../stdlib"}};
  const Front front = check_text(session, "test.rml", text);
  const auto entry = find_entry(session, front);
  if (!entry) throw std::runtime_error("no entry in " + text);
  const auto elaborated = elaborate(session, front, *entry, {}, session.diagnostics);
  if (!elaborated) throw std::runtime_error("errors in " + text);
  const auto schedule = schedule_core(session, *elaborated->core, how, session.diagnostics);
  if (!schedule) throw std::runtime_error("no schedule of " + text);
  return find_inexact(*elaborated->core, *schedule);
}

void expect(const std::string& text, Inexact::Kind kind, const std::string& why) {
  const auto found = inexact(text);
  ASSERT_TRUE(found) << text;
  EXPECT_EQ(found->kind, kind) << text;
  EXPECT_EQ(found->why + " | " + found->where, why) << text;
}

TEST(Exactness, Exact) {
  for (const char* text : {
           "node main(x: f64) -> (y: f64)\n  y = 0.0 fby y + x;\n",
           "node main(e: bool, x: f64) -> (y: f64)\n  y = backfill(x, e);\n",
           "node main(e: bool, x: f64) -> (g: f64)\n  g = x + 0.5 * post_end(e, 0.0, g);\n",
           // Two ends: the condition is true if either is.
           "node main(done: bool, cut: bool, r: f64) -> (g: f64)\n  end = done or cut;\n"
           "  g = r + 0.5 * post_end(end, 0.0, g);\n",
           "node main(done: bool, x: f64) -> (y: f64)\n  n = 0 fby (if n == 1 then 0 else n + 1);\n"
           "  y = backfill(x, done or n == 1);\n",
           // Two segments, one after the other; the second ends with the first, or later.
           "node main(e: bool, b: bool, x: f64) -> (g: f64, h: f64)\n  g = x + post_end(e, 0.0, g);\n"
           "  h = backfill(g, b);\n",
           // The end of a segment is known one cycle later.
           "node main(r: bool, x: f64) -> (y: f64)\n  y = x + (if post r then 0.0 else post y);\n",
           "node main(id: i32, x: f64) -> (y: f64)\n  y = backfill(x, id != post id);\n",
           "node main(e: bool, x: f64) -> (y: f64)\n  y = post (if e then x else y);\n",
           // Both branches look ahead.
           "node main(e: bool, l: i32, a: i32, b: i32) -> (y: i32)\n"
           "  y = if e then l else if (post y) == 0 then post a else post b;\n",
       })
    EXPECT_FALSE(inexact(text)) << text << inexact(text)->why;
}

// A computed cut needs no assumption where a literal would.
TEST(Exactness, ComputedCuts) {
  for (const char* text : {
           "node main(e: bool, q: bool, x: f64) -> (y: f64)\n"
           "  y = if q then (if e then x else post y) else post y;\n",
           "node main(done: bool, cut: bool, r: f64) -> (g: f64)\n  end = done or cut;\n"
           "  g = r + 0.5 * post_end(end, 0.0, g);\n",
           "node main(c: bool, e: bool, x: f64) -> (y: f64)\n  y = if c then x else backfill(x, e);\n",
           "node main(done: bool, x: f64) -> (y: f64)\n  n = 0 fby (if n == 1 then 0 else n + 1);\n"
           "  y = backfill(x, done or n == 1);\n",
       })
    EXPECT_FALSE(inexact(text, {Ends::by_need})) << text << inexact(text, {Ends::by_need})->why;
}

// A value that waits for no other leads, even after values that wait for the end of a segment.
TEST(Exactness, SharedWindows) {
  const std::string held =
      "node held(e: bool, x: f64) -> (y: f64)\n  y = param_end(e, param(0.5)) * x;\n"
      "node main(e: bool, x: f64) -> (y: f64)\n  y, _ = diff held(e, x, true, -0.1);\n";
  const std::string by_hand =
      "node main(e: bool, x: f64) -> (y: f64)\n  dw = x + post_end(e, 0.0, dw);\n  first = true fby e;\n"
      "  p = 0.5 fby (if first then p - dw else p);\n  w = if first then p else (0.0 fby w);\n  y = w * x;\n";
  for (const std::string& text : {held, by_hand}) {
    const auto apart = inexact(text);
    ASSERT_TRUE(apart) << text;
    EXPECT_EQ(apart->kind, Inexact::withheld) << text;
    EXPECT_FALSE(inexact(text, {Ends::plain, Windows::wide})) << text;
  }
  // The Booleans of the gradient are a component of their own.
  const std::string sometimes =
      "node held(e: bool, x: f64) -> (y: f64)\n  y = tanh(param_end(e, param(0.5)) * x);\n"
      "node main(e: bool, q: bool, x: f64) -> (y: f64)\n  y, _ = diff held(e, x, q, -0.1 when q);\n";
  EXPECT_TRUE(inexact(sometimes));
  EXPECT_FALSE(inexact(sometimes, {Ends::plain, Windows::shared}));
}

// All conditions together have too many states, but each column depends on few.
TEST(Exactness, ColumnByColumn) {
  std::string inputs, outputs, equations;
  for (int k = 0; k < 16; ++k) {
    const std::string n = std::to_string(k), separator = k == 0 ? "" : ", ";
    inputs += separator + "e" + n + ": bool, x" + n + ": f64";
    outputs += separator + "y" + n + ": f64";
    equations += "  y" + n + " = backfill(x" + n + ", e" + n + " or e" + std::to_string((k + 1) % 16) + ");\n";
  }
  EXPECT_FALSE(inexact("node main(" + inputs + ") -> (" + outputs + ")\n" + equations));
}

TEST(Exactness, Assumptions) {
  expect(
      "node main(end: bool, learn: bool, x: f64) -> (o: f64)\n"
      "  p = 0.5 fby (p + merge learn g 0.0);\n  start = true fby end;\n"
      "  o = x + if start then p else (0.0 fby o);\n  late = end when learn;\n"
      "  d = (-0.1 * o when learn) + merge late 0.0 ((post d) when not late);\n"
      "  first = start when learn;\n  g = merge first (d when first) 0.0;\n",
      Inexact::assumption,
      "`learn` may not become true again before `end` does, although a value waits for it | not `end`, `learn`; "
      "not `learn`, `end`");
}

TEST(Exactness, RowsThatAreWithheld) {
  const std::string there = "` may be known earlier than the schedule writes it | ";
  // If the branch is not taken, nothing has to wait for the segment.
  expect("node main(c: bool, e: bool, x: f64) -> (y: f64)\n  y = if c then x else backfill(x, e);\n", Inexact::withheld,
         "a row of `y" + there + "not `e`, `c`");
  // The first value is needed at the first cycle only.
  expect("node main(e: bool, x: f64) -> (y: f64)\n  y = backfill(x, e) fby x;\n", Inexact::withheld,
         "a row of `y" + there + "`e`; not `e`");
  // v1 of the second cycle is known and that of the first is not, but one stream delivers them in
  // order.
  expect(
      "node main(q: bool, c: bool, x: f64, z: f64) -> (v0: f64)\n  v0 = if c then x else post v1;\n"
      "  v1 = merge q (post (z when q)) (z when not q);\n",
      Inexact::withheld, "a row of `v0" + there + "not `c`, `q`; not `q`, `c`");
  expect("node main(x: f64) -> (y: f64)\n  y = (x + 1.0) fby (post x);\n", Inexact::withheld,
         "a row of `y" + there + "-");
}

// A value that is computed a cycle later because it may look ahead is withheld if it does not; at
// the start it may be.
TEST(Exactness, RowsThatAreBehind) {
  expect("node main(c: bool, x: f64) -> (y: f64)\n  y = if c then x else post z;\n  z = 0.0 fby (0.0 fby y);\n",
         Inexact::withheld, "a row of `y` may be known earlier than the schedule writes it | ");
  EXPECT_FALSE(
      inexact("node main(x: f64) -> (k: f64)\n  k = 1.0 fby (k + d);\n  d = (post k2) * x;\n"
              "  k2 = 0.0 fby (0.0 fby k);\n"));
}

}  // namespace
}  // namespace rml
