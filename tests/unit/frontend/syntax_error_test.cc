// Syntax errors: places and texts, recovery without follow-up errors, and fix-its that apply.
#include <gtest/gtest.h>

#include "tests/unit/frontend/parsed.h"

namespace rml::test {
namespace {

using Messages = std::vector<std::string>;

Messages in_body(const std::string& equations) { return Parsed("node f(a) -> (o)\n" + equations).messages(); }

TEST(SyntaxError, says_what_was_expected) {
  EXPECT_EQ(in_body("o = a b;"), Messages{"2:7 E0101 expected an operator or `;`, found `b`"});
  EXPECT_EQ(in_body("o = a + ;"), Messages{"2:9 E0101 expected an expression, found `;`"});
  EXPECT_EQ(in_body("o = f(a, b;"), Messages{"2:11 E0101 expected an operator or `)`, found `;`"});
  EXPECT_EQ(in_body("o = [a;"), Messages{"2:7 E0101 expected an operator or `]`, found `;`"});
  EXPECT_EQ(in_body("o = (a, b);"), Messages{"2:7 E0101 expected an operator or `)`, found `,`"});
  EXPECT_EQ(in_body("o = if a then b;"), Messages{"2:16 E0101 expected an operator or `else`, found `;`"});
  EXPECT_EQ(in_body("o = merge a b;"),
            Messages{"2:14 E0101 expected a name, a literal or a parenthesised expression, found `;`"});
  EXPECT_EQ(in_body("o = a)"), Messages{"2:6 E0101 `)` has no opening bracket"});
  EXPECT_EQ(in_body("o, p = a, b;"), Messages{"2:9 E0101 expected an operator or `;`, found `,`"});
  EXPECT_EQ(in_body("o = x[];"), Messages{"2:7 E0101 expected an expression or `:`, found `]`"});
  EXPECT_EQ(in_body("o = a < b < c;"), Messages{"2:11 E0101 comparisons do not chain"});
  EXPECT_EQ(in_body("assert a, b;"), Messages{"2:11 E0101 expected a string, found `b`"});
  EXPECT_EQ(in_body("assert a, \"\\q\";"), Messages{"2:12 E0101 unknown escape in a string"});
  EXPECT_EQ(in_body("post = 3;"), Messages{"2:1 E0101 `post` is a keyword and cannot be a name"});
  EXPECT_EQ(in_body("3 = a;"), Messages{"2:1 E0101 expected an equation, found `3`"});
  EXPECT_EQ(in_body("o = a;;"), Messages{"2:7 E0101 unexpected `;`"});
  EXPECT_EQ(in_body("o = 3x;"), Messages{"2:5 E0101 this is neither a number nor a name"});
}

TEST(SyntaxError, of_items) {
  EXPECT_EQ(Parsed("x = 1;").messages(), Messages{"1:1 E0101 expected `node`, `const` or `import`, found `x`"});
  EXPECT_EQ(Parsed("node f(a) (o)\n  o = a;").messages(), Messages{"1:11 E0101 expected `->`, found `(`"});
  EXPECT_EQ(Parsed("node f(post) -> (o)").messages(), Messages{"1:8 E0101 `post` is a keyword and cannot be a name"});
  EXPECT_EQ(Parsed("const k 3;").messages(), Messages{"1:9 E0101 expected `=`, found `3`"});
  EXPECT_EQ(Parsed("import ;").messages(), Messages{"1:8 E0101 expected a name or a string, found `;`"});
  EXPECT_EQ(Parsed("node f(a: f32[3) -> (o)").messages(),
            Messages{"1:16 E0101 expected an operator or `]`, found `)`"});
  EXPECT_EQ(Parsed("node f(a: f64 dealt, b: bool) -> (o)").messages(),
            Messages{"1:20 E0101 expected the input that ends a micro-batch, as in `dealt end by 4`, found `,`"});
}

TEST(SyntaxError, recognises_other_languages) {
  EXPECT_EQ(in_body("o = a = b;"), Messages{"2:7 E0101 `=` defines; a comparison is written `==`"});
  EXPECT_EQ(in_body("o := a;"), Messages{"2:3 E0101 `:=` is not an operator of R(ML)²"});
  EXPECT_EQ(in_body("o = a <> b;"), Messages{"2:7 E0101 `<>` is not an operator of R(ML)²"});
  EXPECT_EQ(in_body("o = a && b;"), Messages{"2:7 E0101 `&&` is not an operator of R(ML)²"});
  EXPECT_EQ(in_body("o = a || !b;"),
            (Messages{"2:7 E0101 `||` is not an operator of R(ML)²", "2:10 E0101 `!` is not an operator of R(ML)²"}));
  EXPECT_EQ(in_body("o = 0 -> pre a;"), Messages{"2:7 E0101 `->` is not an operator of R(ML)²"});
  EXPECT_EQ(in_body("o = pre a;"), Messages{"2:5 E0101 R(ML)² has no `pre`"});
  EXPECT_EQ(in_body("o = .5 + 1.;"), (Messages{"2:5 E0101 a float needs a digit on both sides of its point",
                                               "2:10 E0101 a float needs a digit on both sides of its point"}));
  EXPECT_EQ(Parsed("node f(a: int) returns (o: int)\nvar x: int;\nlet\n  o = a;\ntel\n").messages(),
            (Messages{"1:16 E0101 R(ML)² writes `->` before the outputs",
                      "2:1 E0101 R(ML)² has no `var`: variables are not declared", "3:1 E0101 R(ML)² has no `let`",
                      "5:1 E0101 R(ML)² has no `tel`"}));
  EXPECT_EQ(in_body("var x: int;\nlet\n  o = a;\ntel"),
            (Messages{"2:1 E0101 R(ML)² has no `var`: variables are not declared", "3:1 E0101 R(ML)² has no `let`",
                      "5:1 E0101 R(ML)² has no `tel`"}));
}

TEST(SyntaxError, headers_of_other_languages_are_read) {
  const Parsed p("def f(a: int; b: int,) returns (merge: int)\n  merge = a + b;\n");
  EXPECT_EQ(p.messages(),
            (Messages{"1:1 E0101 a node is declared with `node`", "1:13 E0101 parameters are separated by `,`",
                      "1:24 E0101 R(ML)² writes `->` before the outputs",
                      "1:33 E0101 `merge` is a keyword and cannot be a name"}));
  EXPECT_EQ(p.node().inputs.size(), 2u);
  EXPECT_EQ(p.node().outputs.size(), 1u);
  EXPECT_EQ(p.value(0), "(+ a b)");
}

TEST(SyntaxError, characters_and_encoding) {
  EXPECT_EQ(in_body("o = a − 1;"), Messages{"2:7 E0102 `−` has no meaning here"});
  EXPECT_EQ(in_body("o = α + é;"),
            (Messages{"2:5 E0102 `α` has no meaning here", "2:9 E0102 `é` has no meaning here"}));
  EXPECT_EQ(in_body(std::string("o = \0 1;", 8)),
            Messages{"2:5 E0102 the control character with code 0 has no meaning here"});
  EXPECT_EQ(in_body("-- é\xff\no = a;"), Messages{"2:5 E0102 this is not UTF-8"});
  EXPECT_EQ(in_body("o = \xff\xfe;"), Messages{"2:5 E0102 this is not UTF-8"});
}

TEST(SyntaxError, unterminated) {
  EXPECT_EQ(in_body("o = a; (* (* *)"), Messages{"2:8 E0105 this comment is not closed"});
  EXPECT_EQ(in_body("o = (* a;\n"), Messages{"2:5 E0105 this comment is not closed"});
  EXPECT_EQ(in_body("assert a, \"abc;\no = a;"), Messages{"2:11 E0105 this string is not closed on its line"});
}

TEST(SyntaxError, one_per_equation_and_all_of_them) {
  const Messages expected = {"2:6 E0101 expected an expression, found `=`",
                             "4:5 E0101 expected an expression, found `*`",
                             "7:1 E0101 expected `node`, `const` or `import`, found `x`"};
  const Parsed p(
      "node f(a) -> (o)\nx = (= 1 = 2;\ny = a;\nz = * * *;\no = y;\nconst k = 3;\nx = 3;\nnode g() -> (o)\no = 1;");
  EXPECT_EQ(p.messages(), expected);
  ASSERT_EQ(p.node(0).equations.size(), 4u);
  EXPECT_EQ(p.value(0), "<error>");
  EXPECT_EQ(p.value(1), "a");
  EXPECT_EQ(p.node(1).equations.size(), 1u);
}

TEST(SyntaxError, a_broken_header_keeps_its_equations) {
  const Parsed p("node f(a b) -> (o)\n  o = a;\n  p = o;\n");
  EXPECT_EQ(p.messages(), Messages{"1:10 E0101 expected `)`, found `b`"});
  EXPECT_EQ(p.node().equations.size(), 2u);
}

TEST(SyntaxError, a_missing_semicolon_costs_no_equation) {
  const Parsed p("node f(a) -> (o)\n  x = a\n  y = x -- end\nconst k = 1\nnode g() -> (o)\n  o = 1");
  EXPECT_EQ(p.messages(), (Messages{"2:8 E0101 expected `;`", "3:8 E0101 expected `;`", "4:12 E0101 expected `;`",
                                    "6:8 E0101 expected `;`"}));
  EXPECT_EQ(p.node(0).equations.size(), 2u);
  EXPECT_EQ(p.value(0), "a");
}

// Applies every certain fix, from the last to the first.
std::string mended(const Parsed& p, std::string text) {
  std::vector<FixIt> fixes;
  for (const Diagnostic& d : p.diagnostics.all()) {
    for (const FixIt& fix : d.fixes) {
      if (fix.certain) fixes.push_back(fix);
    }
  }
  for (auto fix = fixes.rbegin(); fix != fixes.rend(); ++fix) {
    text.replace(fix->span.begin, fix->span.end - fix->span.begin, fix->replacement);
  }
  return text;
}

TEST(SyntaxError, certain_fixes_mend) {
  const std::string texts[] = {
      "node f(a) -> (o)\n  x = a\n  o = x",     "node f(a) returns (o)\n  o = a;",
      "node f(a) -> (o)\nlet\n  o = a;\ntel\n", "node f(a) -> (o)\n  o := !a;",
      "node f(a) -> (o)\n  o = a <> .5;;",
  };
  for (const std::string& text : texts) {
    const Parsed broken(text);
    EXPECT_TRUE(broken.diagnostics.has_errors()) << text;
    const Parsed whole(mended(broken, text));
    EXPECT_EQ(whole.messages(), Messages{}) << mended(broken, text);
  }
}

}  // namespace
}  // namespace rml::test
