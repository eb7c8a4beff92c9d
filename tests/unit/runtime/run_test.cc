// The loop over cycles: faults, ends of input, several inputs, statistics.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/runtime/programs.h"
#include "tests/unit/runtime/run_in_child.h"

namespace rml::rt::test {
namespace {

TEST(Run, state_is_kept_between_cycles) {
  EXPECT_EQ(run(sums_program(), {}, "x\n1\n2\n3.5\n").out, "sum\n1\n3\n6.5\n");
}

TEST(Run, cycles_end_the_run_before_the_input) {
  EXPECT_EQ(run(sums_program(), {"--cycles", "2"}, "x\n1\n2\n3\nnonsense\n").out, "sum\n1\n3\n");
}

TEST(Run, outputs_on_a_sub_clock) {
  EXPECT_EQ(run(evens_program(), {}, "x\n1\n2\n3\n").out, "y,c\n,false\n2,true\n,false\n");
}

TEST(Run, faults_name_place_and_cycle_and_keep_the_rows_before) {
  const std::string input = "x\n1\n2\n3\n4\n5\n";
  for (const auto& [fault, text] : std::vector<std::pair<int, std::string>>{
           {RML_FAULT_DIVISION, "fail.rml:3:5: cycle 3: division by zero\n"},
           {RML_FAULT_INDEX, "fail.rml:3:5: cycle 3: index out of bounds: 7 is not in [0, 5)\n"},
           {RML_FAULT_ASSERT, "fail.rml:3:5: cycle 3: assertion failed: x is small\n"}}) {
    const Outcome outcome = run(failing_program(fault), {}, input);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.err, text);
    EXPECT_EQ(outcome.out, "y\n1\n2\n3\n");
    const Folder folder;
    EXPECT_EQ(run(failing_program(fault), {"--output", folder.path("o.chron")}, input).status, 1);
    EXPECT_EQ(folder.read("o.chron"), "y | 1 2 3\n");
  }
}

TEST(Run, undetermined_rows_are_reported) {
  const std::string input = "end,x\nF,1\nT,2\nF,3\nF,4\n";
  Outcome outcome = run(segment_max_program(), {}, input);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "m\n2\n2\n");
  EXPECT_EQ(
      outcome.err,
      "2 rows are undetermined, from cycle 2 on: the condition 'end' (segment.rml:4:10) has not come true since\n");
  outcome = run(segment_max_program(), {"--quiet"}, input);
  EXPECT_EQ(outcome.err, "");
  outcome = run(segment_max_program(), {}, "end,x\nF,1\n");
  EXPECT_EQ(outcome.err,
            "1 row is undetermined, from cycle 0 on: the condition 'end' (segment.rml:4:10) has not come true since\n");
}

TEST(Run, horizon) {
  const Outcome outcome = run(segment_max_program(), {"--horizon", "2"}, "end,x\nT,9\nF,1\nF,2\nF,3\n");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "m\n9\n");
  EXPECT_EQ(outcome.err,
            "segment.rml:2:3: cycle 3: the segment cannot be held: the segment that began at cycle 1 is longer than "
            "--horizon 2\n");
}

TEST(Run, input_files_must_have_equally_many_rows) {
  const Folder folder;
  const std::string end = folder.write("end.csv", "end\nT\nT\nT\n");
  const std::string x = folder.write("x.jsonl", "{\"x\":1}\n{\"x\":2}\n");
  const Outcome outcome = run(segment_max_program(), {"--input", "end=" + end, "--input", x});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "m\n1\n2\n");
  EXPECT_EQ(outcome.err,
            x + " ends after 2 rows, but " + end + " continues at cycle 2: input files must have equally many rows\n");
}

TEST(Run, presence_faults_name_the_right_file) {
  const CopyProgram copy({{"c", RML_BOOL}, {"x", RML_F32, {}, 0}});
  const Folder folder;
  const std::string c = folder.write("c.chron", "c | T F\n");
  const std::string x = folder.write("x.csv", "x\n1\n2\n");
  const Outcome outcome = run(copy.table(), {"--input", "c=" + c, "--input", "x=" + x});
  EXPECT_EQ(outcome.err, x + ":3:1: cycle 1: column 'x' has a value, but its clock (base on c) says that it is absent "
                             "at this cycle\n");
}

