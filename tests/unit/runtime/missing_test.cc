// --missing: cells of CSV without a value, and the presence flags that follow from them.
#include <gtest/gtest.h>

#include "tests/unit/runtime/programs.h"
#include "tests/unit/runtime/run_in_child.h"

namespace rml::rt::test {
namespace {

using Ports = std::vector<PortSpec>;

std::string copied(const Ports& ports, const std::string& how, const std::string& csv) {
  const CopyProgram copy(ports);
  const Outcome outcome = run(copy.table(), {"--missing", how}, csv);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return outcome.out;
}

std::string refused_with(const Ports& ports, const std::string& how, const std::string& csv) {
  const CopyProgram copy(ports);
  const Outcome outcome = run(copy.table(), {"--missing", how}, csv);
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  return outcome.err;
}

const Ports flagged = {{"x_present", RML_BOOL}, {"x", RML_F64, {}, 0}};
const Ports two_flags = {{"a", RML_BOOL}, {"x", RML_F64, {}, 0}, {"b", RML_BOOL}, {"n", RML_I32, {}, 2}};
const Ports one_flag = {{"c", RML_BOOL}, {"x", RML_F64, {}, 0}, {"n", RML_I32, {}, 0}};
const Ports tensor = {{"c", RML_BOOL}, {"v", RML_F32, {2}, 0}};
const Ports plain = {{"x", RML_F64}, {"n", RML_I32}};

TEST(Missing, flags_follow_from_the_cells) {
  EXPECT_EQ(copied(flagged, "absent", "x,day\n1.5,mo\n,tu\nNA,we\n2,th\n"),
            "x_present,x\ntrue,1.5\nfalse,\nfalse,\ntrue,2\n");
  EXPECT_EQ(copied(two_flags, "absent", "n,x\n1,\n,0.5\n2,3\n,\n"),
            "a,x,b,n\nfalse,,true,1\ntrue,0.5,false,\ntrue,3,true,2\nfalse,,false,\n");
  EXPECT_EQ(copied(one_flag, "absent", "n,x\n1,2\n,\n"), "c,x,n\ntrue,2,1\nfalse,,\n");
}

std::string of_lines(const Ports& ports, const std::string& how, const std::string& lines, int status = 0) {
  const CopyProgram copy(ports);
  const Outcome outcome = run(copy.table(), {"--missing", how, "--format", "jsonl"}, lines);
  EXPECT_EQ(outcome.status, status) << outcome.err;
  return status == 0 ? outcome.out : outcome.err;
}

TEST(Missing, of_json_lines) {
  EXPECT_EQ(of_lines(flagged, "absent", "{\"x\":1.5}\n{\"x\":null}\n{}\n{\"x\":2}\n"),
            "{\"x_present\":true,\"x\":1.5}\n{\"x_present\":false,\"x\":null}\n{\"x_present\":false,\"x\":null}\n"
            "{\"x_present\":true,\"x\":2}\n");
  EXPECT_EQ(of_lines(two_flags, "absent", "{\"n\":1}\n{\"x\":0.5}\n"),
            "{\"a\":false,\"x\":null,\"b\":true,\"n\":1}\n{\"a\":true,\"x\":0.5,\"b\":false,\"n\":null}\n");
  EXPECT_EQ(of_lines(plain, "nan", "{\"n\":1}\n{\"n\":2,\"x\":null}\n"),
            "{\"x\":\"NaN\",\"n\":1}\n{\"x\":\"NaN\",\"n\":2}\n");
  EXPECT_EQ(of_lines(tensor, "nan", "{\"c\":true,\"v\":[1,null]}\n{\"c\":true}\n{\"c\":false}\n"),
            "{\"c\":true,\"v\":[1,\"NaN\"]}\n{\"c\":true,\"v\":[\"NaN\",\"NaN\"]}\n{\"c\":false,\"v\":null}\n");
  // If a row contains the flag, the flag must agree with the values.
  EXPECT_EQ(of_lines(flagged, "absent", "{\"x\":1}\n{\"x_present\":false}\n"),
            "{\"x_present\":true,\"x\":1}\n{\"x_present\":false,\"x\":null}\n");
  EXPECT_NE(of_lines(flagged, "absent", "{\"x_present\":true}\n", 1).find("'x'"), std::string::npos);
  EXPECT_NE(of_lines(one_flag, "absent", "{\"x\":1}\n", 1).find("they share one flag"), std::string::npos);
  EXPECT_NE(of_lines(flagged, "error", "{\"x\":1}\n", 1).find("--missing absent derives it from 'x'"),
            std::string::npos);
}

TEST(Missing, elements_are_missing_together) {
  EXPECT_EQ(copied(tensor, "absent", "v[0],v[1]\n1,2\nNA,\n3,4\n"), "c,v[0],v[1]\ntrue,1,2\nfalse,,\ntrue,3,4\n");
  EXPECT_EQ(refused_with(tensor, "absent", "v[0],v[1]\n1,NA\n"),
            "<stdin>:2:3: cycle 0: column 'v[1]' is 'NA', but other elements of 'v' are not missing\n");
  EXPECT_EQ(refused_with(tensor, "absent", "v[0],v[1]\n,1\n"),
            "<stdin>:2:1: cycle 0: column 'v[0]' is empty, but other elements of 'v' are not\n");
}

TEST(Missing, words) {
  for (const char* word :
       {"NA", "na", "N/A", "<NA>", "#N/A", "NaN", "nan", "null", "NULL", "None", "\"NA\"", " NA ", "\"\""})
    EXPECT_EQ(copied(two_flags, "absent", std::string("x,n\n1,") + word + "\n"), "a,x,b,n\ntrue,1,false,\n") << word;
  for (const char* word : {"-", "?", "NAN0", "N", "n.a.", "missing"})
    EXPECT_NE(refused_with(two_flags, "absent", std::string("x,n\n1,") + word + "\n").find("is not an i32"),
              std::string::npos)
        << word;
  EXPECT_EQ(copied(flagged, "absent", "x\nNaN\n"), "x_present,x\ntrue,nan\n") << "a value of a float";
}

TEST(Missing, a_flag_in_the_file_is_read) {
  EXPECT_EQ(copied(flagged, "absent", "x,x_present\n1,T\nNA,F\n"), "x_present,x\ntrue,1\nfalse,\n");
  EXPECT_EQ(
      refused_with(flagged, "absent", "x,x_present\nNA,T\n"),
      "<stdin>:2:1: cycle 0: column 'x' is empty, but its clock (base on x_present) says that it is present at this "
      "cycle\n");
}

TEST(Missing, a_single_column_has_blank_lines) {
  EXPECT_EQ(copied(flagged, "absent", "x\n1\n\n2\n"), "x_present,x\ntrue,1\nfalse,\ntrue,2\n");
}

TEST(Missing, inputs_of_one_flag_contradict_each_other) {
  EXPECT_EQ(
      refused_with(one_flag, "absent", "n,x\n1,2\n1,\n"),
      "<stdin>:3:1: cycle 1: 'x' (clock base on c) is missing, and 'n' (clock base on c) is present: they share one "
      "flag, which is not a column of the file; give each its own flag\n");
}

TEST(Missing, inputs_without_a_flag_have_no_missing_cells) {
  const std::string mend =
      "; if cells may be missing, declare the inputs `n_present: bool, n: i32 when n_present` and add --missing "
      "absent\n";
  EXPECT_EQ(refused_with(plain, "absent", "x,n\n1,NA\n"),
            "<stdin>:2:3: cycle 0: column 'n' is 'NA', but 'n' is present at every cycle (clock base)" + mend);
  EXPECT_EQ(refused_with(plain, "error", "x,n\n1,\n"),
            "<stdin>:2:3: cycle 0: column 'n' is empty, but 'n' is present at every cycle (clock base)" + mend);
  EXPECT_EQ(refused_with(plain, "nan", "x,n\n1,NA\n"),
            "<stdin>:2:3: cycle 0: column 'n' is 'NA', but 'n' is i32, which has no NaN" + mend);
}

TEST(Missing, nan_where_a_float_is_due) {
  EXPECT_EQ(copied(plain, "nan", "x,n\n,1\nNA,2\n1.5,3\n"), "x,n\nnan,1\nnan,2\n1.5,3\n");
  EXPECT_EQ(copied({{"v", RML_F32, {2}}}, "nan", "v[0],v[1]\n1,\n,\n"), "v[0],v[1]\n1,nan\nnan,nan\n");
  EXPECT_EQ(copied(flagged, "nan", "x,x_present\n,T\n,F\nNA,F\n1,T\n"),
            "x_present,x\ntrue,nan\nfalse,\nfalse,\ntrue,1\n");
  for (const std::uint8_t type : {RML_F16, RML_BF16, RML_F32, RML_F64})
    EXPECT_EQ(copied({{"x", type}, {"n", RML_I8}}, "nan", "x,n\nnull,1\n"), "x,n\nnan,1\n");
}

TEST(Missing, errors_without_the_option) {
  const CopyProgram copy(flagged);
  EXPECT_EQ(
      run(copy.table(), {}, "x\n1\n").err,
      "<stdin>:1: no column 'x_present' for input 'x_present' (bool); it says when 'x' is present: --missing absent "
      "derives it from the cells of 'x'\n");
  EXPECT_EQ(
      run(copy.table(), {}, "x,x_present\nNA,F\n").err,
      "<stdin>:2:1: cycle 0: column 'x': 'NA' is not an f64; --missing absent or --missing nan accepts such cells\n");
}

TEST(Missing, streams_of_several_files) {
  const CopyProgram copy(two_flags);
  const Folder folder;
  const std::string x = folder.write("x.csv", "x\n1\n\n"), n = folder.write("n.csv", "n\nNA\n7\n");
  const Outcome outcome = run(copy.table(), {"--input", "x=" + x, "--input", "n=" + n, "--missing", "absent"});
  EXPECT_EQ(outcome.out, "a,x,b,n\ntrue,1,false,\nfalse,,true,7\n") << outcome.err;
  const Outcome without = run(copy.table(), {"--input", "x=" + x, "--input", "n=" + n});
  EXPECT_EQ(without.status, 2);
  EXPECT_NE(without.err.find("no file for inputs 'a', 'b'"), std::string::npos) << without.err;
}

std::string of_chronogram(const Ports& ports, const std::string& how, const std::string& text, int status = 0) {
  const CopyProgram copy(ports);
  const Outcome outcome = run(copy.table(), {"--missing", how, "--format", "chron"}, text);
  EXPECT_EQ(outcome.status, status) << outcome.err;
  return status == 0 ? outcome.out : outcome.err;
}

TEST(Missing, of_chronograms) {
  EXPECT_EQ(of_chronogram(flagged, "absent", "x | 1.5 . 2\n"), "x_present |   T F T\nx         | 1.5 . 2\n");
  EXPECT_EQ(of_chronogram(two_flags, "absent", "n | 1 .\nx | . 0.5\n"), "a | F   T\nx | . 0.5\nb | T   F\nn | 1   .\n");
  // A flag with a line of its own must have the values of this line; where the line has none, the
  // flag follows from the input.
  EXPECT_EQ(of_chronogram(flagged, "absent", "x_present | T . .\nx | 1 . 2\n"),
            "x_present | T F T\nx         | 1 . 2\n");
  EXPECT_NE(of_chronogram(flagged, "absent", "x_present | T\nx | .\n", 1).find("'x'"), std::string::npos);
  EXPECT_EQ(
      of_chronogram(one_flag, "absent", "x | 1 2\nn | 3 .\n", 1),
      "<stdin>: cycle 1: 'x' (clock base on c) is present, and 'n' (clock base on c) is missing: they share one flag, "
      "which is not in the chronogram; give each its own flag\n");
  EXPECT_EQ(of_chronogram(plain, "nan", "x | 1 .\nn | 1 2\n"), "x | 1 nan\nn | 1   2\n");
  EXPECT_EQ(of_chronogram(tensor, "nan", "v | . .\nc | T F\n"), "c |         T F\nv | [nan,nan] .\n");
  EXPECT_NE(of_chronogram(plain, "nan", "x | 1\nn | .\n", 1).find("'n' is absent, but it is present at every cycle"),
            std::string::npos);
  EXPECT_NE(of_chronogram(plain, "absent", "x | .\nn | 1\n", 1).find("declare the inputs `x_present: bool"),
            std::string::npos);
  EXPECT_EQ(
      of_chronogram(flagged, "error", "x | 1\n", 1),
      "<stdin>: no line 'x_present | …' for input 'x_present' (bool); it says when 'x' is there: --missing absent "
      "takes that from 'x'\n");
}

TEST(Missing, wrong_use) {
  const CopyProgram copy(plain);
  const Folder folder;
  const Outcome outcome = run(copy.table(), {"--missing", "nan", "--input", "x=" + folder.write("x.npy", ""), "--input",
                                             "n=" + folder.write("n.npy", "")});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "--missing: all inputs are NumPy files, whose values are never missing\n");
  EXPECT_EQ(run(copy.table(), {"--missing", "zero"}, "").status, 2);
}

}  // namespace
}  // namespace rml::rt::test
