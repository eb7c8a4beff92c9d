// The command line of programs: accepted and refused options, and their messages.
#include <gtest/gtest.h>

#include "tests/unit/runtime/programs.h"
#include "tests/unit/runtime/run_in_child.h"

namespace rml::rt::test {
namespace {

std::string misused(const std::vector<std::string>& arguments) {
  const CopyProgram copy({{"first"}, {"second", RML_I32}});
  const Outcome outcome = run(copy.table(), arguments);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  return outcome.err;
}

TEST(Options, help_lists_ports_and_examples) {
  const CopyProgram copy({{"c", RML_BOOL}, {"images", RML_F32, {28, 28}, 0}});
  const Outcome outcome = run(copy.table(), {"--help"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  for (const char* text : {"Runs node 'copy' of copy.rml", "  c       bool        base\n",
                           "  images  f32[28,28]  base on c\n", "--input [NAME=]FILE", "--horizon N", "Examples:\n"}) {
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text << "\n" << outcome.out;
  }
}

TEST(Options, version) {
  EXPECT_EQ(run(sums_program(), {"--version"}).out.rfind("sums (sums.rml), rmlc runtime ", 0), 0u);
}

TEST(Options, threads_are_at_most_those_it_was_built_for) {
  EXPECT_EQ(run(sums_program(), {"--threads", "1", "--version"}).status, 0);
  EXPECT_EQ(misused({"--threads", "4"}),
            "--threads 4: the program was built for one thread; give --threads to rmlc build\n");
  EXPECT_NE(misused({"--threads", "0"}).find("--threads"), std::string::npos);
  rml_program two = sums_program();
  two.threads = 2;
  EXPECT_EQ(run(two, {"--threads", "2", "--version"}).status, 0);
  EXPECT_EQ(run(two, {"--threads", "3"}).err,
            "--threads 3: the program was built for 2 threads; give --threads to rmlc build\n");
}

TEST(Options, misspelt_and_malformed) {
  EXPECT_EQ(misused({"--cylces", "4"}), "unknown option '--cylces'; did you mean '--cycles'?\nsee --help\n");
  EXPECT_EQ(misused({"file.csv"}), "unexpected argument 'file.csv'; rows are read by --input file.csv\nsee --help\n");
  EXPECT_NE(misused({"--cycles", "-4"}).find("--cycles"), std::string::npos);
  EXPECT_NE(misused({"--cycles", "many"}).find("--cycles"), std::string::npos);
  EXPECT_NE(misused({"--seed", "-1"}).find("--seed"), std::string::npos);
  EXPECT_NE(misused({"--format", "xml"}).find("--format"), std::string::npos);
  EXPECT_NE(misused({"--input"}).find("--input"), std::string::npos);
}

TEST(Options, delimiters) {
  for (const char* wrong : {"", "x", "1", ";;", ".", "-", "\"", "é"}) {
    EXPECT_EQ(misused({"--delimiter", wrong}),
              std::string("--delimiter: '") + wrong +
                  "' is not a delimiter: give a character such as ; or |, or tab\nsee --help\n");
  }
  EXPECT_EQ(misused({"--cycles", "-1"}), "--cycles: '-1': must be 0 or more\nsee --help\n");
  EXPECT_EQ(misused({"--cycles", "five"}), "--cycles: 'five' is not a whole number\nsee --help\n");
  EXPECT_EQ(misused({"--cycles", "1.5"}), "--cycles: '1.5' is not a whole number\nsee --help\n");
}

TEST(Options, inputs_by_name) {
  EXPECT_EQ(misused({"--input", "frist=a.csv"}),
            "--input frist=a.csv: the node has no input 'frist'; did you mean 'first'?\n");
  EXPECT_EQ(misused({"--input", "first=a.csv"}),
            "no file for input 'second': add --input NAME=FILE, or --input FILE (or -) for all the rest\n");
  EXPECT_EQ(misused({"--input", "first=a.csv", "--input", "first=b.csv"}),
            "--input first=b.csv: input 'first' was given before\n");
  EXPECT_EQ(misused({"--input", "a.csv", "--input", "b.csv"}),
            "--input b.csv: a file for all inputs was given before ('a.csv'); name the input: NAME=b.csv\n");
  EXPECT_EQ(misused({"--input", "first=a.csv", "--input", "second=b.csv", "--input", "c.csv"}),
            "--input c.csv: every input is given by name already\n");
  EXPECT_EQ(misused({"--input", "first=-", "--input", "second=-"}), "--input: '-' can be given once only\n");
  EXPECT_EQ(misused({"--input", "first="}), "--input first=: no file name\n");
  EXPECT_NE(misused({"--input", "a.txt"}).find("--input a.txt: the suffix does not name a format"), std::string::npos);
}

TEST(Options, a_node_without_inputs_needs_cycles) {
  Outcome outcome = run(count_program(), {});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "node 'count' has no inputs that could end the run: give --cycles N\n");
  outcome = run(count_program(), {"--input", "a.csv", "--cycles", "1"});
  EXPECT_EQ(outcome.err, "--input a.csv: the node has no inputs\n");
  EXPECT_EQ(run(count_program(), {"--cycles", "3"}).out, "n\n0\n1\n2\n");
  EXPECT_EQ(run(count_program(), {"--cycles=0"}).out, "n\n");
}

TEST(Options, monitor) {
  EXPECT_EQ(run(sums_program(), {"--monitor", "sun"}).err, "--monitor sun: no output 'sun'; did you mean 'sum'?\n");
  const CopyProgram copy({{"v", RML_F32, {2}}});
  EXPECT_EQ(run(copy.table(), {"--monitor", "v"}).err,
            "--monitor v: 'v' is f32[2]; only scalar outputs can be shown\n");
}

}  // namespace
}  // namespace rml::rt::test
