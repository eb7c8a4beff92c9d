// Reads and writes CSV, in complete runs of a program that copies its inputs.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/unit/runtime/programs.h"
#include "tests/unit/runtime/run_in_child.h"

namespace rml::rt::test {
namespace {

std::string copied_csv(const std::vector<PortSpec>& ports, const std::string& csv) {
  const CopyProgram copy(ports);
  const Outcome outcome = run(copy.table(), {}, csv);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return outcome.out;
}

// Returns the message of a run that fails.
std::string refused_csv(const std::vector<PortSpec>& ports, const std::string& csv, const std::string& written) {
  const CopyProgram copy(ports);
  const Folder folder;
  const Outcome outcome = run(copy.table(), {"--input", folder.write("in.csv", csv)});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, written);
  const std::string prefix = folder.path("");
  std::string text = outcome.err;
  for (std::size_t at = 0; (at = text.find(prefix, at)) != text.npos;) text.erase(at, prefix.size());
  return text;
}

const std::vector<PortSpec> one_float = {{"x"}};
const std::vector<PortSpec> two = {{"x"}, {"n", RML_I32}};

TEST(Csv, copies_rows) { EXPECT_EQ(copied_csv(two, "x,n\n1.5,2\n-0.25,-3\n"), "x,n\n1.5,2\n-0.25,-3\n"); }

TEST(Csv, columns_in_any_order_and_further_ones) {
  EXPECT_EQ(copied_csv(two, "n,comment,x\n2,\"a, b\",1.5\n3,,2\n"), "x,n\n1.5,2\n2,3\n");
}

TEST(Csv, tensors_are_columns) {
  const std::vector<PortSpec> ports = {{"m", RML_I32, {2, 2}}, {"v", RML_F64, {2}}};
  const std::string header = "\"m[0,0]\",\"m[0,1]\",\"m[1,0]\",\"m[1,1]\",v[0],v[1]\n";
  EXPECT_EQ(copied_csv(ports, header + "1,2,3,4,5,6\n"), header + "1,2,3,4,5,6\n");
  EXPECT_EQ(copied_csv(ports, "v[1],v[0],m[1,1],m[1, 0],m[0,1],m[0,0]\n6,5,4,3,2,1\n"), header + "1,2,3,4,5,6\n");
}

TEST(Csv, absent_is_empty) {
  EXPECT_EQ(copied_csv(sampled, "c,x\nT,1\nF,\ntrue,2\nfalse,\"\"\n1,3\n0, \n"),
            "c,x\ntrue,1\nfalse,\ntrue,2\nfalse,\ntrue,3\nfalse,\n");
}

TEST(Csv, booleans_in_every_form) {
  EXPECT_EQ(copied_csv({{"b", RML_BOOL}}, "b\ntrue\nTRUE\nFalse\nT\nF\nt\n1\n0\n"),
            "b\ntrue\ntrue\nfalse\ntrue\nfalse\ntrue\ntrue\nfalse\n");
}

TEST(Csv, line_ends_mark_and_blank_lines) {
  const std::string expected = "x,n\n1,2\n3,4\n";
  EXPECT_EQ(copied_csv(two, "\xef\xbb\xbfx,n\r\n1,2\r\n3,4\r\n"), expected);
  EXPECT_EQ(copied_csv(two, "x,n\n1,2\n3,4"), expected);
  EXPECT_EQ(copied_csv(two, "x,n\n1,2\n3,4\n\n\n"), expected);
  EXPECT_EQ(copied_csv(two, "x,n\n1,2\n3,4\r\n\r\n  \n"), expected);
  EXPECT_EQ(copied_csv(one_float, "x\n1\n2\n\n"), "x\n1\n2\n");
  EXPECT_EQ(copied_csv(two, "x,n\n"), "x,n\n");
}

// Texts as Python's encodings write them.
TEST(Csv, text_of_other_systems) {
  using namespace std::string_literals;
  const std::string utf16 = "in.csv: UTF-16; expected UTF-8: iconv -f UTF-16 -t UTF-8 converts it\n";
  EXPECT_EQ(refused_csv(one_float, "\xff\xfex\0\n\0001\0\n\0"s, ""), utf16);
  EXPECT_EQ(refused_csv(one_float, "\xfe\xff\0x\0\n\0001\0\n"s, ""), utf16);
  EXPECT_EQ(refused_csv(one_float, "x\0\n\0001\0\n\0"s, ""), utf16);
  EXPECT_EQ(refused_csv(two, "\0x\0,\0n\0\r\0\n"s, ""), utf16);
  const std::string returns = "in.csv: its lines end with CR alone; expected LF or CR LF: tr '\\r' '\\n' converts it\n";
  EXPECT_EQ(refused_csv(one_float, "x\r1\r2\r", ""), returns);
  EXPECT_EQ(refused_csv(two, "x,n\r1,2", ""), returns);
}

std::string copied_from(char separator, const std::string& csv) {
  const CopyProgram copy({{"x"}, {"n", RML_I32}, {"t", RML_F64, {2}}});
  const Outcome outcome = run(copy.table(), {"--delimiter", std::string(1, separator)}, csv);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return outcome.out;
}

TEST(Csv, other_delimiters) {
  for (const char s : {';', '|', '\t', ':'}) {
    std::string csv = "x;t[0];\"n\";t[1];comment\n1.5; 1;2;\"2\";a, b\n;3;4.0;5;\"c;d\"\n";
    csv.replace(csv.find("\n;3") + 1, 1, "7;");
    for (char& c : csv)
      if (c == ';') c = s;
    EXPECT_EQ(copied_from(s, csv), "x,n,t[0],t[1]\n1.5,2,1,2\n7,4,3,5\n");
  }
}

TEST(Csv, quotes_and_blanks) {
  EXPECT_EQ(copied_csv(two, "\"x\", n ,\"a \"\"note\"\"\"\n\"1.5\", 2 ,\"two\nlines, one field\"\n 3 ,\"4\",\n"),
            "x,n\n1.5,2\n3,4\n");
}

TEST(Csv, special_floats) {
  EXPECT_EQ(copied_csv(one_float, "x\nnan\nNaN\ninf\n-inf\nInfinity\n-0\n1e-45\n+2\n.5\n3.\n1e-60\n"),
            "x\nnan\nnan\ninf\n-inf\ninf\n-0\n1e-45\n2\n0.5\n3\n0\n");
}

TEST(Csv, integers_of_every_width) {
  const std::vector<PortSpec> ports = {{"a", RML_I8}, {"b", RML_U8}, {"c", RML_I16}, {"d", RML_I32}, {"e", RML_I64}};
  const std::string rows =
      "a,b,c,d,e\n-128,0,-32768,-2147483648,-9223372036854775808\n127,255,32767,2147483647,9223372036854775807\n";
  EXPECT_EQ(copied_csv(ports, rows), rows);
  EXPECT_EQ(refused_csv({{"b", RML_U8}}, "b\n255\n256\n", "b\n255\n"),
            "in.csv:3:1: cycle 1: column 'b': '256' does not fit in a u8 (0 to 255)\n");
  EXPECT_EQ(copied_csv({{"b", RML_U16}, {"c", RML_U32}, {"d", RML_U64}},
                       "b,c,d\n65535,4294967295,18446744073709551615\n0,0,0\n"),
            "b,c,d\n65535,4294967295,18446744073709551615\n0,0,0\n");
  EXPECT_EQ(refused_csv({{"b", RML_U64}}, "b\n18446744073709551616\n", "b\n"),
            "in.csv:2:1: cycle 0: column 'b': '18446744073709551616' does not fit in a u64 (0 to "
            "18446744073709551615)\n");
  EXPECT_EQ(refused_csv({{"b", RML_U8}}, "b\n-1\n", "b\n"),
            "in.csv:2:1: cycle 0: column 'b': '-1' does not fit in a u8 (0 to 255)\n");
}

// A quoted control sequence must not reach the terminal either.
TEST(Csv, bytes_that_cannot_be_seen_do_not_end_a_message) {
  using namespace std::string_literals;
  EXPECT_EQ(refused_csv(one_float, "x\n1\n\0\x1b[1m\n"s, "x\n1\n"),
            "in.csv:3:1: cycle 1: column 'x': '\\u{0}\\u{1b}[1m' is not an f32\n");
}

TEST(Csv, half_precision) {
  const std::vector<PortSpec> ports = {{"h", RML_F16}, {"b", RML_BF16}};
  EXPECT_EQ(copied_csv(ports, "h,b\n0.1,0.1\n65504,1e38\n6e-8,3\n-0,nan\n"),
            "h,b\n0.1,0.1\n65504,1e+38\n6e-08,3\n-0,nan\n");
  EXPECT_EQ(refused_csv(ports, "h,b\n65536,0\n", "h,b\n"),
            "in.csv:2:1: cycle 0: column 'h': '65536' is too large for f16\n");
}

TEST(Csv, one_column_that_may_be_absent) {
  const CopyProgram copy(sampled);
  const Folder folder;
  const std::string c = folder.write("c.csv", "c\nF\nT\nF\n");
  const std::string x = folder.write("x.csv", "x\n\n5\n\"\"\n");
  const Outcome outcome =
      run(copy.table(), {"--input", "c=" + c, "--input", "x=" + x, "--output", "x=" + folder.path("out.csv")});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(folder.read("out.csv"), "x\n\"\"\n5\n\"\"\n");
}

TEST(CsvErrors, missing_column) {
  EXPECT_EQ(refused_csv(two, "x,N\n1,2\n", ""), "in.csv:1: no column 'n' for input 'n' (i32); did you mean 'N'?\n");
  EXPECT_EQ(refused_csv({{"batch_end", RML_BOOL}}, "bacth_end,x\n1,2\n", ""),
            "in.csv:1: no column 'batch_end' for input 'batch_end' (bool); did you mean 'bacth_end'?\n");
  EXPECT_EQ(refused_csv({{"v", RML_F32, {3}}}, "v[0],v[1]\n1,2\n", ""),
            "in.csv:1: no column 'v[2]' for input 'v' (f32[3], columns v[0] to v[2])\n");
  EXPECT_EQ(refused_csv({{"v", RML_F32, {3}}}, "v\n1\n", ""),
            "in.csv:1: no column 'v[0]' for input 'v' (f32[3], columns v[0] to v[2]); there is a column 'v', but the "
            "input is not a scalar\n");
  EXPECT_EQ(refused_csv(one_float, "x[0]\n1\n", ""),
            "in.csv:1: no column 'x' for input 'x' (f32); there is a column 'x[0]', but the input is a scalar\n");
  EXPECT_EQ(refused_csv(two, "-- file: rows.csv\nx,n\n", ""),
            "in.csv:1: no column 'x' for input 'x' (f32); the first line, which names the columns, has only "
            "'--file:rows.csv'\n");
}

TEST(CsvErrors, another_separator) {
  EXPECT_EQ(refused_csv(two, "x;n\n1;2\n", ""),
            "in.csv:1: no column 'x' for input 'x' (f32); the separator looks like ';': --delimiter ';' reads it\n");
  EXPECT_EQ(
      refused_csv(two, "n\tx\n1\t2\n", ""),
      "in.csv:1: no column 'x' for input 'x' (f32); the separator looks like a tab: --delimiter 'tab' reads it\n");
}

TEST(CsvErrors, header) {
  EXPECT_EQ(refused_csv(one_float, "", ""), "in.csv: empty; expected a header of column names\n");
  EXPECT_EQ(refused_csv(two, "1,2\n3,4\n", ""), "in.csv:1: expected a header of column names, found numbers\n");
  EXPECT_EQ(refused_csv(one_float, "x,x\n1,2\n", ""), "in.csv:1: column 'x' appears twice\n");
}

TEST(CsvErrors, wrong_type) {
  EXPECT_EQ(refused_csv(two, "x,n\n1,2\n1,abc\n", "x,n\n1,2\n"),
            "in.csv:3:3: cycle 1: column 'n': 'abc' is not an i32; --classes n=FILE reads texts: line k is class k\n");
  EXPECT_EQ(refused_csv(two, "x,n\n1,2.5\n", "x,n\n"),
            "in.csv:2:3: cycle 0: column 'n': '2.5' is not an i32; declare an input of floats as x: f32\n");
  EXPECT_EQ(refused_csv({{"k", RML_I64}}, "k\n2.5\n", "k\n"), "in.csv:2:1: cycle 0: column 'k': '2.5' is not an i64\n");
  EXPECT_EQ(refused_csv(two, "x,n\n1 2,2\n", "x,n\n"), "in.csv:2:1: cycle 0: column 'x': '1 2' is not an f32\n");
  EXPECT_EQ(refused_csv(two, "x,n\n1e40,2\n", "x,n\n"),
            "in.csv:2:1: cycle 0: column 'x': '1e40' is too large for f32\n");
  EXPECT_EQ(refused_csv({{"b", RML_BOOL}}, "b\nyes\n", "b\n"),
            "in.csv:2:1: cycle 0: column 'b': 'yes' is not a bool (true or false, T or F, 1 or 0)\n");
  EXPECT_EQ(refused_csv(two, "s,x,n\n\"é\n\",1,q\n", "x,n\n"),
            "in.csv:3:5: cycle 0: column 'n': 'q' is not an i32; --classes n=FILE reads texts: line k is class k\n");
}

TEST(CsvErrors, ragged_rows) {
  EXPECT_EQ(refused_csv(two, "x,n\n1,2\n3\n", "x,n\n1,2\n"), "in.csv:3: cycle 1: the row has 1 field, the header 2\n");
  EXPECT_EQ(refused_csv(two, "x,n\n1,2,3,4\n", "x,n\n"),
            "in.csv:2: cycle 0: the row has 4 fields, the header 2 (a comma separates columns: a number has a decimal "
            "point, and --delimiter ';' reads columns separated by semicolons)\n");
  EXPECT_EQ(refused_csv(two, "x,n\n1,2\n\n3,4\n", "x,n\n1,2\n"), "in.csv:3: cycle 1: blank line\n");
  EXPECT_EQ(refused_csv(two, "x,n\n1,\"2\n", "x,n\n"), "in.csv:2: a quoted field is not closed\n");
}

TEST(CsvErrors, presence) {
  EXPECT_EQ(refused_csv(two, "x,n\n1,2\n1,\n", "x,n\n1,2\n"),
            "in.csv:3:3: cycle 1: column 'n' is empty, but 'n' is present at every cycle (clock base); if cells "
            "may be missing, declare the inputs `n_present: bool, n: i32 when n_present` and add --missing absent\n");
  EXPECT_EQ(refused_csv({{"v", RML_F32, {2}}}, "v[0],v[1]\n1,2\n1,\n", "v[0],v[1]\n1,2\n"),
            "in.csv:3:3: cycle 1: column 'v[1]' is empty, but other elements of 'v' are not\n");
  EXPECT_EQ(refused_csv(sampled, "c,x\nT,1\nF,2\n", "c,x\ntrue,1\n"),
            "in.csv:3:3: cycle 1: column 'x' has a value, but its clock (base on c) says that it is absent at this "
            "cycle\n");
  EXPECT_EQ(refused_csv(sampled, "c,x\nT,1\nT,\n", "c,x\ntrue,1\n"),
            "in.csv:3:3: cycle 1: column 'x' is empty, but its clock (base on c) says that it is present at this "
            "cycle\n");
}

// Wide rows and many rows exceed the buffers of reader and writer.
TEST(Csv, rows_larger_than_any_buffer) {
  const std::vector<PortSpec> ports = {{"v", RML_F64, {50000}}};
  const CopyProgram copy(ports);
  const Folder folder;
  std::string text;
  for (int k = 0; k < 50000; ++k) text += (k ? ",v[" : "v[") + std::to_string(k) + "]";
  text += "\n";
  for (int row = 0; row < 4; ++row) {
    for (int k = 0; k < 50000; ++k) text += (k ? "," : "") + std::to_string(row * 50000 + k) + ".125";
    text += "\n";
  }
  const std::string in = folder.write("in.csv", text);
  const Outcome outcome = run(copy.table(), {"--input", in, "--output", folder.path("out.csv")});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(folder.read("out.csv") == text);
}

TEST(Csv, gzip) {
  const CopyProgram copy(two);
  const Folder folder;
  const std::string text = "x,n\n1,2\n3,4\n";
  const std::string in = folder.write("in.csv", text);
  Outcome outcome = run(copy.table(), {"--input", in, "--output", folder.path("a.csv.gz")});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  outcome = run(copy.table(), {"--input", folder.path("a.csv.gz")});
  EXPECT_EQ(outcome.out, text);
  // Concatenated gzip members, as after `cat a.gz b.gz`.
  EXPECT_EQ(std::system(("cd " + folder.path("") +
                         " && printf 'x,n\\n' | gzip > b.csv.gz && printf '5,6\\n7,8\\n' | gzip >> b.csv.gz")
                            .c_str()),
            0);
  outcome = run(copy.table(), {"--input", folder.path("b.csv.gz")});
  EXPECT_EQ(outcome.out, "x,n\n5,6\n7,8\n");
  const std::string whole = folder.read("a.csv.gz");
  folder.write("short.csv.gz", whole.substr(0, whole.size() - 6));
  outcome = run(copy.table(), {"--input", folder.path("short.csv.gz")});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("short.csv.gz: truncated: the compressed data ends too early"), std::string::npos);
  folder.write("plain.csv.gz", text);
  outcome = run(copy.table(), {"--input", folder.path("plain.csv.gz")});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("damaged compressed data (incorrect header check)"), std::string::npos);
}

}  // namespace
}  // namespace rml::rt::test
