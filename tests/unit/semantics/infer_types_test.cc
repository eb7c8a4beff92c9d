// infer_types: principal types, defaults, instantiations, and reported errors.
#include <gtest/gtest.h>

#include "tests/unit/semantics/checked_program.h"

namespace rml {
namespace {

struct InferredTypes {
  const char* text;
  const char* signature;  // expected signature of node f
};

class InferTypes : public testing::TestWithParam<InferredTypes> {};

TEST_P(InferTypes, Signature) {
  CheckedProgram p(GetParam().text);
  EXPECT_EQ(p.codes(), "") << GetParam().text;
  EXPECT_EQ(p.signature_of("f"), GetParam().signature);
}

INSTANTIATE_TEST_SUITE_P(
    All, InferTypes,
    testing::Values(
        InferredTypes{"node f(x) -> (o) o = x;", "node f(x: 'a) -> (o: 'a)"},
        InferredTypes{"node f(x) -> (o) o = x + 1;", "node f(x: 'a) -> (o: 'a) where 'a: number"},
        InferredTypes{"node f(x) -> (o) o = x + 1.0;", "node f(x: 'a) -> (o: 'a) where 'a: float"},
        InferredTypes{"node f(x: f64) -> (o) o = x + 1;", "node f(x: f64) -> (o: f64)"},
        InferredTypes{"node f(x, y) -> (o) o = x < y;", "node f(x: 'a, y: 'a) -> (o: bool) where 'a: number"},
        InferredTypes{"node f(x, y) -> (o, p) o = x; p = y;", "node f(x: 'a, y: 'b at 'k2) -> (o: 'a, p: 'b at 'k2)"},
        InferredTypes{"node f(c, x, y) -> (o) o = if c then x else y;", "node f(c: bool, x: 'a, y: 'a) -> (o: 'a)"},
        InferredTypes{"node f(c, x) -> (o) o = merge c (x when c) 0;",
                      "node f(c: bool, x: 'a) -> (o: 'a) where 'a: number"},
        InferredTypes{"node f(x) -> (o) o = cast(f64, x);", "node f(x: 'a) -> (o: f64)"},
        InferredTypes{"node f(x) -> (o) o = param(0.0) * x;", "node f(x: 'a) -> (o: 'a) where 'a: float"},
        InferredTypes{"node f(n, x) -> (o) o = x + ones([n, 2]);",
                      "node f(n: 'a at 'k1, x: 'b) -> (o: 'b) where 'a: integer, 'b: number"},
        InferredTypes{"node f(x, i) -> (o) o = x[i];", "node f(x: 'a, i: 'b) -> (o: 'a) where 'b: integer"},
        InferredTypes{"node f(x) -> (o) o = g(x, 1.0);\nnode g(a, b) -> (o) o = a * b;",
                      "node f(x: 'a) -> (o: 'a) where 'a: float"},
        InferredTypes{"const k = 2;\nnode f(x: f32, n: i64) -> (o, p) o = x * k; p = n + k;",
                      "node f(x: f32, n: i64 at 'k2) -> (o: f32, p: i64 at 'k2)"},
        InferredTypes{"const k: int = 2;\nnode f(x) -> (o) o = x * k;", "node f(x: i32) -> (o: i32)"}));

TEST(InferTypes, Defaults) {
  CheckedProgram p("node f() -> (o) o = 0 fby o + 1;\nnode g() -> (o) o = 0.5 fby o;\nnode h() -> (o) o = zeros([2]);");
  EXPECT_EQ(p.checked.types.nodes[p.node("f").index].scheme.defaults, std::vector<DType>{DType::i32});
  EXPECT_EQ(p.checked.types.nodes[p.node("g").index].scheme.defaults, std::vector<DType>{DType::f32});
  EXPECT_EQ(p.checked.types.nodes[p.node("h").index].scheme.defaults, std::vector<DType>{DType::f32});
}

TEST(InferTypes, InstantiationsAndInnerDefaults) {
  CheckedProgram p("node g(a) -> (o) o = a + 1; assert 2 > 1;\nnode f(x: i64) -> (o) o = g(x);");
  ExprId call = p.program.nodes[p.node("f").index].equations[0].value;
  ASSERT_EQ(p.checked.types.instantiations[call.index].size(), 1u);
  EXPECT_EQ(p.checked.types.instantiations[call.index][0].variable, -1);
  EXPECT_EQ(p.checked.types.instantiations[call.index][0].dtype, DType::i64);
  const auto& comparison = std::get<ast::Binary>(p.program[p.program.nodes[p.node("g").index].asserts[0].condition]);
  EXPECT_EQ(p.checked.types.expr_types[comparison.left.index].dtype, DType::i32);
}

TEST(InferTypes, ConstantsAreGeneralised) {
  CheckedProgram p("const k = 2;\nconst m: f64 = 2;\nnode f(x: f32) -> (o) o = x * k + cast(f32, m);");
  EXPECT_EQ(p.codes(), "");
  ConstId k = p.program.modules[0].consts[0], m = p.program.modules[0].consts[1];
  EXPECT_EQ(p.checked.types.consts[k.index].scheme.variables.size(), 1u);
  EXPECT_EQ(p.checked.types.expr_types[p.program.consts[k.index].value.index].variable, 0);
  EXPECT_EQ(p.checked.types.expr_types[p.program.consts[m.index].value.index].dtype, DType::f64);
}

class InferTypesRejects : public testing::TestWithParam<Rejected> {};

TEST_P(InferTypesRejects, WithCodeAndPlace) { expect_rejected(GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, InferTypesRejects,
                         testing::Values(Rejected{"node f(n: i32, x: f32) -> (o) o = n + x;", "E0301", "x"},
                                         Rejected{"node f(n: i32) -> (o) o = n + 1.0;", "E0301", "1.0"},
                                         Rejected{"node f(n: i32) -> (o: f32) o = n * 2;", "E0301", "n * 2"},
                                         Rejected{"node f(x: f32) -> (o) o = if x then 1 else 2;", "E0301", "x"},
                                         Rejected{"node f(x: f32) -> (o) o = 1 when x;", "E0301", "x"},
                                         Rejected{"node f(x: f32, n: i64) -> (o) o = x fby n;", "E0301", "n"},
                                         Rejected{"node f(x: f32) -> (o) o = [x, true];", "E0301", "true"},
                                         Rejected{"node f(x: f32) -> (o) o = g(x);\nnode g(n: i32) -> (o) o = n;",
                                                  "E0301", "x"},
                                         Rejected{"node f(x: f32) -> (o) o = x; assert x;", "E0301", "x"},
                                         Rejected{"node f(b: bool) -> (o) o = b + 1;", "E0302", "b"},
                                         Rejected{"node f(n: i32) -> (o) o = sqrt(n);", "E0302", "n"},
                                         Rejected{"node f(n) -> (o) o = not (n + 1);", "E0302", "(n + 1)"},
                                         Rejected{"node f(x: f32) -> (o) o = x + zeros([2.5]);", "E0302", "[2.5]"},
                                         Rejected{"node f(x) -> (o) o = x[0.5];", "E0302", "0.5"},
                                         Rejected{"node f(x: flot) -> (o) o = x;", "E0309", "flot"},
                                         Rejected{"node f(x: bf16) -> (o) o = x + x;", "E0311", "x"}));

TEST(InferTypes, OneMistakeOneError) {
  CheckedProgram p("node f(n: i32, x: f32) -> (o: f32) y = n + x; z = y * 2; o = z + x;");
  EXPECT_EQ(p.codes(), "E0301");
}

TEST(InferTypes, CallersOfWrongNodesStaySilent) {
  CheckedProgram p("node g(n: i32, x: f32) -> (o) o = n + x;\nnode f(x) -> (o: bool) o = g(x, x);");
  EXPECT_EQ(p.codes(), "E0301");
}

TEST(InferTypes, CastIsOffered) {
  CheckedProgram p("node f(n: i32, x: f64) -> (o) o = n + x;");
  ASSERT_EQ(p.first().fixes.size(), 1u);
  EXPECT_EQ(p.first().fixes[0].replacement, "cast(f64, n)");
}

}  // namespace
}  // namespace rml
