// Instantiation of source text: the result of single constructs, and errors.
#include "semantics/instantiate/instantiate.h"

#include <gtest/gtest.h>
#include <algorithm>

#include "checked_program.h"
#include "semantics/reference/interpret.h"

namespace rml {
namespace {

struct Instantiated : CheckedProgram {
  Core core;
  explicit Instantiated(const std::string& text, const std::string& entry = "f") : CheckedProgram(text) {
    const NodeId n = node(entry);
    if (n.valid()) core = instantiate(checked, n, {}, diagnostics);
  }
  bool mentions(const std::string& words) const {
    for (const Diagnostic& d : diagnostics.all()) {
      if (d.message.find(words) != std::string::npos) return true;
      for (const std::string& note : d.notes)
        if (note.find(words) != std::string::npos) return true;
      for (const Label& l : d.secondary)
        if (l.text.find(words) != std::string::npos) return true;
    }
    return false;
  }
  const Value& output(std::size_t k = 0) const { return core[core.outputs.at(k).value]; }
};

// Returns the reported errors without warnings, for example "E0303".
std::string errors(const Instantiated& p) {
  std::string out;
  for (const Diagnostic& d : p.diagnostics.all())
    if (severity(d.code) == Severity::error) out += (out.empty() ? "" : " ") + std::string(code_name(d.code));
  return out;
}

TEST(Instantiate, AliasesVanish) {
  const Instantiated p("node g(a) -> (b) b = a + 1;\nnode f(x: i32) -> (o) y = g(x); z = y; o = z;");
  EXPECT_EQ(errors(p), "");
  EXPECT_EQ(p.core.values.size(), 3u);
  EXPECT_EQ(p.output().name, "g.b");
  EXPECT_EQ(p.core.instances.at(1).path, "g");
}

TEST(Instantiate, InstancesAreNumberedWithinANode) {
  const Instantiated p("node g(a) -> (b) b = 0 fby a;\nnode f(x: i32) -> (o) o = g(x) + g(x) + g(x);");
  ASSERT_EQ(p.core.instances.size(), 4u);
  EXPECT_EQ(p.core.instances[1].path, "g");
  EXPECT_EQ(p.core.instances[2].path, "g2");
  EXPECT_EQ(p.core.instances[3].path, "g3");
}

TEST(Instantiate, ShapesGrowThroughFby) {
  const Instantiated p("node f(x: f32[3]) -> (h) h = 0.0 fby h + x;");
  EXPECT_EQ(errors(p), "");
  EXPECT_EQ(p.output().shape, (Shape{3}));
  EXPECT_EQ(verify(p.core), "");
}

TEST(Instantiate, DeclaredShapeIsChecked) {
  EXPECT_EQ(errors(Instantiated("node f(a: f32) -> (o) z: f32[4] = a; o = z;")), "E0303");
  const Instantiated p("node f(a: f32) -> (o) z: f32[4] = broadcast_to(a, [4]); o = z;");
  EXPECT_EQ(errors(p), "");
  EXPECT_EQ(p.output().shape, (Shape{4}));
}

TEST(Instantiate, ShapeOfAValueIsStatic) {
  const Instantiated p("node f(x: f32[4, 3]) -> (o) o = zeros([shape(x)[-1], 2]);");
  EXPECT_EQ(errors(p), "");
  EXPECT_EQ(p.output().shape, (Shape{3, 2}));
}

TEST(Instantiate, StaticArgumentsReachThroughInstances) {
  const Instantiated p(
      "const size = 2 * 3;\nnode g(units, x) -> (y) y = zeros([units]) + x;\nnode h(units, x) -> (y) y = g(units + 1, "
      "x);\n"
      "node f(x: f32) -> (o) o = h(size, x);");
  EXPECT_EQ(errors(p), "");
  EXPECT_EQ(p.output().shape, (Shape{7}));
}

TEST(Instantiate, ConstantOverride) {
  CheckedProgram p("const size = 3;\nnode f() -> (o: f32[5]) o = zeros([size]);");
  InstantiateOptions options;
  options.overrides.push_back({ConstId{0}, p.program.add(ast::IntLiteral{5}, {})});
  // Overrides name constants of the program's own module.
  for (std::size_t c = 0; c < p.program.consts.size(); ++c)
    if (p.program.text(p.program.consts[c].name) == "size") options.overrides[0].constant = ConstId{c};
  const Core core = instantiate(p.checked, p.node("f"), options, p.diagnostics);
  EXPECT_FALSE(p.diagnostics.has_errors());
  EXPECT_EQ(core[core.outputs.at(0).value].shape, (Shape{5}));
}

TEST(Instantiate, ConstantConditionsFoldClocks) {
  const Instantiated p("node f(x: i32) -> (o) c = not false; o = x when c;");
  EXPECT_EQ(errors(p), "");
  EXPECT_EQ(p.output().clock, base_clock);
  EXPECT_TRUE(std::holds_alternative<core::Input>(p.output().rhs));
}

TEST(Instantiate, OutputConstantKeepsItsClock) {
  const Instantiated p("node f(c: bool) -> (o: i32) o = 1 when c;");
  EXPECT_EQ(errors(p), "");
  EXPECT_TRUE(p.core.is_const(p.core.outputs.at(0).value));
  EXPECT_EQ(clock_string(p.core, p.output().clock), "base on c");
}

TEST(Instantiate, NegatedConditionFlips) {
  const Instantiated p("node f(c: bool, x: i32) -> (o) d = not c; o = x when d;");
  const auto& when = std::get<core::When>(p.output().rhs);
  EXPECT_FALSE(when.positive);
  EXPECT_TRUE(std::holds_alternative<core::Input>(p.core[when.condition].rhs));
  EXPECT_EQ(verify(p.core), "");
}

TEST(Instantiate, InitIsSampledByStart) {
  const Instantiated p("node f(x: f32) -> (o) o = x fby o + 1.0;");
  const auto& fby = std::get<core::Fby>(p.output().rhs);
  const auto& when = std::get<core::When>(p.core[fby.init].rhs);
  EXPECT_TRUE(std::holds_alternative<core::Fby>(p.core[when.condition].rhs));
  EXPECT_EQ(verify(p.core), "");
}

TEST(Instantiate, ParametersAreNamedByPath) {
  const Instantiated p(
      "node dense(x) -> (y) kernel = param(0.5); y = kernel * x;\nnode f(x: f32) -> (o) o = dense(dense(x));");
  EXPECT_EQ(errors(p), "");
  ASSERT_EQ(p.core.parameters.size(), 2u);
  std::vector<std::string> paths = {p.core.parameters[0].path, p.core.parameters[1].path};
  std::sort(paths.begin(), paths.end());
  EXPECT_EQ(paths, (std::vector<std::string>{"dense.kernel", "dense2.kernel"}));
}

TEST(Instantiate, RandomDrawsHaveKeysAndCycles) {
  const Instantiated p("node f(c: bool) -> (o) a: f32[2] = uniform([2]); b = uniform([2]); o = a + b when c;");
  EXPECT_EQ(errors(p), "");
  std::vector<std::uint64_t> keys;
  for (const Value& v : p.core.values)
    if (const auto* a = std::get_if<core::Apply>(&v.rhs); a && operators()[a->op].random) {
      keys.push_back(a->key);
      EXPECT_EQ(p.core[a->operands.back()].dtype, DType::i64);
    }
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_NE(keys[0], keys[1]);
  EXPECT_EQ(verify(p.core), "");
}

TEST(Instantiate, ExternalNodesAreCalls) {
  const Instantiated p(
      "node ext(a: f32[2], b: i32) -> (x: f32[2], y: bool)\nnode f(v: f32[2]) -> (o) o, _ = ext(v, 3);");
  EXPECT_EQ(errors(p), "");
  ASSERT_EQ(p.core.externals.size(), 1u);
  EXPECT_EQ(p.core.externals[0].symbol, "ext");
  EXPECT_TRUE(std::holds_alternative<core::Result>(p.output().rhs));
  EXPECT_EQ(verify(p.core), "");
}

struct Mistake {
  const char* name;
  const char* text;
  const char* codes;
  const char* words;
};
class InstantiateErrors : public testing::TestWithParam<Mistake> {};

TEST_P(InstantiateErrors, AreReported) {
  const Instantiated p(GetParam().text);
  EXPECT_EQ(errors(p), GetParam().codes);
  EXPECT_TRUE(p.mentions(GetParam().words))
      << GetParam().words << " not in " << (p.diagnostics.all().empty() ? "" : p.diagnostics.all().back().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, InstantiateErrors,
    testing::Values(
        Mistake{"alias_of_itself", "node f() -> (o: i32) x = x; o = x;", "E0501", "defined in terms of itself"},
        Mistake{"alias_cycle", "node f() -> (o: i32) x = y; y = x; o = x;", "E0501", "`y` is `x`"},
        Mistake{"input_in_a_shape",
                "node g(n, x) -> (y) y = zeros([n]) + x;\nnode f(u: i32, x: f32) -> (y) y = g(u, x);", "E0304",
                "`u` is an input of the program"},
        Mistake{"chain",
                "node g(a, b) -> (c) c = a + b;\nnode h(a, b) -> (c) c = g(a, b);\nnode f(a: f32[3], b: f32[4]) -> (c) "
                "c = h(a, b);",
                "E0303", "in the instance `h.g` of `g`, called here"},
        Mistake{"once_per_place",
                "node g(a, b) -> (c) c = a + b;\nnode f(a: f32[3], b: f32[4]) -> (c, d) c = g(a, b); d = g(a, b);",
                "E0303", "[3] and [4]"},
        Mistake{"counter_in_a_shape", "node f() -> (y) n = 0 fby n + 1; y = ones([n]);", "E0304",
                "changes from cycle to cycle"},
        Mistake{"negative_extent", "node f() -> (y) y = zeros([2 - 3]);", "E0305", "negative"},
        Mistake{"unending_growth", "node f() -> (x) x = zeros([1]) fby concat(x, x);", "E0303", "`fby`"},
        Mistake{"undetermined", "node f() -> (z) z = zeros([size(z)]);", "E0306", "`z`"},
        Mistake{"index_out_of_range", "node f(x: f32[3]) -> (y) y = x[3];", "E0310", "index 3"},
        Mistake{"negative_index", "node f(x: f32[3]) -> (y) y = x[-4];", "E0310", "index -4"},
        Mistake{"range_out_of_range", "node f(x: f32[3]) -> (y) y = x[1:5];", "E0310", "range 1:5"},
        Mistake{"too_many_indices", "node f(x: f32[3]) -> (y) y = x[0, 0];", "E0303", "2 indices"},
        Mistake{"literal", "node f() -> (y: i8) y = 300;", "E0307", "`300` does not fit i8"},
        Mistake{"negative_literal", "node f() -> (y: i8) y = -129;", "E0307", "`-129`"},
        Mistake{"unsigned_literal", "node f() -> (y: u8) y = -1;", "E0307", "`-1`"},
        Mistake{"tensor_condition", "node f(c: bool[3], x: f32[3]) -> (y) y = if c then x else 0.0;", "E0303",
                "select"},
        Mistake{"declared", "node f(a: f32[3]) -> (y) z: f32[4] = a; y = z;", "E0303", "`z` is declared f32[4]"},
        Mistake{"external_shape", "node ext(a: f32[2]) -> (x: f32)\nnode f(v: f32[3]) -> (o) o = ext(v);", "E0303",
                "`a` is declared f32[2]"},
        Mistake{"external_scalar", "node ext(a: f32) -> (x: f32)\nnode f(v: f32[3]) -> (o) o = ext(v);", "E0303",
                "`a` is declared f32, but its value is f32[3]"},
        Mistake{"tensor_assert", "node f(a: bool[2]) -> (y) y = a; assert a;", "E0303", "all("}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Instantiate, SmallestIntegerIsALiteral) {
  const Instantiated p("node f() -> (y: i8) y = -128;");
  EXPECT_EQ(errors(p), "");
}

TEST(Instantiate, ManyInstances) {
  std::string text = "node g(a) -> (b) b = 0 fby a + 1;\nnode f(x0: i32) -> (o)\n";
  constexpr int count = 20000;
  for (int k = 1; k <= count; ++k) text += "x" + std::to_string(k) + " = g(x" + std::to_string(k - 1) + ");\n";
  const Instantiated p(text + "o = x" + std::to_string(count) + ";");
  EXPECT_EQ(errors(p), "");
  EXPECT_EQ(p.core.instances.size(), count + 1u);
}

}  // namespace
}  // namespace rml
