// Chronograms: printing, reading back, and errors with their places.
#include "semantics/reference/chronogram.h"

#include <gtest/gtest.h>

namespace rml {
namespace {

const std::vector<ChronogramPort> two_ports = {
    {"bp", DType::boolean, {}}, {"i", DType::i32, {}}, {"w", DType::f32, {2, 2}}};

std::string reprint(const std::string& text) {
  std::string error;
  const auto chronogram = read_chronogram(text, two_ports, error);
  return chronogram ? print_chronogram(*chronogram) : error;
}

TEST(Chronogram, PrintsColumnsAlignedRight) {
  const std::string text =
      "bp |           F F T\n"
      "i  |        -128 . ?\n"
      "w  | [1,2;3.5,4] . .\n";
  EXPECT_EQ(reprint(text), text);
}

TEST(Chronogram, ReadsRowsInAnyOrderWithComments) {
  EXPECT_EQ(reprint("-- a comment\n\nw| . .\r\n  i |2\t3\nbp | T ?\n"),
            "bp | T ?\n"
            "i  | 2 3\n"
            "w  | . .\n");
}

TEST(Chronogram, NoCycles) { EXPECT_EQ(reprint("bp |\ni |\nw |\n"), "bp |\ni  |\nw  |\n"); }

TEST(Chronogram, ErrorsNameThePlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"bp | T\ni | T\nw | .\n", "line 2, column 5: 'T' is not a value of type i32"},
      {"bp | T\ni | 2147483648\nw | .\n", "line 2, column 5: '2147483648' is not a value of type i32"},
      {"bp | T\n i  | 1 2\nw | .\n", "line 2, column 9: this row has 2 cycles, the ones above 1"},
      {"bp | T\nj | 1\n", "line 2, column 1: no stream is called 'j' here (known: bp, i, w)"},
      {"bp | T\nbp | T\n", "line 2, column 1: a second row for 'bp'"},
      {"bp | T\ni | 1\n", "no row for 'w'"},
      {"  bp T\n", "line 1, column 3: expected 'NAME | CELLS'"},
      {"w | [1,2,3,4]\n", "line 1, column 5: '[1,2,3,4]' is not a value of type f32[2, 2]"},
      {"w | . [1,2;3]\n", "line 1, column 7: '[1,2;3]' is not a value of type f32[2, 2]"},
      {"w | [1,2;3,4;5,6]\n", "line 1, column 5: '[1,2;3,4;5,6]' is not a value of type f32[2, 2]"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(reprint(text), expected) << text;
}

TEST(Chronogram, EveryDtypeReadsBack) {
  const std::pair<DType, const char*> cases[] = {
      {DType::i8, "-128 127"},
      {DType::u8, "0 255"},
      {DType::i16, "-32768 32767"},
      {DType::i64, "-9223372036854775808 9223372036854775807"},
      {DType::f64, "0.1 nan inf -inf -0"},
      {DType::f32, "16777216 0.1 3.4028235e+38"},
      {DType::f16, "0.1 65504 6e-08 inf"},
      {DType::bf16, "0.1 -3 1e-40"},
  };
  for (const auto& [dtype, cells] : cases) {
    std::string error;
    const auto once = read_chronogram(std::string("x | ") + cells + "\n", {{"x", dtype, {}}}, error);
    ASSERT_TRUE(once) << error;
    const std::string text = print_chronogram(*once);
    const auto twice = read_chronogram(text, {{"x", dtype, {}}}, error);
    ASSERT_TRUE(twice) << error << text;
    for (std::size_t i = 0; i < once->front().cells.size(); ++i) {
      EXPECT_EQ(once->front().cells[i].value, twice->front().cells[i].value) << text;
    }
  }
}

}  // namespace
}  // namespace rml
