// The analyses of differentiation before it writes anything: the values that take part, and equal
// shapes. tests/gradients compares the written derivatives with finite differences.
#include <gtest/gtest.h>

#include "semantics/differentiate/activity.h"
#include "semantics/differentiate/node.h"
#include "semantics/differentiate/shapes.h"
#include "tests/unit/semantics/checked_program.h"

namespace rml {
namespace {

using namespace derivation;

// The node f of a program, whose outputs of the given names have adjoints.
struct Differentiated {
  explicit Differentiated(const std::string& text, const std::vector<std::string>& outputs = {})
      : p(text), derivatives(p.program, p.diagnostics, derive_node) {
    EXPECT_EQ(p.codes(), "") << text;
    derivatives.check();
    key = derivatives.outermost(p.node("f"));
    const std::vector<ast::Parameter>& all = p.program[key.node].outputs;
    for (std::size_t j = 0; j < all.size(); ++j)
      key.outputs[j] = std::ranges::find(outputs, p.program.text(all[j].name)) != outputs.end() ? 1 : 0;
  }

  CheckedProgram p;
  Derivatives derivatives;
  DerivativeKey key;
};

struct Useful {
  const char* text;
  std::vector<std::string> outputs;  // outputs that have an adjoint
  const char* variables;             // variables that get adjoints
};

class FindActivity : public testing::TestWithParam<Useful> {};

TEST_P(FindActivity, VariablesThatGetAdjoints) {
  Differentiated d(GetParam().text, GetParam().outputs);
  const NodeFacts node(d.p.program, d.derivatives.checked(), d.key);
  const Activity activity(node, [&](NodeId g) { return d.derivatives.has_parameters(g); });
  std::string found;
  for (std::uint32_t v = 0; v < node.names.variables.size(); ++v)
    if (activity.is_useful(v)) found += (found.empty() ? "" : " ") + node.variable_text(v);
  EXPECT_EQ(found, GetParam().variables);
}

INSTANTIATE_TEST_SUITE_P(
    All, FindActivity,
    testing::Values(
        // An output without an adjoint takes no part, nor does a value that depends on no input
        // or parameter.
        Useful{
            "node f(x: f64) -> (y: f64, z: f64) k = param(1.0); m = 2.0; y = k * (x + m); z = y * y;", {"y"}, "x y k"},
        Useful{"node f(x: f64) -> (y: f64, z: f64) k = param(1.0); m = 2.0; y = k * (x + m); z = y * y;",
               {"z"},
               "x y z k"},
        Useful{"node f(x: f64) -> (y: f64, z: f64) y = x; z = 2.0 * x;", {}, ""},
        // Adjoints do not flow through conditions, integers, and operators that stop them.
        Useful{"node f(x: f64, a: f64, b: f64) -> (y: f64) y = if x > 0.0 then a else b;", {"y"}, "a b y"},
        Useful{"node f(x: f64, a: f64, c: bool) -> (y: f64) s = x when c; y = merge c s (a when not c);",
               {"y"},
               "x a y s"},
        Useful{"node f(x: f64, n: i32) -> (y: f64) y = x * cast(f64, n);", {"y"}, "x y"},
        Useful{"node f(x: f64, w: f64) -> (y: f64) k = stop_gradient(w); y = k * x;", {"y"}, "x y"},
        Useful{"node f(x: f64[3], i: i32) -> (y: f64) y = x[i];", {"y"}, "x y"},
        // Adjoints flow around a recurrence, and into instances that have parameters.
        Useful{"node f(x: f64) -> (h: f64) g = 0.5 * h; h = 0.0 fby (g + x);", {"h"}, "x h g"},
        Useful{"node p() -> (k: f64) k = param(1.0); node f(x: i32) -> (y: f64) y = p() + cast(f64, x);", {"y"}, "y"},
        Useful{"node q() -> (k: f64) k = 1.0; node f(x: i32) -> (y: f64) y = q() + cast(f64, x);", {"y"}, ""},
        Useful{"node g(a: f64) -> (u: f64, v: f64) u = a; v = 1.0; node f(x: f64) -> (y: f64) _, t = g(x); y = t;",
               {"y"},
               "x y t"}));

struct SameShapes {
  const char* text;
  const char* a;
  const char* b;
  bool same;
};

class FindShapes : public testing::TestWithParam<SameShapes> {};

TEST_P(FindShapes, PlainlyTheSame) {
  Differentiated d(GetParam().text);
  const NodeFacts node(d.p.program, d.derivatives.checked(), d.key);
  Shapes shapes(node);
  const auto of = [&](const std::string& name) {
    for (std::uint32_t v = 0; v < node.names.variables.size(); ++v)
      if (node.variable_text(v) == name) return shapes.of_variable(v);
    ADD_FAILURE() << name;
    return ShapeOf{};
  };
  EXPECT_EQ(of(GetParam().a) == of(GetParam().b), GetParam().same) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    All, FindShapes,
    testing::Values(SameShapes{"node f(x, w) -> (a, b) a = w * x + 1.0; b = x - w;", "a", "b", true},
                    // w may have a larger shape than x.
                    SameShapes{"node f(x, w) -> (a, b) a = w * x; b = x;", "a", "b", false},
                    SameShapes{"node f(x) -> (a, b) a = exp(x); b = post x;", "a", "b", true},
                    SameShapes{"node f(x, c) -> (a, b) a = if c then x else 1.0; b = -x;", "a", "b", true},
                    SameShapes{"node f(x) -> (a, b) a = matmul(x, x) + 1.0; b = matmul(x, x);", "a", "b", false},
                    SameShapes{"node f(x) -> (a, b) m = matmul(x, x); a = m + 1.0; b = 2.0 * m;", "a", "b", true},
                    SameShapes{"node f(x: f64[3]) -> (a: f64[3], b) a = 2.0 * x; b = 2.0 * x;", "a", "b", false}));

}  // namespace
}  // namespace rml
