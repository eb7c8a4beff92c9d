// Hostile and very large texts must be answered within seconds, without a crash. The limits are
// generous, because sanitizers are slow.
#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include "frontend/format.h"
#include "frontend/render.h"
#include "tests/unit/frontend/parsed.h"

namespace rml::test {
namespace {

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

// Measures processor time, because the machine may be busy.
double seconds_since(std::clock_t begin) { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; }

// Returns the first message, or an empty text. Everything is rendered and formatted as well.
std::string first_message(const std::string& text) {
  const std::clock_t begin = std::clock();
  Parsed p(text);
  const std::string human = render_human(p.diagnostics, p.sources, true);
  EXPECT_EQ(human.empty(), p.messages().empty());
  const std::optional<std::string> formatted = format(1, p.sources, p.diagnostics);
  const double took = seconds_since(begin);
  EXPECT_LT(took, 60);
  return p.messages().empty() ? "" : p.messages().front();
}

std::string in_equation(const std::string& value) { return first_message("node f(a) -> (o)\n  o = " + value + ";\n"); }

bool too_deep(const std::string& message) { return message.find("E0104") != std::string::npos; }

TEST(Robustness, deep_nesting_is_parsed_or_refused) {
  EXPECT_EQ(in_equation(repeated("(", 9990) + "1" + repeated(")", 9990)), "");
  EXPECT_EQ(in_equation(repeated("f(x, ", 9990) + "1" + repeated(")", 9990)), "");
  EXPECT_EQ(in_equation(repeated("x[", 9990) + "1" + repeated("]", 9990)), "");
  EXPECT_EQ(in_equation(repeated("- ", 9990) + "1"), "");
  EXPECT_EQ(in_equation(repeated("if c then a else ", 9990) + "1"), "");
  EXPECT_EQ(in_equation(repeated("if ", 4990) + "c" + repeated(" then a else b", 4990)), "");
  EXPECT_EQ(in_equation(repeated("0 fby ", 9990) + "1"), "");
  EXPECT_EQ(in_equation("x" + repeated(" when c", 9990)), "");
  EXPECT_TRUE(too_deep(in_equation(repeated("(", 100000) + "1" + repeated(")", 100000))));
  EXPECT_TRUE(too_deep(in_equation(repeated("[", 100000))));
  EXPECT_TRUE(too_deep(in_equation(repeated("- ", 100000) + "1")));
  EXPECT_TRUE(too_deep(in_equation(repeated("not ", 100000))));
  EXPECT_TRUE(too_deep(in_equation(repeated("if ", 100000))));
  EXPECT_TRUE(too_deep(in_equation(repeated("0 fby ", 100000) + "1")));
  EXPECT_TRUE(too_deep(in_equation("x" + repeated(" when c", 20000))));
  EXPECT_TRUE(too_deep(in_equation("x" + repeated("[0]", 20000))));
}

TEST(Robustness, long_chains) {
  EXPECT_EQ(in_equation("a" + repeated(" + a", 5000)), "");
  EXPECT_TRUE(too_deep(in_equation("a" + repeated(" + a", 20000))));
  EXPECT_EQ(in_equation("(a" + repeated(") + (a", 20) + ")"), "");
  EXPECT_EQ(in_equation("[(-a)" + repeated(", (-a)", 20000) + "]"), "");
}

TEST(Robustness, long_lines_and_names) {
  EXPECT_EQ(in_equation(repeated("a", 1 << 20)), "");
  EXPECT_EQ(first_message("node f(a) -> (o)\n" + repeated("o = a + b; ", 50000) + "\n"), "");
  EXPECT_NE(in_equation(repeated("a ", 1 << 19)), "");
}

TEST(Robustness, many_equations) {
  std::string text = "node f(x0) -> (o)\n";
  for (int i = 1; i <= 100000; ++i) {
    text += "  x" + std::to_string(i) + " = x" + std::to_string(i - 1) + " + 1;\n";
  }
  const std::clock_t begin = std::clock();
  const Parsed p(text + "  o = x100000;\n");
  const double took = seconds_since(begin);
  EXPECT_FALSE(p.diagnostics.has_errors());
  EXPECT_EQ(p.node().equations.size(), 100001u);
  RecordProperty("milliseconds", static_cast<int>(took * 1000));
  EXPECT_LT(took, 30);
}

TEST(Robustness, junk) {
  EXPECT_EQ(first_message(""), "");
  EXPECT_EQ(first_message("\xEF\xBB\xBF"), "");
  EXPECT_EQ(first_message("\xEF\xBB\xBFnode f(a) -> (o)\r\n  o = a;\r\n"), "");
  for (const std::string piece :
       {"(*",     "*)",    "(",  ")",    "[",    "]",       ";",      "\"", "\\", "--\n", "node ", "if ",
        "merge ", "diff[", "= ", "\xff", "x = ", "import ", "const ", ", ", ":",  "0x",   "1e",    "\xC3"}) {
    EXPECT_NE(first_message(repeated(piece, 20000)), piece == "--\n" ? "?" : "") << piece;
    EXPECT_NE(in_equation(repeated(piece, 20000)), piece == "--\n" ? "" : "") << piece;
  }
}

TEST(Robustness, random_tokens) {
  const char* const tokens[] = {"node ", "f",        "(",      ")",      "->",      "a",     ",",     "=",
                                ";",     "\n  o = ", "if ",    " then ", " else ",  "[",     "]",     "merge ",
                                "+",     "-",        " when ", " not ",  "1",       "2.5",   "\"s\"", "assert ",
                                ":",     "_",        "diff ",  ".",      "(* c *)", "-- c\n"};
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string text = "node f(a) -> (o)\n  o = ";
    for (int i = 0; i < 30; ++i) text += tokens[random() % std::size(tokens)];
    first_message(text);
  }
}

}  // namespace
}  // namespace rml::test
