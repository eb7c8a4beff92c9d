// Conversion of offsets to lines and columns.
#include "frontend/source.h"

#include <gtest/gtest.h>

namespace rml {
namespace {

TEST(Source, columns_count_code_points) {
  SourceMap sources;
  const std::uint32_t file = sources.add("a.rml", "é = 1;\n  ü∂x\n");
  EXPECT_EQ(sources.line_column(file, 0).column, 1u);
  EXPECT_EQ(sources.line_column(file, 2).column, 2u);
  const std::uint32_t x = static_cast<std::uint32_t>(sources.text(file).find('x'));
  EXPECT_EQ(sources.line_column(file, x).line, 2u);
  EXPECT_EQ(sources.line_column(file, x).column, 5u);
  EXPECT_EQ(sources.place({file, x, x + 1}), "a.rml:2:5");
}

TEST(Source, line_ends_are_no_part_of_lines) {
  SourceMap sources;
  const std::uint32_t file = sources.add("a.rml", "one\r\ntwo\rthree\n\nfive");
  EXPECT_EQ(sources.line(file, 1), "one");
  EXPECT_EQ(sources.line(file, 2), "two");
  EXPECT_EQ(sources.line(file, 3), "three");
  EXPECT_EQ(sources.line(file, 4), "");
  EXPECT_EQ(sources.line(file, 5), "five");
  EXPECT_EQ(sources.line(file, 6), "");
  EXPECT_EQ(sources.line_begin(file, 2), 5u);
}

TEST(Source, a_byte_order_mark_is_no_column) {
  SourceMap sources;
  const std::uint32_t file = sources.add("a.rml", "\xEF\xBB\xBFx = 1;");
  EXPECT_EQ(sources.line(file, 1), "x = 1;");
  EXPECT_EQ(sources.line_column(file, 3).column, 1u);
  EXPECT_EQ(sources.line_column(file, 0).column, 1u);
}

TEST(Source, places_beyond_the_text_are_its_end) {
  SourceMap sources;
  const std::uint32_t file = sources.add("a.rml", "ab");
  EXPECT_EQ(sources.text({file, 1, 99}), "b");
  EXPECT_EQ(sources.line_column(file, 99).column, 3u);
  EXPECT_EQ(sources.text({0, 0, 0}), "");
  EXPECT_EQ(sources.size(), 2u);
}

}  // namespace
}  // namespace rml
