// Compares the denotation with another evaluator, and with values found by hand for programs that
// the other cannot run.
#include "rows/denotation.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/read_file.h"
#include "driver/checks/compare_chronograms.h"
#include "rows/subject.h"

namespace rml::fuzz {
namespace {

// Returns the text between two words; up to the end if the second is missing.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t at = text.find(begin);
  if (at == std::string::npos) return "";
  const std::size_t from = at + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

std::vector<std::string> blocks(const std::string& text, const std::string& mark) {
  std::vector<std::string> list;
  for (std::size_t at = text.find(mark); at != std::string::npos;) {
    const std::size_t next = text.find(mark, at + mark.size());
    list.push_back(text.substr(at + mark.size(), next == std::string::npos ? next : next - at - mark.size()));
    at = next;
  }
  return list;
}

Chronogram read_outputs(const Core& core, const std::string& text) {
  std::vector<ChronogramPort> ports;
  for (const Port& port : core.outputs) ports.push_back({port.name, core[port.value].dtype, core[port.value].shape});
  std::string error;
  auto rows = read_chronogram(text, ports, error);
  EXPECT_TRUE(rows) << error;
  return rows.value_or(Chronogram{});
}

std::string counts(const Determined& found) {
  std::string text;
  for (const std::int64_t n : found.after) text += " " + std::to_string(n);
  return text;
}

// A program with inputs.
struct Case {
  Case(const std::string& source, const std::string& text) : subject(Subject::text, source) {
    std::string error;
    inputs = subject.read_inputs(text, error);
    EXPECT_EQ(error, "");
    cycles = static_cast<std::int64_t>(inputs.at(0).cells.size());
    found = determine(*subject.core(), inputs, cycles);
  }
  Denotation denotation() const {
    Denotation all(*subject.core());
    for (std::int64_t n = 0; n < cycles; ++n) {
      std::vector<Cell> row;
      for (const ChronogramRow& input : inputs) row.push_back(input.cells[static_cast<std::size_t>(n)]);
      all.push(std::move(row));
    }
    return all;
  }
  Subject subject;
  Chronogram inputs;
  std::int64_t cycles = 0;
  Determined found;
};

// True if some row needs itself, even if rows before it are unknown.
bool some_row_needs_itself(const Denotation& all) {
  for (std::int64_t n = 0; n < all.pushed(); ++n)
    if (all.why(n) == Denotation::Why::needs_itself) return true;
  return false;
}

// expected_rows.py writes the file.
TEST(Denotation, AgreesWithAnotherEvaluator) {
  std::string error;
  const auto text = read_file(RML_ROWS "/expected_rows.txt", error);
  ASSERT_TRUE(text) << error;
  const std::vector<std::string> cases = blocks(*text, "=== ");
  EXPECT_EQ(cases.size(), 160u);
  for (const std::string& block : cases) {
    const std::string source = between(block, "\n", "--- in\n");
    const Case c(source, between(block, "--- in\n", "--- out\n"));
    const std::string expected = between(block, "--- out\n", "=== ");
    EXPECT_EQ(counts(c.found), between(expected, "-- after |", "\n")) << source;
    constexpr double tolerance = 1e-9;
    EXPECT_EQ(difference(read_outputs(*c.subject.core(), expected), c.found.outputs, tolerance), "") << source;
    EXPECT_EQ(some_row_needs_itself(c.denotation()), block.starts_with("needs itself")) << source;
  }
}

TEST(Denotation, SaysWhyARowIsNotKnown) {
  const Case ahead("node main(e: bool, x: f64) -> (y: f64)\n  y = backfill(x, e);\n", "e | T F\nx | 1 2\n");
  EXPECT_EQ(counts(ahead.found), " 1 1");
  EXPECT_EQ(ahead.found.next, Denotation::Why::looks_ahead);
  // A value that needs itself and also looks ahead is never known.
  const Case both("node main(e: bool, x: f64) -> (y: f64)\n  v = if e then x else v;\n  y = v + post x;\n",
                  "e | T F T\nx | 1 2 3\n");
  EXPECT_EQ(counts(both.found), " 0 1 1");
  EXPECT_EQ(both.found.next, Denotation::Why::needs_itself);
  EXPECT_EQ(both.found.knot, (std::vector<std::string>{"v at 1", "v when not e at 1"}));
}

TEST(Denotation, FindsKnotsThroughOtherInstants) {
  const Case c("node main(x: f64) -> (y: f64)\n  y = post (x fby y);\n", "x | 1 2 3\n");
  EXPECT_EQ(counts(c.found), " 0 0 0");
  EXPECT_EQ(c.found.next, Denotation::Why::needs_itself);
  EXPECT_TRUE(c.found.knotted);
}

TEST(Denotation, IsNotLateForWhatNobodyAsksFor) {
  const Case c("node main(e: bool, x: f64) -> (y: f64)\n  y = if e then x else 0.0 fby x;\n  v = backfill(v, e);\n",
               "e | F T\nx | 1 2\n");
  EXPECT_EQ(counts(c.found), " 1 2");
  EXPECT_TRUE(c.found.knotted);
}

TEST(Denotation, KnowsSomeOfARowBeforeItsInputs) {
  const Case c(
      "node main(e: bool, x: f64) -> (y: f64, z: f64, s: f64, t: f64)\n  y = 1.0 fby x;\n  z = y + x;\n"
      "  s = if (true fby e) then 0.5 else x;\n  t = post_end(e, y, t);\n",
      "e | T F T\nx | 5 6 7\n");
  EXPECT_EQ(counts(c.found), " 1 1 3");
  EXPECT_EQ(print_chronogram(c.found.leads), "y |   1   5 ?\nz |   ?   ? ?\ns | 0.5 0.5 ?\nt |   ?   ? ?\n");
}

TEST(Denotation, StopsWhereAnOperatorFails) {
  const Case c("node main(a: i32) -> (y: i32)\n  y = 6 / a;\n", "a | 1 0 2\n");
  EXPECT_EQ(counts(c.found), " 1 1 1");
  EXPECT_EQ(c.found.next, Denotation::Why::fails);
  EXPECT_EQ(c.found.fault, 1);
}

TEST(Denotation, StopsWhereAnAssertionDoesNotHold) {
  const Case c("node main(a: i32) -> (y: i32)\n  assert a > 0;\n  y = a;\n", "a | 1 2 0\n");
  EXPECT_EQ(c.found.fault, 2);
}

TEST(Denotation, OfIterations) {
  const Case c(
      "node add(s: i32, e: i32) -> (n: i32, o: i32)\n  n = s + e;\n  o = n * 2;\n"
      "node main(x: i32[3]) -> (total: i32, sums: i32[3])\n  total, sums = scan add(0; x);\n",
      "x | [1,2,3] [4,5,6]\n");
  EXPECT_EQ(print_chronogram(c.found.outputs), "total |        6        15\nsums  | [2,6,12] [8,18,30]\n");
}

}  // namespace
}  // namespace rml::fuzz
