// -D NAME=VALUE: the value replaces that of the constant, in whichever file it is defined.
#include "compiler/constant_definitions.h"

#include <gtest/gtest.h>

#include "tests/unit/temporary_folder.h"

namespace rml {
namespace {

struct Defined {
  Program program;
  SourceMap sources;
  Diagnostics diagnostics;
  bool good = false;
};

Defined define(const std::string& text, const std::vector<std::string>& definitions) {
  // The test binary has no standard library beside it, so the test writes its own prelude.
  const test::TemporaryFolder folder;
  folder.write("prelude.rml", "-- empty\n");
  const ParseOptions options{{}, folder.path()};
  Defined d;
  d.program = parse_text("test.rml", text, options, d.sources, d.diagnostics);
  d.good = define_constants(d.program, definitions, options, d.sources, d.diagnostics);
  return d;
}

const ast::Expr& value_of(const Defined& d, std::size_t k) {
  return d.program[d.program.consts[d.program.modules[0].consts[k].index].value];
}

TEST(ConstantDefinitions, ReplacesTheValue) {
  const Defined d = define("const a = 1; const b = 2;", {"b=30"});
  ASSERT_TRUE(d.good);
  EXPECT_EQ(std::get<ast::IntLiteral>(value_of(d, 0)).value, 1u);
  EXPECT_EQ(std::get<ast::IntLiteral>(value_of(d, 1)).value, 30u);
}

TEST(ConstantDefinitions, TakesAnyExpression) {
  const Defined d = define("const a = 1;", {"a=matmul([1, 2], x[0:n]) + f(k=if true then 1.5 else -2.0)"});
  ASSERT_TRUE(d.good);
  EXPECT_EQ(std::get<ast::Binary>(value_of(d, 0)).op, BinaryOp::add);
}

TEST(ConstantDefinitions, LaterOnesWin) {
  const Defined d = define("const a = 1;", {"a=2", "a=3"});
  ASSERT_TRUE(d.good);
  EXPECT_EQ(std::get<ast::IntLiteral>(value_of(d, 0)).value, 3u);
}

TEST(ConstantDefinitions, RefusesWhatIsNotADefinition) {
  for (const char* bad : {"a", "=1", "a=", "a=1;", "a=1; const b = 2", "a=)", "1a=2", "c=1"}) {
    const Defined d = define("const a = 1;", {bad});
    EXPECT_FALSE(d.good) << bad;
    ASSERT_FALSE(d.diagnostics.all().empty()) << bad;
    EXPECT_EQ(d.diagnostics.all().front().code, Code::E0902) << bad;
  }
}

}  // namespace
}  // namespace rml
