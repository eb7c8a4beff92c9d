// Reads the directives at the head of language tests.
#include "driver/checks/test_directives.h"

#include <gtest/gtest.h>

#include "tests/unit/temporary_folder.h"

namespace rml {
namespace {

std::optional<LanguageTest> read(const std::string& text, std::string& error) {
  const test::TemporaryFolder folder;
  return read_language_test(folder.write("given.rml", text), error);
}

TEST(TestDirectives, ARunWithOptions) {
  std::string error;
  const auto test = read("-- run: f --cycles 5 --seed 7 -D a=1 -D b=2\n-- stops: 3 \"by zero\"\n", error);
  ASSERT_TRUE(test) << error;
  ASSERT_EQ(test->runs.size(), 1u);
  const TestRun& run = test->runs[0];
  EXPECT_EQ(run.node, "f");
  EXPECT_EQ(run.cycles, 5);
  EXPECT_EQ(run.seed, 7u);
  EXPECT_EQ(run.definitions, (std::vector<std::string>{"a=1", "b=2"}));
  EXPECT_EQ(run.stop_cycle, 3);
  EXPECT_EQ(run.stop_text, "by zero");
  EXPECT_TRUE(run.output.string().ends_with("given.out.chron"));
}

TEST(TestDirectives, MarkersPointAtTheSourceLineAbove) {
  std::string error;
  const auto test =
      read("-- reject: E0301 \"types\"\nnode f(x) -> (o)\n  o = x + 1;\n--    ^^^^^\n--    ^ E0301\n", error);
  ASSERT_TRUE(test) << error;
  ASSERT_EQ(test->markers.size(), 2u);
  EXPECT_EQ(test->markers[0].line, 3u);
  EXPECT_EQ(test->markers[0].begin, 7u);
  EXPECT_EQ(test->markers[0].end, 12u);
  EXPECT_EQ(test->markers[1].line, 3u);
  EXPECT_EQ(test->markers[1].code, Code::E0301);
}

TEST(TestDirectives, OtherCommentsAreTheAuthors) {
  std::string error;
  const auto test = read("-- accept\n-- Note: this is prose.\n-- a long remark: with a colon\n", error);
  ASSERT_TRUE(test) << error;
  EXPECT_TRUE(test->accept);
}

TEST(TestDirectives, MistakesAreTold) {
  for (const char* text : {"", "node f() -> (o) o = 1;\n", "-- rejct: E0301\n-- accept\n", "-- reject: E9999\n",
                           "-- run: f --cycles\n", "-- run: f --cycles many\n", "-- output: x.chron\n",
                           "-- run: f\n-- run: g\n", "-- tolerance: little\n-- accept\n"}) {
    std::string error;
    EXPECT_FALSE(read(text, error)) << text;
    EXPECT_FALSE(error.empty()) << text;
  }
}

}  // namespace
}  // namespace rml
