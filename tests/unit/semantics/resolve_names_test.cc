// resolve_names: scopes, callees, order of arguments, and reported errors.
#include <gtest/gtest.h>

#include "tests/unit/semantics/checked_program.h"

namespace rml {
namespace {

const ast::Call& call_of(const CheckedProgram& p, const std::string& node) {
  return std::get<ast::Call>(p.program[p.program.nodes[p.node(node).index].equations[0].value]);
}

ExprId value_of(const CheckedProgram& p, const std::string& node) {
  return p.program.nodes[p.node(node).index].equations[0].value;
}

TEST(ResolveNames, VariablesAreInputsOutputsLocals) {
  CheckedProgram p("node f(x) -> (o) o = k * x; k = 2.0;");
  EXPECT_EQ(p.codes(), "");
  const auto& variables = p.checked.names.nodes[p.node("f").index].variables;
  ASSERT_EQ(variables.size(), 3u);
  EXPECT_EQ(p.program.text(variables[2].name), "k");
  EXPECT_EQ(variables[1].equation, 0u);
  EXPECT_EQ(variables[2].equation, 1u);
}

TEST(ResolveNames, EquationsThatCouldNotBeReadMakeNoExternalNode) {
  EXPECT_EQ(CheckedProgram("node f(a) -> (o)\n  (* open\n  o = a;\n").codes(), "E0105");
  EXPECT_EQ(CheckedProgram("node f(a) -> (o)\nnode g(x) -> (o)\n  (* open\n  o = x;\n").codes(), "E0105 E0308 E0308");
}

TEST(ResolveNames, VariablesHideConstants) {
  CheckedProgram p("const k = 1;\nnode f(k) -> (o) o = k;\nnode g(x) -> (o) o = x + k;");
  EXPECT_EQ(p.codes(), "");
  EXPECT_TRUE(std::holds_alternative<VariableRef>(p.checked.names.references[value_of(p, "f").index]));
}

TEST(ResolveNames, NodesHideOperatorsAndThePreludeIsEverywhere) {
  CheckedProgram p("node max(a) -> (o) o = a;\nnode g(x) -> (o) o = max(x);\nnode h(e, x) -> (o) o = backfill(x, e);");
  EXPECT_EQ(p.codes(), "W0202");
  EXPECT_TRUE(std::holds_alternative<NodeRef>(p.checked.names.references[value_of(p, "g").index]));
  EXPECT_TRUE(std::holds_alternative<NodeRef>(p.checked.names.references[value_of(p, "h").index]));
}

TEST(ResolveNames, ArgumentsByPositionAndName) {
  CheckedProgram p("node f(a, b, c) -> (o) o = a + b + c;\nnode g(x) -> (o) o = f(x, c=1.0, b=2.0);");
  EXPECT_EQ(p.codes(), "");
  const auto& ordered = p.checked.names.arguments[value_of(p, "g").index];
  const auto& written = call_of(p, "g").arguments;
  ASSERT_EQ(ordered.size(), 3u);
  EXPECT_EQ(ordered[1], written[2].value);
  EXPECT_EQ(ordered[2], written[1].value);
}

TEST(ResolveNames, VariadicOperandsExpandInPlace) {
  CheckedProgram p("node g(x, y, z) -> (o) o = concat(x, y, z, axis=1);\nnode h(x, y) -> (o) o = concat(x, y);");
  EXPECT_EQ(p.codes(), "");
  const auto& with_axis = p.checked.names.arguments[value_of(p, "g").index];
  ASSERT_EQ(with_axis.size(), 4u);
  EXPECT_EQ(with_axis[3], call_of(p, "g").arguments[3].value);
  const auto& without = p.checked.names.arguments[value_of(p, "h").index];
  ASSERT_EQ(without.size(), 3u);
  EXPECT_FALSE(without[2].valid());
}

TEST(ResolveNames, DtypeArguments) {
  CheckedProgram p("node f(x: i32) -> (o) o = cast(float, x);");
  EXPECT_EQ(p.codes(), "");
  ExprId dtype = p.checked.names.arguments[value_of(p, "f").index][0];
  const auto* to = std::get_if<DTypeRef>(&p.checked.names.references[dtype.index]);
  ASSERT_NE(to, nullptr);
  EXPECT_EQ(to->dtype, DType::f32);
}

TEST(ResolveNames, IndexOrSlice) {
  CheckedProgram p("node f(x) -> (o) o = x[1];\nnode g(x) -> (o) o = x[1:2];\nnode h(x) -> (o) o = x[0, 1:];");
  auto op = [&](const char* node) {
    return operators()[std::get<OperatorRef>(p.checked.names.references[value_of(p, node).index]).op].name;
  };
  EXPECT_EQ(op("f"), "index");
  EXPECT_EQ(op("g"), "slice");
  EXPECT_EQ(op("h"), "index");
}

TEST(ResolveNames, OrderPutsCalleesFirst) {
  CheckedProgram p("node f(x) -> (o) o = g(x);\nnode g(x) -> (o) o = h(x) + h(x);\nnode h(x) -> (o) o = x;");
  std::vector<NodeId> own;
  for (NodeId n : p.checked.names.order)
    if (p.program.nodes[n.index].module == ModuleId{0}) own.push_back(n);
  EXPECT_EQ(own, (std::vector<NodeId>{p.node("h"), p.node("g"), p.node("f")}));
  EXPECT_EQ(p.checked.names.nodes[p.node("g").index].callees.size(), 1u);
}

class ResolveNamesRejects : public testing::TestWithParam<Rejected> {};

TEST_P(ResolveNamesRejects, WithCodeAndPlace) { expect_rejected(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    All, ResolveNamesRejects,
    testing::Values(Rejected{"node f(x) -> (o) o = xs + xs;", "E0201", "xs"},
                    Rejected{"node f(x) -> (o) o = matmull(x, x);", "E0201", "matmull"},
                    Rejected{"node f(x) -> (o) o = m.dense(x);", "E0201", "m.dense"},
                    Rejected{"node f(x) -> (o) o = x; o = x + 1;", "E0202", "o"},
                    Rejected{"node f(x) -> (o) x = 1; o = x;", "E0202", "x"},
                    Rejected{"node f(x, x) -> (o) o = x;", "E0202", "x"},
                    Rejected{"node f(x) -> (o) o = x;\nnode f(x) -> (p) p = x;", "E0202", "f"},
                    Rejected{"node f(x) -> (o, p) o = x;", "E0203", "p"},
                    Rejected{"node f(x) -> (o) o = f2(x);\nnode f2(x, y) -> (o) o = x + y;", "E0204", "f2"},
                    Rejected{"node f(x) -> (o) o = exp(x, x);", "E0204", "x"},
                    Rejected{"node f(x) -> (o) o, p = x;", "E0204", "x"},
                    Rejected{"node f(x) -> (o, p) o, p = exp(x);", "E0204", "exp"},
                    Rejected{"node f(x) -> (o) o = g(x, z=1);\nnode g(x, y) -> (o) o = x + y;", "E0205", "z"},
                    Rejected{"node f(x) -> (o) o = g(x, x=1);\nnode g(x, y) -> (o) o = x + y;", "E0205", "x"},
                    Rejected{"node f(x) -> (o) o = g(x);\nnode g(x) -> (o) o = f(x);", "E0206", "g"},
                    Rejected{"node f(x) -> (o) o = f(x);", "E0206", "f"},
                    Rejected{"node f(x) -> (o) o = x + g;\nnode g(x) -> (o) o = x;", "E0207", "g"},
                    Rejected{"node f(x) -> (o) o = x(1);", "E0207", "x"},
                    Rejected{"node f(x) -> (o) o = g(x) + 1;\nnode g(x) -> (o, p) o = x; p = x;", "E0207", "g"},
                    Rejected{"const a = b;\nconst b = a;\nnode f(x) -> (o) o = x + a;", "E0208", "a"},
                    Rejected{"node f(x) -> (o) o = diff tanh(x);", "E0604", "tanh"},
                    Rejected{"const a = 1 fby 2;", "E0304", "1 fby 2"}, Rejected{"node f(x) -> (o: f32)", "E0308", "x"},
                    Rejected{"node f(x) -> (o) o = cast(flaot, x);", "E0309", "flaot"},
                    Rejected{"node f(x) -> (o) o = x; y = x;", "W0201", "y"}));

TEST(ResolveNames, UnwrittenDiffNodeIsDifferentiation) {
  for (const std::string callee : {"diff_g(x)", "diff g(x)"}) {
    CheckedProgram p("node f(x) -> (o) o = " + callee + ";\nnode g(x) -> (o) o = x;");
    EXPECT_EQ(p.codes(), "");
    ASSERT_EQ(p.checked.names.diff_calls.size(), 1u);
    EXPECT_EQ(p.checked.names.diff_calls[0].of, p.node("g"));
    EXPECT_TRUE(p.checked.names.nodes[p.node("f").index].has_errors);
  }
}

TEST(ResolveNames, WrittenDiffNodeIsOrdinary) {
  EXPECT_EQ(
      CheckedProgram("node g(x) -> (o) o = x;\nnode diff_g(x) -> (o) o = x;\nnode f(x) -> (o) o = diff_g(x);").codes(),
      "");
}

TEST(ResolveNames, DidYouMean) {
  CheckedProgram p("node f(weight) -> (o) o = wieght * 2.0;");
  ASSERT_EQ(p.first().fixes.size(), 1u);
  EXPECT_EQ(p.first().fixes[0].replacement, "weight");
}

TEST(ResolveNames, RecursionShowsEveryHop) {
  CheckedProgram p("node a(x) -> (o) o = b(x);\nnode b(x) -> (o) o = c(x);\nnode c(x) -> (o) o = a(x);");
  EXPECT_EQ(p.first().secondary.size(), 2u);
  EXPECT_NE(p.first().message.find("`a` calls `b` calls `c` calls `a`"), std::string::npos);
}

TEST(ResolveNames, SyntaxErrorsDoNotCascade) {
  CheckedProgram p("node f(x) -> (o) o = = 3;\nnode g(x) -> (o) o = x + f(x);");
  EXPECT_EQ(p.codes(), "E0101");
}

}  // namespace
}  // namespace rml
