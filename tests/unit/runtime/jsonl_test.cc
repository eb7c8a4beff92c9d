// Reads and writes JSON lines.
#include <gtest/gtest.h>

#include "tests/unit/runtime/programs.h"
#include "tests/unit/runtime/run_in_child.h"

namespace rml::rt::test {
namespace {

std::string copied_jsonl(const std::vector<PortSpec>& ports, const std::string& lines) {
  const CopyProgram copy(ports);
  const Outcome outcome = run(copy.table(), {"--format", "jsonl"}, lines);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return outcome.out;
}

std::string refused_jsonl(const std::vector<PortSpec>& ports, const std::string& lines) {
  const CopyProgram copy(ports);
  const Outcome outcome = run(copy.table(), {"--format", "jsonl"}, lines);
  EXPECT_EQ(outcome.status, 1);
  return outcome.err;
}

const std::vector<PortSpec> matrix = {{"m", RML_I32, {2, 2}}};

TEST(Jsonl, copies_rows) {
  EXPECT_EQ(copied_jsonl(sampled, "{\"x\": 1.5, \"c\": true}\n\n{\"c\":false}\r\n{\"c\":false,\"x\":null}"),
            "{\"c\":true,\"x\":1.5}\n{\"c\":false,\"x\":null}\n{\"c\":false,\"x\":null}\n");
}

TEST(Jsonl, tensors_nest) {
  EXPECT_EQ(copied_jsonl(matrix, "{\"m\":[[1,2],[3,-4]]}\n"), "{\"m\":[[1,2],[3,-4]]}\n");
  EXPECT_EQ(copied_jsonl({{"t", RML_BOOL, {1, 2, 1}}}, "{\"t\":[[[true],[false]]]}\n"), "{\"t\":[[[true],[false]]]}\n");
}

TEST(Jsonl, what_json_cannot_say_is_a_string) {
  const std::string lines =
      "{\"x\":\"NaN\"}\n{\"x\":\"Infinity\"}\n{\"x\":\"-Infinity\"}\n{\"x\":-0.0}\n{\"x\":1e-45}\n";
  EXPECT_EQ(copied_jsonl({{"x"}}, lines), lines);
}

TEST(Jsonl, numbers_keep_their_digits) {
  EXPECT_EQ(copied_jsonl({{"n", RML_I64}, {"d", RML_F64}}, "{\"n\":9223372036854775807,\"d\":0.1}\n"),
            "{\"n\":9223372036854775807,\"d\":0.1}\n");
}

TEST(Jsonl, other_keys_are_ignored) {
  EXPECT_EQ(copied_jsonl({{"x"}}, "{\"y\":{\"x\":[1,{\"x\":2}]},\"z\":[[{}],\"s\"],\"x\":3,\"w\":null}\n"),
            "{\"x\":3}\n");
}

// Numbers beyond the range of floats are valid JSON, at any depth.
TEST(Jsonl, numbers_beyond_every_float_are_ignored_with_their_keys) {
  EXPECT_EQ(copied_jsonl({{"x"}}, "{\"y\":1e400,\"x\":3,\"z\":[-1E+999,{\"w\":1e400}]}\n"), "{\"x\":3}\n");
}

TEST(JsonlErrors, numbers_beyond_every_float) {
  for (const std::uint8_t type : {RML_F64, RML_F32, RML_I64, RML_BOOL}) {
    const std::string text = refused_jsonl({{"x", type}}, "{\"w\":1e400,\"x\":1e400}\n");
    EXPECT_EQ(text.rfind("<stdin>:1: cycle 0: 'x': ", 0), 0u) << text;
    EXPECT_EQ(text.find("JSON"), text.npos) << text;
    EXPECT_EQ(text.find("exception"), text.npos) << text;
  }
  const CopyProgram csv({{"x", RML_F64}});
  const std::string as_csv = run(csv.table(), {}, "x\n1e400\n").err;
  const std::string as_json = refused_jsonl({{"x", RML_F64}}, "{\"x\":1e400}\n");
  EXPECT_EQ(as_csv.substr(as_csv.find("'1e400'")), as_json.substr(as_json.find("'1e400'")));
}

TEST(JsonlErrors, values) {
  EXPECT_EQ(refused_jsonl({{"x"}}, "{\"x\":1}\n{\"x\":\"1\"}\n"), "<stdin>:2: cycle 1: 'x': a string is not f32\n");
  EXPECT_EQ(refused_jsonl({{"n", RML_I32}}, "{\"n\":1.5}\n"),
            "<stdin>:1: cycle 0: 'n': '1.5' is not an i32; declare an input of floats as x: f32\n");
  EXPECT_EQ(refused_jsonl({{"n", RML_U8}}, "{\"n\":256}\n"),
            "<stdin>:1: cycle 0: 'n': '256' does not fit in a u8 (0 to 255)\n");
  EXPECT_EQ(refused_jsonl({{"b", RML_BOOL}}, "{\"b\":1}\n"), "<stdin>:1: cycle 0: 'b': a number is not bool\n");
  EXPECT_EQ(refused_jsonl({{"x"}}, "{\"x\":true}\n"), "<stdin>:1: cycle 0: 'x': true is not f32\n");
  EXPECT_EQ(refused_jsonl({{"x"}}, "{\"x\":{}}\n"), "<stdin>:1: cycle 0: 'x': an object is not f32\n");
}

// The JSON parser's own message would end at the zero byte, so the runtime reports the byte
// itself.
TEST(JsonlErrors, zero_bytes) {
  using namespace std::string_literals;
  EXPECT_EQ(refused_jsonl({{"x"}}, "{\"x\":1}\n{\"x\":2}\0{\n"s),
            "<stdin>:2:8: cycle 1: not valid JSON: a zero byte\n");
  EXPECT_EQ(refused_jsonl({{"x"}}, "\0\n"s), "<stdin>:1:1: cycle 0: not valid JSON: a zero byte\n");
}

TEST(JsonlErrors, shapes) {
  EXPECT_EQ(refused_jsonl(matrix, "{\"m\":[[1,2],[3]]}\n"),
            "<stdin>:1: cycle 0: 'm': an array of 1 where i32[2,2] has 2\n");
  EXPECT_EQ(refused_jsonl(matrix, "{\"m\":[[1,2]]}\n"),
            "<stdin>:1: cycle 0: 'm': an array of 1 where i32[2,2] has 2\n");
  EXPECT_EQ(refused_jsonl(matrix, "{\"m\":[[1,2,3],[4]]}\n"),
            "<stdin>:1: cycle 0: 'm': an array of more than 2 where i32[2,2] is expected\n");
  EXPECT_EQ(refused_jsonl(matrix, "{\"m\":[1,2,3,4]}\n"), "<stdin>:1: cycle 0: 'm': too few brackets for i32[2,2]\n");
  EXPECT_EQ(refused_jsonl(matrix, "{\"m\":[[[1]]]}\n"), "<stdin>:1: cycle 0: 'm': too many brackets for i32[2,2]\n");
  EXPECT_EQ(refused_jsonl(matrix, "{\"m\":[[1,null],[3,4]]}\n"), "<stdin>:1: cycle 0: 'm': null inside a tensor\n");
  EXPECT_EQ(refused_jsonl({{"x"}}, "{\"x\":[1]}\n"), "<stdin>:1: cycle 0: 'x': too many brackets for f32\n");
}

TEST(JsonlErrors, lines) {
  EXPECT_EQ(
      refused_jsonl({{"xs"}}, "{\"Xs\":1}\n"),
      "<stdin>:1: cycle 0: no value for 'xs', which is present at every cycle (clock base); did you mean 'Xs'?\n");
  EXPECT_EQ(refused_jsonl({{"x"}}, "[1]\n"),
            "<stdin>:1: cycle 0: expected an object of named values, found an array\n");
  EXPECT_EQ(refused_jsonl({{"x"}}, "{\"x\":1,\"x\":2}\n"), "<stdin>:1: cycle 0: 'x': key 'x' appears twice\n");
  const std::string broken = refused_jsonl({{"x"}}, "{\"x\":1}\n{\"x\":}\n");
  EXPECT_EQ(broken.rfind("<stdin>:2:6: cycle 1: not valid JSON: ", 0), 0u) << broken;
  EXPECT_EQ(refused_jsonl({{"x"}}, "{\"x\":1} {\"x\":2}\n").rfind("<stdin>:1:9: cycle 0: not valid JSON: ", 0), 0u);
  EXPECT_EQ(refused_jsonl(sampled, "{\"c\":false,\"x\":1}\n"),
            "<stdin>:1: cycle 0: column 'x' has a value, but its clock (base on c) says that it is absent at this "
            "cycle\n");
}

}  // namespace
}  // namespace rml::rt::test