// Long enough to start the threads that read ahead and write behind.
TEST(Run, long_runs) {
  const Folder folder;
  std::string input = "x\n", expected = "sum\n";
  for (int k = 0; k < 30000; ++k) {
    input += "1\n";
    expected += std::to_string(k + 1) + "\n";
  }
  const std::string x = folder.write("x.csv", input);
  EXPECT_EQ(run(sums_program(), {"--input", x}).out, expected);
  EXPECT_EQ(run(sums_program(), {"--input", x, "--threads", "1"}).out, expected);
  folder.write("x.csv", input + "1\nnonsense\n1\n");
  const Outcome outcome = run(sums_program(), {"--input", x});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, expected + "30001\n");
  EXPECT_EQ(outcome.err.rfind(x + ":30003:1: cycle 30001: ", 0), 0u) << outcome.err;
}

TEST(Run, presence_faults_of_long_runs) {
  const CopyProgram copy({{"c", RML_BOOL}, {"x", RML_F32, {}, 0}});
  const Folder folder;
  std::string input = "c,x\n";
  for (int k = 0; k < 20000; ++k) input += k % 3 == 0 ? "T,1\n" : "F,\n";
  const std::string path = folder.write("in.csv", input + "F, 7\nT,1\n");
  const Outcome outcome = run(copy.table(), {"--input", path});
  EXPECT_EQ(outcome.err, path +
                             ":20002:3: cycle 20000: column 'x' has a value, but its clock (base on c) says that it "
                             "is absent at this cycle\n");
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 20001);
}

TEST(Run, a_fault_ends_a_run_that_could_wait_for_input) {
  Conversation talk(failing_program(RML_FAULT_ASSERT), {});
  talk.send("x\n1\n2\n3\n4\n");
  const Outcome outcome = talk.wait();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "y\n1\n2\n3\n");
}

TEST(Run, stats) {
  const Outcome outcome = run(segment_max_program(), {"--stats"}, "end,x\nF,1\nT,2\nT,3\n");
  EXPECT_EQ(outcome.status, 0);
  for (const char* text :
       {"cycles           3\n", "rows             3\n", "cycles/s\n", "MiB\n", "segments         2\n",
        "longest segment  2 cycles\n", "buffers          16 bytes at most\n"}) {
    EXPECT_NE(outcome.err.find(text), std::string::npos) << text << "\n" << outcome.err;
  }
}

TEST(Run, progress) {
  const Outcome outcome = run(sums_program(), {"--progress", "always", "--monitor", "sum"}, "x\n1\n2\n");
  EXPECT_EQ(outcome.out, "sum\n1\n3\n");
  EXPECT_NE(outcome.err.find("2 cycles"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("sum 3"), std::string::npos) << outcome.err;
  EXPECT_EQ(run(sums_program(), {}, "x\n1\n").err, "");
  EXPECT_EQ(run(sums_program(), {"--progress", "always", "--quiet"}, "x\n1\n").err, "");
}

TEST(Run, missing_input) {
  EXPECT_EQ(run(sums_program(), {"--input", "nosuch.csv"}).err,
            "cannot open 'nosuch.csv': No such file or directory\n");
  EXPECT_EQ(run(sums_program(), {"--input", "/", "--format", "csv"}).err, "cannot read '/': it is a directory\n");
}

TEST(Run, a_program_for_another_abi) {
  rml_program program = sums_program();
  program.abi = RML_ABI + 1;
  EXPECT_EQ(run(program, {}).status, 70);
}

TEST(Run, a_state_that_does_not_fit) {
  rml_program program = sums_program();
  program.state_bytes = std::uint64_t{1} << 60;
  const Outcome outcome = run(program, {}, "x\n1\n");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err.rfind("sums.rml: the state of 'sums' needs 1152921504606846976 bytes", 0), 0u) << outcome.err;
}

}  // namespace
}  // namespace rml::rt::test
