// Reads and writes chronograms.
#include <gtest/gtest.h>

#include "tests/unit/runtime/programs.h"
#include "tests/unit/runtime/run_in_child.h"

namespace rml::rt::test {
namespace {

std::string copied_chron(const std::vector<PortSpec>& ports, const std::string& chron) {
  const CopyProgram copy(ports);
  const Outcome outcome = run(copy.table(), {"--format", "chron"}, chron);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return outcome.out;
}

std::string refused_chron(const std::vector<PortSpec>& ports, const std::string& chron) {
  const CopyProgram copy(ports);
  const Outcome outcome = run(copy.table(), {"--format", "chron"}, chron);
  EXPECT_EQ(outcome.status, 1);
  return outcome.err;
}

TEST(Chron, columns_are_aligned) {
  EXPECT_EQ(copied_chron({{"bp", RML_BOOL}, {"i", RML_I32}}, "bp | F F T\ni | 2 -16 8\n"),
            "bp | F   F T\ni  | 2 -16 8\n");
}

TEST(Chron, devices_have_no_end) {
  const CopyProgram copy({{"x", RML_F64}});
  for (const char* input : {"/dev/zero", "x=/dev/zero"}) {
    const Outcome outcome = run(copy.table(), {"--format", "chron", "--input", input}, "");
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.err, "cannot read '/dev/zero': it is a device, whose end this format would wait for\n");
  }
  EXPECT_NE(run(copy.table(), {"--format", "chron", "--input", "/dev/null"}, "").err.find("no line 'x | …'"),
            std::string::npos);
}

TEST(Chron, absent) { EXPECT_EQ(copied_chron(sampled, "c|T F T\nx|1.5 . 2"), "c |   T F T\nx | 1.5 . 2\n"); }

TEST(Chron, comments_blank_lines_and_other_names) {
  EXPECT_EQ(copied_chron(sampled, "-- a trace\n\n# more\r\nc | T\r\nother | ? ?\n x  | 1\r\n"), "c | T\nx | 1\n");
}

TEST(Chron, no_cycles) { EXPECT_EQ(copied_chron(sampled, "c |\nx | \n"), "c |\nx |\n"); }

TEST(Chron, tensors) {
  const std::vector<PortSpec> ports = {
      {"v", RML_I32, {3}}, {"m", RML_I32, {2, 2}}, {"t", RML_BOOL, {2, 1, 2}}, {"q", RML_I8, {1, 2, 2, 1}}};
  const std::string text =
      "v |           [1,2,3]           [4,5,6]\n"
      "m |         [1,2;3,4]         [5,6;7,8]\n"
      "t |     [[T,F],[F,T]]     [[F,F],[T,T]]\n"
      "q | [[[1;2],[3;4]]] [[[5;6],[7;-8]]]\n";
  EXPECT_EQ(copied_chron(ports, text),
            "v |         [1,2,3]          [4,5,6]\n"
            "m |       [1,2;3,4]        [5,6;7,8]\n"
            "t |   [[T,F],[F,T]]    [[F,F],[T,T]]\n"
            "q | [[[1;2],[3;4]]] [[[5;6],[7;-8]]]\n");
}

// Both texts are also those of the compiler's chronograms (type_test.cc).
TEST(Chron, tensors_of_every_rank_read_back) {
  const std::vector<PortSpec> ports = {{"a", RML_I32},
                                       {"b", RML_I32, {3}},
                                       {"c", RML_I32, {2, 2}},
                                       {"d", RML_I32, {2, 2, 2}},
                                       {"e", RML_I8, {1, 2, 2, 1}},
                                       {"f", RML_I8, {2, 1, 1, 2, 1}},
                                       {"g", RML_F64, {2, 0}},
                                       {"h", RML_F64, {2, 0, 2}}};
  const std::string text =
      "a |                     1\n"
      "b |               [1,2,3]\n"
      "c |             [1,2;3,4]\n"
      "d | [[1,2;3,4],[5,6;7,8]]\n"
      "e |       [[[1;2],[3;4]]]\n"
      "f | [[[[1;2]]],[[[3;4]]]]\n"
      "g |                    []\n"
      "h |                    []\n";
  EXPECT_EQ(copied_chron(ports, text), text);
}

TEST(ChronErrors, brackets) {
  const std::vector<PortSpec> ports = {{"m", RML_I32, {2, 1, 2}}};
  for (const std::string text :
       {"[1,2;;3,4]", "[[1,2];[3,4]]", "[[1,2,3,4]]", "[[1,2],[3,4]", "[[1,2],[3,4],]", "[]"}) {
    EXPECT_NE(refused_chron(ports, "m | " + text + "\n").find("cycle 0: 'm': "), std::string::npos) << text;
  }
}

TEST(ChronErrors, values) {
  EXPECT_EQ(refused_chron(sampled, "c | T T\nx | 1 ?\n"),
            "<stdin>:2:7: cycle 1: 'x' is undetermined (?), which an input cannot be\n");
  EXPECT_EQ(refused_chron(sampled, "c | T .\nx | 1 .\n"),
            "<stdin>:1:7: cycle 1: 'c' is absent, but it is present at every cycle (clock base)\n");
  EXPECT_EQ(refused_chron(sampled, "c | T T\nx | 1 abc\n"), "<stdin>:2:7: cycle 1: 'x': 'abc' is not an f32\n");
  EXPECT_EQ(refused_chron({{"n", RML_I32}}, "n | 1.5\n"),
            "<stdin>:1:5: cycle 0: 'n': '1.5' is not an i32; declare an input of floats as x: f32\n");
  EXPECT_EQ(refused_chron({{"n", RML_U8}}, "n | 300\n"),
            "<stdin>:1:5: cycle 0: 'n': '300' does not fit in a u8 (0 to 255)\n");
  const std::vector<PortSpec> matrix = {{"m", RML_I32, {2, 2}}};
  EXPECT_EQ(refused_chron(matrix, "m | [1,2;3,x]\n"), "<stdin>:1:12: cycle 0: 'm': 'x' is not an i32\n");
  EXPECT_EQ(refused_chron(matrix, "m | [1,2,3,4]\n"), "<stdin>:1:9: cycle 0: 'm': not a value of type i32[2,2]\n");
  EXPECT_EQ(refused_chron(matrix, "m | [1,2;3,4]]\n"), "<stdin>:1:14: cycle 0: 'm': not a value of type i32[2,2]\n");
}

TEST(ChronErrors, lines) {
  EXPECT_EQ(refused_chron(sampled, "c | T\n"), "<stdin>: no line 'x | …' for input 'x' (f32)\n");
  EXPECT_EQ(refused_chron(sampled, "c | T\nX | 1\n"),
            "<stdin>: no line 'x | …' for input 'x' (f32); did you mean 'X'?\n");
  EXPECT_EQ(refused_chron(sampled, "c | T\nc | F\nx | 1\n"), "<stdin>:2: stream 'c' appears twice, first in line 1\n");
  EXPECT_EQ(refused_chron(sampled, "hello\n"), "<stdin>:1: expected 'name | values'\n");
  EXPECT_EQ(refused_chron(sampled, "c | T T T\nx | 1 2\n"),
            "<stdin>:2:8: cycle 2: stream 'x' has 2 values, but 'c' has more\n");
}

TEST(ChronErrors, presence_against_the_clock) {
  EXPECT_EQ(refused_chron(sampled, "c | T F\nx | 1 2\n"),
            "<stdin>:2:7: cycle 1: column 'x' has a value, but its clock (base on c) says that it is absent at this "
            "cycle\n");
}

TEST(Chron, undetermined_rows) {
  const Outcome outcome = run(segment_max_program(), {"--format", "chron"}, "end | F F T F F\nx   | 1 12 3 4 5\n");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "m | 12 12 12 ? ?\n");
  EXPECT_EQ(
      outcome.err,
      "2 rows are undetermined, from cycle 3 on: the condition 'end' (segment.rml:4:10) has not come true since\n");
}

}  // namespace
}  // namespace rml::rt::test
