// Prints the bodies of scalar operations as C, an alternative to LLVM instructions, and compares
// the text.
#include "semantics/operators/spelling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <string>

namespace rml {

namespace {

using scalar::Term;

class C final : public scalar::Spelling {
 public:
  explicit C(DType dtype) : dtype_(dtype) {}

  std::string spelled(const char* name, std::vector<std::string> operands) {
    std::vector<Term> terms;
    for (std::string& o : operands) terms.push_back(term(std::move(o)));
    return text(operators()[operators().require(name)].body(terms));
  }

  bool is_real() const override { return is_float(dtype_); }
  bool has_sign() const override { return is_real() || is_signed(dtype_); }
  Term number(double v) override { return term(std::isinf(v) ? "INFINITY" : std::to_string(static_cast<int>(v))); }
  Term operation(ScalarOp op, std::span<const Term> x) override {
    switch (op) {
      case ScalarOp::select:
        return term("(" + text(x[0]) + " ? " + text(x[1]) + " : " + text(x[2]) + ")");
      case ScalarOp::add:
        return between("+", x);
      case ScalarOp::mul:
        return between("*", x);
      case ScalarOp::div:
        return between("/", x);
      case ScalarOp::mod:
        return is_real() ? of("fmod", x) : between("%", x);
      case ScalarOp::eq:
        return between("==", x);
      case ScalarOp::lt:
        return between("<", x);
      case ScalarOp::le:
        return between("<=", x);
      case ScalarOp::gt:
        return between(">", x);
      case ScalarOp::ge:
        return between(">=", x);
      case ScalarOp::logical_or:
        return between("||", x);
      case ScalarOp::logical_not:
        return term("!" + text(x[0]));
      case ScalarOp::bit_xor:
        return between("^", x);
      case ScalarOp::negate:
        return term("-" + text(x[0]));
      case ScalarOp::abs:
        return of("fabs", x);
      case ScalarOp::sqrt:
        return of("sqrt", x);
      case ScalarOp::copysign:
        return of("copysign", x);
      default:
        ADD_FAILURE() << "an operation that these bodies do not have";
        return x[0];
    }
  }
  Term call(std::string_view function, Term x) override { return term(std::string(function) + "(" + text(x) + ")"); }
  Term is_nan(Term x) override { return of("isnan", std::array{x}); }
  Term above_or_nan(Term x, Term bound) override { return term("!(" + text(x) + " <= " + text(bound) + ")"); }
  void stop_if(Term bad) override { stops = text(bad); }

  std::string stops;  // the condition that stops the run

 private:
  Term term(std::string text) { return {*this, &texts_.emplace_back(std::move(text))}; }
  static const std::string& text(Term x) { return *static_cast<const std::string*>(x.what()); }
  Term between(const char* sign, std::span<const Term> x) {
    return term("(" + text(x[0]) + " " + sign + " " + text(x[1]) + ")");
  }
  Term of(const char* function, std::span<const Term> x) {
    std::string list;
    for (const Term& o : x) list += (list.empty() ? "" : ", ") + text(o);
    return term(std::string(function) + "(" + list + ")");
  }

  DType dtype_;
  std::deque<std::string> texts_;
};

}  // namespace

TEST(Spelling, of_floats) {
  C c(DType::f64);
  EXPECT_EQ(c.spelled("relu", {"x"}), "(!(x <= 0) ? x : 0)");
  EXPECT_EQ(c.spelled("maximum", {"a", "b"}), "(((a >= b) || isnan(a)) ? a : b)");
  EXPECT_EQ(c.spelled("square", {"x"}), "(x * x)");
  EXPECT_EQ(c.spelled("rsqrt", {"x"}), "(1 / sqrt(x))");
  EXPECT_EQ(c.spelled("sigmoid", {"x"}), "(1 / (1 + exp(-x)))");
  EXPECT_EQ(c.spelled("softplus", {"x"}), "(((x > 0) ? x : 0) + log1p(exp(-fabs(x))))");
  EXPECT_EQ(c.spelled("isnan", {"x"}), "isnan(x)");
  EXPECT_EQ(c.spelled("isfinite", {"x"}), "(fabs(x) < INFINITY)");
  EXPECT_EQ(c.spelled("floor_mod", {"a", "b"}),
            "((fmod(a, b) == 0) ? copysign(fmod(a, b), b) : "
            "(((fmod(a, b) < 0) ^ (b < 0)) ? (fmod(a, b) + b) : fmod(a, b)))");
}

TEST(Spelling, of_pivots) {
  C c(DType::f64);
  EXPECT_EQ(c.spelled("nonzero_pivot", {"x"}), "x");
  EXPECT_EQ(c.stops, "(x == 0)");
  EXPECT_EQ(c.spelled("positive_pivot", {"x"}), "x");
  EXPECT_EQ(c.stops, "!(x > 0)");
}

// Integers need no test for NaN, and unsigned ones need no correction of the sign.
TEST(Spelling, of_integers) {
  C c(DType::i32), u(DType::u32);
  EXPECT_EQ(c.spelled("maximum", {"a", "b"}), "((a >= b) ? a : b)");
  EXPECT_EQ(c.spelled("clip", {"x", "l", "h"}), "((((x >= l) ? x : l) <= h) ? ((x >= l) ? x : l) : h)");
  EXPECT_EQ(c.spelled("floor_mod", {"a", "b"}),
            "(((a % b) == 0) ? (a % b) : ((((a % b) < 0) ^ (b < 0)) ? ((a % b) + b) : (a % b)))");
  EXPECT_EQ(u.spelled("floor_mod", {"a", "b"}), "(a % b)");
}

}  // namespace rml
