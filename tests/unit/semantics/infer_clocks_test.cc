// infer_clocks: clocks of interfaces, equality of conditions, and reported errors.
#include <gtest/gtest.h>

#include "tests/unit/semantics/checked_program.h"

namespace rml {
namespace {

struct Inferred {
  const char* text;
  const char* signature;  // expected signature of node f
};

class InferClocks : public testing::TestWithParam<Inferred> {};

TEST_P(InferClocks, Signature) {
  CheckedProgram p(GetParam().text);
  EXPECT_EQ(p.codes(), "") << GetParam().text;
  EXPECT_EQ(p.signature_of("f"), GetParam().signature);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, InferClocks,
    testing::Values(
        Inferred{"node f(x, c) -> (o) o = x when c;", "node f(x: 'a, c: bool) -> (o: 'a when c)"},
        Inferred{"node f(x, c) -> (o) o = x when not c;", "node f(x: 'a, c: bool) -> (o: 'a when not c)"},
        Inferred{"node f(x, c, d) -> (o) o = x when not c when d;",
                 "node f(x: 'a, c: bool, d: bool when not c) -> (o: 'a when not c when d)"},
        Inferred{"node f(c, y, z) -> (o) o = merge c y z;",
                 "node f(c: bool, y: 'a when c, z: 'a when not c) -> (o: 'a)"},
        Inferred{"node f(x, c) -> (o) o = merge c (post (x when c)) (1 fby x when not c);",
                 "node f(x: 'a, c: bool) -> (o: 'a) where 'a: number"},
        Inferred{"node f(x) -> (c, y) c = x > 0; y = x when c;",
                 "node f(x: 'a) -> (c: bool, y: 'a when c) where 'a: number"},
        Inferred{"node f(x: f32 when c, c: bool) -> (o) o = x;", "node f(x: f32 when c, c: bool) -> (o: f32 when c)"},
        Inferred{"node f(x, c) -> (o: f32 when c) o = x when c;", "node f(x: f32, c: bool) -> (o: f32 when c)"},
        Inferred{"node f(x: f32, c: bool) -> (y: f32, z: f32 when c)",
                 "node f(x: f32, c: bool) -> (y: f32, z: f32 when c)"}));

INSTANTIATE_TEST_SUITE_P(
    Conditions, InferClocks,
    testing::Values(Inferred{"node f(x, c) -> (o) d = c; e = d; o = (x when c) + (x when e);",
                             "node f(x: 'a, c: bool) -> (o: 'a when c) where 'a: number"},
                    Inferred{"node f(x, c) -> (o) d = not c; o = merge d (x when not c) (x when c);",
                             "node f(x: 'a, c: bool) -> (o: 'a)"},
                    Inferred{"node f(x, c) -> (o) o = merge (not c) (x when not c) (x when c);",
                             "node f(x: 'a, c: bool) -> (o: 'a)"},
                    Inferred{"node f(x, y) -> (o) o = merge (x > y) (x when (x > y)) (y when not (x > y));",
                             "node f(x: 'a, y: 'a) -> (o: 'a) where 'a: number"},
                    Inferred{"node f(x) -> (o) o = x + (x when true);", "node f(x: 'a) -> (o: 'a) where 'a: number"},
                    Inferred{"node f(x) -> (o) t = not false; o = merge t x 0.0;",
                             "node f(x: 'a) -> (o: 'a) where 'a: float"},
                    Inferred{"node f(x) -> (b, y) c = x > 0; b = not c; y = x when c;",
                             "node f(x: 'a) -> (b: bool, y: 'a when not b) where 'a: number"}));

INSTANTIATE_TEST_SUITE_P(
    Calls, InferClocks,
    testing::Values(
        Inferred{"node g(x, c) -> (y) y = x when c;\nnode f(u, d) -> (z) z = g(u, not d);",
                 "node f(u: 'a, d: bool) -> (z: 'a when not d)"},
        Inferred{"node g(x, c) -> (y) y = x when c;\nnode f(u) -> (z) z = u + g(u, true);",
                 "node f(u: 'a) -> (z: 'a) where 'a: number"},
        Inferred{"node g(x, c, y) -> (o) o = merge c y (x when not c);\nnode f(u) -> (z) z = g(u, false, 0.0);",
                 "node f(u: 'a) -> (z: 'a) where 'a: float"},
        Inferred{"node g(x) -> (c, y) c = x > 0; y = x when c;\nnode f(u) -> (z) d, v = g(u); z = merge d v 0;",
                 "node f(u: 'a) -> (z: 'a) where 'a: number"},
        Inferred{"node g(n, x) -> (o) o = x + ones([n]);\nnode f(x, c) -> (o) o = merge c g(3, x when c) g(4, x when "
                 "not c);",
                 "node f(x: 'a, c: bool) -> (o: 'a) where 'a: number"}));

// Figure 3 of the paper with two corrections: `di = s when bpi` and `di = k * do`.
TEST(InferClocks, PipelinedTraining) {
  CheckedProgram p(R"(
node diff_param(init, bp, do) -> (o)  o = init fby o1; o1 = o + merge bp do 0.0;
node diff_dense(i, bp, do) -> (o, di)
  b = diff_param(0.0, bp, db); k = diff_param(1.0, bp, dk);
  o = k * i + b; di = (k when bp) * do; dk = (i when bp) * do; db = do;
node diff_multiply(i, bp, do) -> (o, di)  o = i * i; di = do * 2.0 * i when bp;
node diff_fby1(init, i, bpo, do) -> (o, bpi, di)
  o = init fby i; bpi = post bpo; s = merge bpo do ((post s) when not bpo); di = (post s) when bpi;
node mse_grad_i(i, gt) -> (o)  o = 2.0 * (i - gt);
node diff_app_pipe(i, bp, gt, learn_rate) -> (o)
  x, _ = diff_dense(i, bpi, dx); y, bpi, dx = diff_fby1(0.0, x, bp, dy);
  o, dy = diff_multiply(y, bp, do); do = -learn_rate * mse_grad_i(o when bp, gt);
node infer(i) -> (o)  o = diff_app_pipe(i, false, 0.0, 0.0);
node train(i, gt) -> (o)  o = diff_app_pipe(i, true, gt, 0.01);
)");
  EXPECT_EQ(p.codes(), "");
  EXPECT_EQ(p.signature_of("diff_app_pipe"),
            "node diff_app_pipe(i: 'a, bp: bool, gt: 'a when bp, learn_rate: 'a when bp) -> (o: 'a) where 'a: float");
  EXPECT_EQ(p.signature_of("train"), "node train(i: 'a, gt: 'a) -> (o: 'a) where 'a: float");
}

TEST(InferClocks, InternalClocksRunAtTheMainClock) {
  CheckedProgram p("node f(x) -> (o) n = 0 fby n + 1; o = x; assert n >= 0;");
  EXPECT_EQ(p.codes(), "");
  const ClockedNode& f = p.checked.clocks.nodes[p.node("f").index];
  EXPECT_EQ(f.variable_count, 1u);
  EXPECT_EQ(f.terms[f.variable_clocks[2].index].kind, ClockTerm::variable);
}

class InferClocksRejects : public testing::TestWithParam<Rejected> {};

TEST_P(InferClocksRejects, WithCodeAndPlace) { expect_rejected(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    All, InferClocksRejects,
    testing::Values(
        Rejected{"node f(x, c) -> (o) o = (x when c) + x;", "E0401", "x"},
        Rejected{"node f(x, c) -> (o) o = merge c x (x when not c);", "E0401", "x"},
        Rejected{"node f(x, c) -> (o) o = merge c (x when c) (x when c);", "E0401", "(x when c)"},
        Rejected{"node f(x, c) -> (o) o = g(x, x when c);\nnode g(x, y) -> (o) o = x + y;", "E0401", "x when c"},
        Rejected{"node f(c) -> (o) o = o when c;", "E0401", "o when c"},
        Rejected{"node f(x) -> (o) c = x > 0; o = x when c;", "E0402", "o"},
        Rejected{"node f(x) -> (o) o = x when (x > 0);", "E0402", "o"},
        Rejected{"node g(x) -> (c, y) c = x > 0; y = x when c;\nnode f(x) -> (o) _, y = g(x); o = x; assert y > 0;",
                 "E0402", "g"},
        Rejected{"node f(x, c, d) -> (o: f32 when c) o = x when d;", "E0403", "c"},
        Rejected{"node f(x: bool when x) -> (o) o = x;", "E0403", "x"},
        Rejected{"node f(x, c) -> (o) o = (x when c) + (x when false); assert c;", "E0404", "(x when false)"}));

TEST(InferClocks, SamplingIsOffered) {
  CheckedProgram p("node f(k, do: f32 when bp, bp) -> (o) o = k * do; assert k > 0.0;\n");
  EXPECT_EQ(p.codes(), "") << "nothing says that k is present at every cycle";
  CheckedProgram q("node f(k, do, bp) -> (o) u = do when bp; s = k + do; o = k * u; assert s > 0.0;");
  EXPECT_EQ(q.codes(), "E0401");
  ASSERT_EQ(q.first().fixes.size(), 1u);
  EXPECT_EQ(q.first().fixes[0].replacement, "k when bp");
  EXPECT_TRUE(q.first().fixes[0].certain);
}

TEST(InferClocks, CallersOfWrongNodesStaySilent) {
  EXPECT_EQ(CheckedProgram("node g(x, c) -> (o) o = x + (x when c);\nnode f(x) -> (o) o = g(x, x > 0) + x;").codes(),
            "E0401");
}

}  // namespace
}  // namespace rml
