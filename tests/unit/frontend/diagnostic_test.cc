// The table of codes, and suggestions for misspelled names.
#include "frontend/diagnostic.h"

#include <gtest/gtest.h>

#include <set>

namespace rml {
namespace {

TEST(Diagnostic, codes_are_distinct_and_their_letter_is_their_severity) {
  std::set<std::string_view> names;
  for (const Code code : all_codes()) {
    EXPECT_TRUE(names.insert(code_name(code)).second) << code_name(code);
    EXPECT_EQ(severity(code) == Severity::warning, code_name(code)[0] == 'W');
    EXPECT_FALSE(code_title(code).empty());
  }
}

TEST(Diagnostic, warnings_are_no_errors) {
  Diagnostics diagnostics;
  diagnostics.report(Code::W0201, {}, "unused");
  EXPECT_FALSE(diagnostics.has_errors());
  diagnostics.report(Code::E0201, {}, "unknown").note("a").fix({}, "b", "write `b`", true).label({}, "here");
  EXPECT_EQ(diagnostics.error_count(), 1u);
  EXPECT_EQ(diagnostics.all().size(), 2u);
  EXPECT_TRUE(diagnostics.all()[1].fixes[0].certain);
}

TEST(Diagnostic, did_you_mean_finds_near_names_only) {
  const std::vector<std::string> names = {"maximum", "minimum", "matmul", "relu", "x"};
  EXPECT_EQ(did_you_mean("maxmum", names), "maximum");
  EXPECT_EQ(did_you_mean("matmlu", names), "matmul");
  EXPECT_EQ(did_you_mean("ReLU", names), "relu");
  EXPECT_EQ(did_you_mean("convolve", names), "");
  EXPECT_EQ(did_you_mean("y", names), "");
  EXPECT_EQ(did_you_mean("", names), "");
  EXPECT_EQ(did_you_mean(std::string(100000, 'a'), names), "");
}

}  // namespace
}  // namespace rml
