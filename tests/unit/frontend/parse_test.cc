// The tree of each construct of the grammar.
#include <gtest/gtest.h>

#include "tests/unit/frontend/parsed.h"

namespace rml::test {
namespace {

TEST(Parse, precedence_is_that_of_the_language) {
  EXPECT_EQ(value_of("a + b * c - d"), "(- (+ a (* b c)) d)");
  EXPECT_EQ(value_of("-x when c"), "(when (- x) c)");
  EXPECT_EQ(value_of("do * 2.0 * i when bp"), "(* (* do f2.000000) (when i bp))");
  EXPECT_EQ(value_of("post s when c"), "(when (post s) c)");
  EXPECT_EQ(value_of("a + b fby c + d"), "(fby (+ a b) (+ c d))");
  EXPECT_EQ(value_of("a when c when not d"), "(when-not (when a c) d)");
  EXPECT_EQ(value_of("a fby b fby c"), "(fby a (fby b c))");
  EXPECT_EQ(value_of("a or b and c == d + e % f"), "(or a (and b (== c (+ d (% e f)))))");
  EXPECT_EQ(value_of("not a == b"), "(== (not a) b)");
  EXPECT_EQ(value_of("not a and - b < c"), "(and (not a) (< (- b) c))");
  EXPECT_EQ(value_of("a - -b"), "(- a (- b))");
  EXPECT_EQ(value_of("(a + b) * c"), "(* (+ a b) c)");
  EXPECT_EQ(value_of("post 0 fby s"), "(fby (post 0) s)");
}

TEST(Parse, if_extends_as_far_as_it_can) {
  EXPECT_EQ(value_of("0 fby if c then a else b"), "(fby 0 (if c a b))");
  EXPECT_EQ(value_of("1 + if c then a else b + 2"), "(+ 1 (if c a (+ b 2)))");
  EXPECT_EQ(value_of("if c then a else b fby d"), "(if c a (fby b d))");
  EXPECT_EQ(value_of("if a then b else if c then d else e"), "(if a b (if c d e))");
  EXPECT_EQ(value_of("if if a then b else c then d else e"), "(if (if a b c) d e)");
  EXPECT_EQ(value_of("-if c then a else b when d"), "(- (if c a (when b d)))");
}

TEST(Parse, merge_tells_calls_from_operands_by_the_space) {
  EXPECT_EQ(value_of("merge c y (z when not c)"), "(merge c y (when-not z c))");
  EXPECT_EQ(value_of("merge c y(z) w"), "(merge c (y z) w)");
  EXPECT_EQ(value_of("merge c (a) (b)"), "(merge c a b)");
  EXPECT_EQ(value_of("merge c y[1] [2, 3]"), "(merge c (index y 1) (array 2 3))");
  EXPECT_EQ(value_of("merge c (f (x)) g(y) + 1"), "(+ (merge c (f x) (g y)) 1)");
  EXPECT_EQ(value_of("merge c diff f(x) n.g(y)"), "(merge c (diff f x) (n.g y))");
  EXPECT_EQ(value_of("merge c merge_a b when d"), "(when (merge c merge_a b) d)");
}

TEST(Parse, elsewhere_a_call_may_have_a_space) {
  EXPECT_EQ(value_of("f (x) + g\n(y)"), "(+ (f x) (g y))");
  EXPECT_EQ(value_of("x [1] [2]"), "(index (index x 1) 2)");
}

TEST(Parse, calls) {
  EXPECT_EQ(value_of("conv2d(x, w, stride=[2, 2])"), "(conv2d x w stride=(array 2 2))");
  EXPECT_EQ(value_of("f()"), "(f)");
  EXPECT_EQ(value_of("nn.deep.dense(x)"), "(nn.deep.dense x)");
  EXPECT_EQ(value_of("diff f(x, do)"), "(diff f x do)");
  EXPECT_EQ(value_of("diff[adam(0.5, 1)] f (x)"), "(diff[(adam f0.500000 1)] f x)");
  EXPECT_EQ(value_of("diff_f(x)"), "(diff_f x)");
  EXPECT_EQ(value_of("f(a == b, a = b)"), "(f (== a b) a=b)");
}

TEST(Parse, indices) {
  EXPECT_EQ(value_of("x[1:3, :, n, 2:, :m]"), "(index x 1:3 : n 2: :m)");
  EXPECT_EQ(value_of("x[::2, 1::-1, :n:m, a:b:c, ::, 1::]"), "(index x ::2 1::(- 1) :n:m a:b:c : 1:)");
  EXPECT_EQ(value_of("f(x)[0]"), "(index (f x) 0)");
  EXPECT_EQ(value_of("[]"), "(array)");
  EXPECT_EQ(value_of("[[1, 2], [3, 4]][0]"), "(index (array (array 1 2) (array 3 4)) 0)");
  EXPECT_EQ(value_of("a when b[1]"), "(when a (index b 1))");
}

TEST(Parse, literals) {
  EXPECT_EQ(value_of("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(value_of("0xff + 1_000"), "(+ 255 1000)");
  EXPECT_EQ(value_of("1.5e10"), "f15000000000.000000");
  EXPECT_EQ(value_of("25e-2"), "f0.250000");
  EXPECT_EQ(value_of("true and false"), "(and true false)");
  EXPECT_EQ(value_of("18446744073709551616"), "2:7 E0103 this integer does not fit 64 bits");
  EXPECT_EQ(value_of("1e999"), "2:7 E0103 this number is outside the range of f64");
}

TEST(Parse, node_header) {
  const Parsed p("node f(a: f32[3, n + 1] when not c, c, do) -> (end: i32, init)\n  end, init = g(a);\n");
  ASSERT_FALSE(p.diagnostics.has_errors());
  const ast::Node& f = p.node();
  ASSERT_EQ(f.inputs.size(), 3u);
  ASSERT_EQ(f.outputs.size(), 2u);
  const ast::TypeAnnotation& type = f.inputs[0].type.value();
  EXPECT_EQ(p.program.text(type.dtype), "f32");
  ASSERT_EQ(type.shape.size(), 2u);
  EXPECT_EQ(p.show(type.shape[1]), "(+ n 1)");
  EXPECT_EQ(p.program.text(type.clock), "c");
  EXPECT_FALSE(type.clock_positive);
  EXPECT_FALSE(f.inputs[1].type.has_value());
  EXPECT_FALSE(f.external());
  EXPECT_EQ(p.sources.text(f.inputs[2].span), "do");
}

TEST(Parse, dealt_inputs) {
  const Parsed p(
      "node f(end: bool, x: f32[8] dealt end by 4, dealt: i32 when by dealt end by m.k, by dealt end) -> (o)\n o = x;");
  ASSERT_TRUE(p.diagnostics.all().empty());
  const std::vector<ast::Parameter>& inputs = p.node().inputs;
  ASSERT_EQ(inputs.size(), 4u);
  EXPECT_FALSE(inputs[0].deal);
  EXPECT_EQ(p.program.text(inputs[1].deal->end), "end");
  EXPECT_EQ(p.show(inputs[1].deal->count), "4");
  EXPECT_EQ(p.program.text(inputs[2].name), "dealt");
  EXPECT_EQ(p.program.text(inputs[2].type->clock), "by");
  EXPECT_EQ(p.program.text(std::get<ast::Name>(p.program[inputs[2].deal->count])), "m.k");
  EXPECT_FALSE(inputs[3].deal->count.valid());
  EXPECT_EQ(&*inputs[1].deal, p.node().deal());
}

// Outside of a deal, the words are names.
TEST(Parse, dealt_is_a_name) {
  const Parsed p("node dealt(by) -> (o)\n o = merge by dealt by;");
  EXPECT_TRUE(p.diagnostics.all().empty());
  EXPECT_EQ(p.node().deal(), nullptr);
  EXPECT_EQ(p.value(), "(merge by dealt by)");
}

TEST(Parse, equations) {
  const Parsed p("node f(a) -> (o)\n  x: f32[3] when c, _ = g(a);\n  assert a > 0, \"say \\\"no\\\"\";\n  o = x;\n");
  ASSERT_FALSE(p.diagnostics.has_errors());
  const ast::Node& f = p.node();
  ASSERT_EQ(f.equations.size(), 2u);
  ASSERT_EQ(f.equations[0].targets.size(), 2u);
  EXPECT_TRUE(f.equations[0].targets[0].type.has_value());
  EXPECT_FALSE(f.equations[0].targets[1].name.valid());
  ASSERT_EQ(f.asserts.size(), 1u);
  EXPECT_EQ(f.asserts[0].message, "say \"no\"");
  EXPECT_EQ(p.sources.text(f.equations[1].span), "o = x;");
}

TEST(Parse, items) {
  const Parsed p("const n: i32 = 4;\nnode ext(a: f32) -> (o: f32)\nnode f() -> ()\n");
  ASSERT_FALSE(p.diagnostics.has_errors());
  const ast::Module& module = p.program.modules[0];
  ASSERT_EQ(module.consts.size(), 1u);
  EXPECT_EQ(p.show(p.program.consts[module.consts[0].index].value), "4");
  EXPECT_TRUE(p.node(0).external());
  EXPECT_FALSE(p.node(1).external());
  EXPECT_EQ(p.sources.text(p.node(0).span), "node ext(a: f32) -> (o: f32)");
}

TEST(Parse, comments_are_no_part_of_the_program) {
  EXPECT_EQ(value_of("a -- b\n (* + (* nested *) + *) + (**) c"), "(+ a c)");
  EXPECT_EQ(value_of("a (***) (* -- *) + b"), "(+ a b)");
}

TEST(Parse, parentheses_belong_to_the_place_of_an_expression) {
  const Parsed p("node f(a) -> (o)\n  o = (a + 1) * b;\n");
  const auto& product = std::get<ast::Binary>(p.program[p.node().equations[0].value]);
  EXPECT_EQ(p.sources.text(p.program.span(product.left)), "(a + 1)");
}

TEST(Parse, the_prelude_is_the_second_module) {
  const Parsed p("");
  ASSERT_FALSE(p.diagnostics.has_errors());
  ASSERT_EQ(p.program.modules.size(), 2u);
  std::vector<std::string> names;
  for (const NodeId n : p.program.modules[1].nodes) names.push_back(p.program.text(p.program[n].name));
  EXPECT_EQ(names, (std::vector<std::string>{"fby_end", "post_end", "backfill", "param_end", "diff_fby_end",
                                             "diff_post_end"}));
}

}  // namespace
}  // namespace rml::test
