// The canonical layout: single cases, idempotence, and preservation of all tokens.
#include "frontend/format.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "frontend/token.h"
#include "tests/unit/frontend/parsed.h"

namespace rml::test {
namespace {

std::vector<std::string> tokens_of(const std::string& text) {
  SourceMap sources;
  Diagnostics diagnostics;
  const std::uint32_t file = sources.add("t.rml", text);
  std::vector<std::string> result;
  for (const Token& t : scan(file, sources, diagnostics)) {
    if (!is_comment(t.kind)) result.emplace_back(sources.text({file, t.begin, t.end}));
  }
  return result;
}

// Formats the text and checks that a second formatting changes nothing and that no token is lost.
std::string formatted(const std::string& text) {
  SourceMap sources;
  Diagnostics diagnostics;
  const std::optional<std::string> once = format(sources.add("t.rml", text), sources, diagnostics);
  if (!once) return "<" + diagnostics.all().at(0).message + ">";
  const std::optional<std::string> twice = format(sources.add("t.rml", *once), sources, diagnostics);
  EXPECT_TRUE(twice.has_value()) << *once;
  EXPECT_EQ(twice.value_or(""), *once);
  EXPECT_EQ(tokens_of(*once), tokens_of(text));
  return *once;
}

std::string equation(const std::string& text) {
  const std::string header = "node f() -> (o)\n  ";
  return formatted(header + text).substr(header.size());
}

TEST(Format, spaces) {
  EXPECT_EQ(equation("x:f32 [3,4]when c,_=g (a,stride=[ 2,2 ])when not c;"),
            "x: f32[3, 4] when c, _ = g(a, stride=[2, 2]) when not c;\n");
  EXPECT_EQ(equation("o=a+b*- c;"), "o = a + b * -c;\n");
  EXPECT_EQ(equation("o = - - a - -b;"), "o = - -a - -b;\n");
  EXPECT_EQ(equation("o = x [ 1 : 3,: ,n , 2 :] [:m];"), "o = x[1:3, :, n, 2:][:m];\n");
  EXPECT_EQ(equation("o = diff [adam (0.1)] f (x)+n . g();"), "o = diff[adam(0.1)] f(x) + n.g();\n");
  EXPECT_EQ(equation("o = merge c y (z);"), "o = merge c y (z);\n");
  EXPECT_EQ(equation("o = merge c y(z)(w);"), "o = merge c y(z) (w);\n");
  EXPECT_EQ(equation("o = merge(c)[1]x [2];"), "o = merge (c)[1] x [2];\n");
  EXPECT_EQ(equation("o = if(a)then not(b)else-c;"), "o = if (a) then not (b) else -c;\n");
  EXPECT_EQ(equation("assert a<=b,\"no  blanks lost\";"), "assert a <= b, \"no  blanks lost\";\n");
}

TEST(Format, items) {
  EXPECT_EQ(
      formatted("import a ;import   \"b.rml\";\n\n\n\nconst n:i32=4;node f ( ) ->( o )o=n;node g(a:f32)->(o:f32)"),
      "import a;\nimport \"b.rml\";\n\nconst n: i32 = 4;\n\nnode f() -> (o)\n  o = n;\n\n"
      "node g(a: f32) -> (o: f32)\n");
  EXPECT_EQ(formatted(""), "");
  EXPECT_EQ(formatted("\n\n"), "");
  EXPECT_EQ(formatted("-- only a comment"), "-- only a comment\n");
  EXPECT_EQ(formatted("\xEF\xBB\xBFnode f() -> (o)\r\n\r\n  o = 1; -- x \r\n"), "node f() -> (o)\n  o = 1; -- x\n");
}

TEST(Format, blank_lines_between_equations_are_kept_up_to_one) {
  EXPECT_EQ(formatted("node f() -> (o)\n\n  a = 1;\n\n\n  b = 2;\n  o = 3;\n"),
            "node f() -> (o)\n  a = 1;\n\n  b = 2;\n  o = 3;\n");
}

TEST(Format, comments_stay_where_they_are) {
  const std::string text =
      "-- of the file\n"
      "\n"
      "import a; -- of the import\n"
      "\n"
      "(* of f,\n"
      "   two lines *)\n"
      "node f(a, -- of a\n"
      "    b) -> (o)\n"
      "  -- of x\n"
      "  x = 1; (* behind *) -- both\n"
      "\n"
      "  -- apart\n"
      "\n"
      "  o = x (* inner *) + (* inner *) 1\n"
      "      -- on its own line\n"
      "      + 2; -- last\n"
      "  -- end of f\n"
      "\n"
      "-- of g\n"
      "node g() -> ()\n"
      "\n"
      "-- end of file\n";
  EXPECT_EQ(formatted(text), text);
}

TEST(Format, long_equations_are_broken_where_the_operator_is_loosest) {
  const std::string wide = "a_rather_long_name_for_a_variable";
  EXPECT_EQ(equation("o = " + wide + " * " + wide + " + " + wide + " * " + wide + ";"),
            "o = " + wide + " * " + wide + "\n      + " + wide + " * " + wide + ";\n");
  EXPECT_EQ(equation("o = if " + wide + " then " + wide + " else " + wide + ";"),
            "o = if " + wide + " then " + wide + "\n      else " + wide + ";\n");
  EXPECT_EQ(equation("o = f(" + wide + ", " + wide + ", " + wide + ");"),
            "o = f(" + wide + ", " + wide + ",\n      " + wide + ");\n");
  const std::string unbreakable(150, 'x');
  EXPECT_EQ(equation("o = " + unbreakable + ";"), "o =\n      " + unbreakable + ";\n");
}

TEST(Format, no_line_that_can_be_broken_is_too_long) {
  std::string sum = "o = a";
  for (int i = 0; i < 200; ++i) sum += " + f(a, b * " + std::to_string(i) + ")";
  const std::string text = equation(sum + ";");
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    EXPECT_LE(end - begin, 100u);
    begin = end + 1;
  }
}

TEST(Format, what_does_not_parse_is_not_formatted) {
  EXPECT_EQ(formatted("node f() -> (o)\n  o = ;"), "<expected an expression, found `;`>");
}

TEST(Format, the_prelude_is_formatted) {
  std::ifstream in(std::string(RML_STDLIB_DIR) + "/prelude.rml");
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_EQ(formatted(text), text);
}

}  // namespace
}  // namespace rml::test
