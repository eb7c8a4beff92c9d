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
  std::optional<SpecialisedNode> entry;
};

Defined define(const std::string& text, const std::vector<std::string>& definitions) {
  // The test binary has no standard library beside it, so the test writes its own prelude.
  const test::TemporaryFolder folder;
  folder.write("prelude.rml", "-- empty\n");
  const ParseOptions options{{}, folder.path()};
  Defined d;
  d.program = parse_text("test.rml", text, options, d.sources, d.diagnostics);
  DefinedConstants defined = define_constants(d.program, "f", definitions, options, d.sources, d.diagnostics);
  d.good = defined.good;
  d.entry = std::move(defined.entry);
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

TEST(ConstantDefinitions, MakesAnInputAVariableOfACopy) {
  const Defined d = define("node f(k, x: f64[k]) -> (y) y = diff[g(k)] h(x); node main() -> (y) y = f(1, [2.0]);",
                           {"k=3", "k=2 * 2"});
  ASSERT_TRUE(d.good);
  ASSERT_TRUE(d.entry);
  const ast::Node& made = d.program[d.entry->node];
  const ast::Node& of = d.program[d.entry->of];
  EXPECT_EQ(of.inputs.size(), 2u);
  ASSERT_EQ(made.inputs.size(), 1u);
  ASSERT_EQ(made.equations.size(), 2u);
  EXPECT_EQ(d.program.text(made.equations[0].targets[0].name), "k");
  EXPECT_EQ(std::get<ast::Binary>(d.program[made.equations[0].value]).op, BinaryOp::mul);
  ASSERT_NE(d.entry->value(of.inputs[0].name), nullptr);
  EXPECT_EQ(*d.entry->value(of.inputs[0].name), "2 * 2");
  EXPECT_EQ(d.entry->value(of.inputs[1].name), nullptr);
  // Nothing is shared with the original, whose names may mean something else.
  EXPECT_NE(made.equations[1].value, of.equations[0].value);
  EXPECT_NE(made.inputs[0].type->shape[0], of.inputs[1].type->shape[0]);
  const auto optimizer = [&](const ast::Node& node, std::size_t equation) {
    return std::get<ast::Call>(d.program[node.equations[equation].value]).diff->optimizer_arguments[0];
  };
  EXPECT_NE(optimizer(made, 1), optimizer(of, 0));
}

TEST(ConstantDefinitions, ConstantsComeFirst) {
  const Defined d = define("const k = 1; node f(k) -> (y) y = k;", {"k=3"});
  ASSERT_TRUE(d.good);
  EXPECT_FALSE(d.entry);
  EXPECT_EQ(std::get<ast::IntLiteral>(value_of(d, 0)).value, 3u);
}

}  // namespace
}  // namespace rml
