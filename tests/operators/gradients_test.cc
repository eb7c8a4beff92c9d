// Compares the gradient rules of the table with central differences in f64, and checks the
// examples of the table.
//
// A rule is an R(ML)² expression over the parameters of the row, y and dy. A small evaluator here
// reads the part of the grammar that rules use (calls, names, literals, arrays, arithmetic,
// comparison) and applies the rows, so rules are tested independently of the differentiator. A
// float literal is f64 and an integer literal i32, unless its operand requires another dtype.
// `k=a` is dropped if attribute a is omitted and its default is not a number. `x...` is all of
// the variadic x.
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <random>

#include "tests/operators/apply.h"

namespace rml {

namespace {

// An application whose gradient is checked.
struct Call {
  std::string name;
  std::vector<Tensor> operands;
  AttributeArguments attributes;
};

// The values of the names in a rule.
struct Scope {
  const OperatorInfo& info;
  const Call& call;
  std::size_t differentiated;  // index of the operand
  const Tensor& y;
  const Tensor& dy;

  std::size_t variadic_begin() const {
    std::size_t k = 0;
    for (const OperatorParameter& parameter : info.parameters) {
      if (parameter.kind != ParameterKind::operand) continue;
      if (parameter.variadic) return k;
      ++k;
    }
    return k;
  }
};

class Rule {
 public:
  Rule(std::string_view text, const Scope& scope) : text_(text), scope_(scope) {}

  Tensor value() {
    Tensor result = comparison();
    skip();
    if (at_ != text_.size()) fail("end expected");
    return result;
  }

 private:
  void fail(const std::string& why) { ADD_FAILURE() << text_ << " at " << at_ << ": " << why; }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    if (token == "-" && text_.substr(at_, 2) == "--") return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail("expected " + std::string(token));
  }
  std::string word() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Tensor binary(std::string_view name, Tensor a, Tensor b) {
    // Numeric literals and sizes take the dtype of the other operand.
    if (a.dtype() != b.dtype()) {
      Tensor& odd = a.dtype() == DType::f64 ? b : a;
      odd = value_of(apply_row("cast", {odd}, {{"dtype", dtype_attribute(DType::f64)}}));
    }
    return value_of(apply_row(name, {std::move(a), std::move(b)}));
  }

  Tensor comparison() {
    Tensor left = sum();
    if (take("==")) return binary("eq", std::move(left), sum());
    if (take("<")) return binary("lt", std::move(left), sum());
    if (take(">")) return binary("gt", std::move(left), sum());
    return left;
  }
  Tensor sum() {
    Tensor left = product();
    for (;;) {
      if (take("+"))
        left = binary("add", std::move(left), product());
      else if (take("-"))
        left = binary("sub", std::move(left), product());
      else
        return left;
    }
  }
  Tensor product() {
    Tensor left = prefix();
    for (;;) {
      if (take("*"))
        left = binary("mul", std::move(left), prefix());
      else if (take("/"))
        left = binary("div", std::move(left), prefix());
      else
        return left;
    }
  }
  Tensor prefix() {
    if (take("-")) return value_of(apply_row("negate", {prefix()}));
    return atom();
  }
  Tensor atom() {
    skip();
    if (take("(")) {
      Tensor inner = comparison();
      expect(")");
      return inner;
    }
    if (take("[")) {
      std::vector<Tensor> elements;
      do elements.push_back(comparison());
      while (take(","));
      expect("]");
      return value_of(apply_row("array", elements));
    }
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) return literal();
    const std::string name = word();
    if (take("(")) return call(name);
    return named(name);
  }
  Tensor literal() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.'))
      ++at_;
    const std::string digits(text_.substr(begin, at_ - begin));
    const double value = std::strtod(digits.c_str(), nullptr);
    return tensor(digits.find('.') == std::string::npos ? DType::i32 : DType::f64, {}, {value});
  }
  Tensor named(const std::string& name) {
    if (name == "true" || name == "false") return Tensor::boolean(name == "true");
    if (name == "y") return scope_.y;
    if (name == "dy") return scope_.dy;
    if (name == "part") return tensor(DType::i32, {}, {double(scope_.differentiated - scope_.variadic_begin())});
    std::size_t operand = 0;
    for (const OperatorParameter& parameter : scope_.info.parameters) {
      if (parameter.kind == ParameterKind::operand) {
        if (parameter.name == name) return scope_.call.operands[parameter.variadic ? scope_.differentiated : operand];
        ++operand;
      } else if (parameter.name == name) {
        return attribute_value(parameter);
      }
    }
    fail("unknown name " + name);
    return {};
  }
  Tensor attribute_value(const OperatorParameter& parameter) {
    const auto given = scope_.call.attributes.find(parameter.name);
    if (parameter.kind == ParameterKind::number && given != scope_.call.attributes.end())
      return tensor(DType::f64, {}, {given->second.number});
    if (given == scope_.call.attributes.end()) {
      return tensor(DType::i32, {}, {std::strtod(std::string(parameter.default_value).c_str(), nullptr)});
    }
    const auto& integers = given->second.integers;
    return tensor(DType::i32, given->second.scalar ? Shape{} : Shape{std::int64_t(integers.size())},
                  {integers.begin(), integers.end()});
  }
  // True if `k=a` names an attribute of the row that the call omits.
  bool left_out(const std::string& name) const {
    for (const OperatorParameter& parameter : scope_.info.parameters) {
      if (parameter.name == name && parameter.kind != ParameterKind::operand)
        return !scope_.call.attributes.contains(name) &&
               (parameter.default_value == "all" || parameter.default_value == "[]");
    }
    return false;
  }

  Tensor call(const std::string& name) {
    if (name == "stop_gradient") {
      Tensor inner = comparison();
      expect(")");
      return inner;
    }
    const OperatorInfo& info = operators()[operators().require(name)];
    std::vector<Tensor> operands;
    AttributeArguments attributes;
    std::size_t position = 0;
    do {
      skip();
      const std::size_t begin = at_;
      const std::string first = word();
      if (take("...")) {
        for (std::size_t k = scope_.variadic_begin(); k < scope_.call.operands.size(); ++k) {
          operands.push_back(scope_.call.operands[k]);
        }
        continue;
      }
      if (!first.empty() && text_.substr(at_, 2) != "==" && take("=")) {
        const std::size_t from = at_;
        const std::string alone = word();
        skip();
        if (left_out(alone) && (text_[at_] == ',' || text_[at_] == ')')) continue;
        at_ = from;
        attributes[first] = attribute();
        continue;
      }
      at_ = begin;
      const OperatorParameter& parameter = info.parameters[std::min(position, info.parameters.size() - 1)];
      if (!parameter.variadic) ++position;
      if (parameter.kind == ParameterKind::operand)
        operands.push_back(comparison());
      else if (parameter.kind == ParameterKind::dtype)
        attributes["dtype"] = dtype_attribute(dtype_named(word()).value());
      else
        attributes[std::string(parameter.name)] = attribute();
    } while (take(","));
    expect(")");
    // Literals are f64, and so is a result whose dtype depends on its use.
    const auto wanted = info.result.fallback == DType::f32 ? std::optional(DType::f64) : std::nullopt;
    return value_of(apply_row(info, operands, attributes, wanted));
  }
  // An attribute in a call or rule: a text, the name of an attribute, or a static value.
  Attribute attribute() {
    const std::size_t begin = at_;
    if (take("\"")) {
      const std::size_t from = at_;
      at_ = text_.find('"', from);
      return text_attribute_value(std::string(text_.substr(from, at_++ - from)));
    }
    const auto given = scope_.call.attributes.find(word());
    if (given != scope_.call.attributes.end() && !given->second.text.empty()) return given->second;
    at_ = begin;
    return static_value(comparison());
  }
  static Attribute static_value(const Tensor& value) {
    if (is_float(value.dtype())) return number_attribute_value(value.as<double>()[0]);
    return value.shape().empty() ? scalar_attribute(value.integers()[0]) : vector_attribute(value.integers());
  }

  std::string_view text_;
  Scope scope_;
  std::size_t at_ = 0;
};

Tensor evaluate(const Call& call) {
  return value_of(apply_row(operators()[operators().require(call.name)], call.operands, call.attributes));
}

double weighted(const Tensor& y, const Tensor& dy) {
  double total = 0;
  for (std::int64_t i = 0; i < y.elements(); ++i) total += y.as<double>()[i] * dy.as<double>()[i];
  return total;
}

// The examples in the documentation are expressions of the same grammar.
TEST(Examples, have_the_values_they_claim) {
  for (std::size_t id = 0; id < operators().size(); ++id) {
    const OperatorInfo& info = operators()[static_cast<OperatorId>(id)];
    const std::size_t split = info.example.find(" -- ");
    const Tensor nothing;
    const Tensor value = Rule(info.example.substr(0, split), {info, {}, 0, nothing, nothing}).value();
    EXPECT_EQ(to_string(value), info.example.substr(split + 4)) << info.example;
  }
}

std::string_view rule_of(const OperatorInfo& info, std::size_t operand) {
  return info.vjp[std::min(operand, info.vjp.size() - 1)];
}

void check(const Call& call) {
  const OperatorInfo& info = operators()[operators().require(call.name)];
  std::string what = call.name;
  for (const Tensor& x : call.operands) what += " " + to_string(x);
  SCOPED_TRACE(what);
  const Tensor y = evaluate(call);
  ASSERT_EQ(y.dtype(), DType::f64);
  Tensor dy(DType::f64, y.shape());
  for (std::int64_t i = 0; i < y.elements(); ++i) dy.as<double>()[i] = 1 + 0.37 * double(i % 5);
  for (std::size_t k = 0; k < call.operands.size(); ++k) {
    const Tensor& x = call.operands[k];
    if (rule_of(info, k).substr(0, 5) == "none:" || x.dtype() != DType::f64) continue;
    Tensor adjoint = Rule(rule_of(info, k), {info, call, k, y, dy}).value();
    if (info.lowering == Lowering::elementwise) {  // the differentiator sums over broadcast axes
      const auto full = broadcast(adjoint.shape(), y.shape());
      ASSERT_TRUE(full.has_value());
      adjoint = value_of(apply_row("broadcast_to", {adjoint}, {{"shape", vector_attribute(y.shape())}}));
      adjoint = value_of(apply_row("sum_to", {adjoint}, {{"shape", vector_attribute(x.shape())}}));
    }
    ASSERT_EQ(adjoint.shape(), x.shape()) << rule_of(info, k);
    for (std::int64_t i = 0; i < x.elements(); ++i) {
      constexpr double step = 1e-5;
      Call up = call, down = call;
      up.operands[k].as<double>()[i] += step;
      down.operands[k].as<double>()[i] -= step;
      const double difference = (weighted(evaluate(up), dy) - weighted(evaluate(down), dy)) / (2 * step);
      const double actual = adjoint.as<double>()[i];
      EXPECT_NEAR(actual, difference, 1e-6 * std::max(1.0, std::fabs(difference)))
          << rule_of(info, k) << " element " << i;
    }
  }
}

std::mt19937 generator(3);

// Draws elements that are far from discontinuities and ties: any two differ by more than the
// step.
Tensor draw(const Shape& shape, double low, double high) {
  Tensor x(DType::f64, shape);
  std::uniform_real_distribution<double> uniform(low, high);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    double v = uniform(generator);
    while (std::fabs(v - std::round(v)) < 0.05) v = uniform(generator);
    x.as<double>()[i] = v;
  }
  return x;
}

TEST(Gradients, elementwise) {
  const std::vector<std::pair<Shape, Shape>> pairs = {
      {{}, {}}, {{3}, {}}, {{}, {3}}, {{2, 3}, {3}}, {{2, 1}, {1, 3}}, {{2, 2, 1}, {3}}, {{1, 2, 1, 2}, {2, 1, 3, 1}}};
  for (const auto& [a, b] : pairs) {
    for (const std::string name : {"add", "sub", "mul", "div", "minimum", "maximum", "mod"}) {
      check({name, {draw(a, -3, 3), draw(b, -3, 3)}, {}});
    }
    check({"pow", {draw(a, 0.1, 3), draw(b, -2, 2)}, {}});
    Tensor condition(DType::boolean, b);
    if (condition.elements() > 0) condition.as<std::uint8_t>()[0] = 1;
    check({"select", {condition, draw(a, -3, 3), draw(b, -3, 3)}, {}});
    for (const std::string name : {"negate", "abs", "exp", "sin", "cos", "tanh", "sigmoid", "relu"}) {
      check({name, {draw(a, -3, 3)}, {}});
    }
    for (const std::string name : {"log", "sqrt"}) check({name, {draw(a, 0.1, 3)}, {}});
    check({"cast", {draw(a, -3, 3)}, {{"dtype", dtype_attribute(DType::f64)}}});
    check({"cast_like", {draw(a, -3, 3), Tensor(DType::f64, {})}, {}});
  }
}

TEST(Gradients, special_places) {
  const auto one = [](double v) { return tensor(DType::f64, {}, {v}); };
  const auto adjoint = [&](const std::string& name, double a, double b, std::size_t k) {
    const Call call{name, {one(a), one(b)}, {}};
    const OperatorInfo& info = operators()[operators().require(name)];
    return Rule(info.vjp[k], {info, call, k, evaluate(call), one(1)}).value().as<double>()[0];
  };
  EXPECT_EQ(adjoint("maximum", 2, 2, 0), 0.5);
  EXPECT_EQ(adjoint("maximum", 2, 2, 1), 0.5);
  EXPECT_EQ(adjoint("minimum", 2, 2, 0), 0.5);
  EXPECT_EQ(adjoint("pow", 0, 0, 0), 0);
  EXPECT_EQ(adjoint("pow", -2, 3, 0), 12);
  EXPECT_EQ(adjoint("pow", -2, 3, 1), 0);
  EXPECT_EQ(adjoint("pow", 0, 2, 1), 0);
  EXPECT_EQ(adjoint("hypot", 0, 0, 0), 0);
  EXPECT_EQ(adjoint("copysign", 2, -1, 0), -1);
  EXPECT_EQ(adjoint("floor_mod", -7, 3, 1), 3);
  const Call ties{"max", {tensor(DType::f64, {3}, {1, 4, 4})}, {}};
  const OperatorInfo& max = operators()[operators().require("max")];
  EXPECT_EQ(to_string(Rule(max.vjp[0], {max, ties, 0, evaluate(ties), one(3)}).value()), "[0,1.5,1.5]");
}

std::string adjoint_of(const Call& call, std::size_t operand, const Tensor& dy) {
  const OperatorInfo& info = operators()[operators().require(call.name)];
  return to_string(Rule(info.vjp[operand], {info, call, operand, evaluate(call), dy}).value());
}

TEST(Gradients, products_of_zeros) {
  const Tensor one = tensor(DType::f64, {}, {1}), two = tensor(DType::f64, {2}, {1, 10});
  EXPECT_EQ(adjoint_of({"prod", {tensor(DType::f64, {3}, {2, 0, 5})}, {}}, 0, one), "[0,10,0]");
  EXPECT_EQ(adjoint_of({"prod", {tensor(DType::f64, {3}, {0, 0, 5})}, {}}, 0, one), "[0,0,0]");
  EXPECT_EQ(adjoint_of({"prod", {tensor(DType::f64, {2, 2}, {0, 3, 2, 5})}, {{"axis", scalar_attribute(1)}}}, 0, two),
            "[3,0;50,20]");
}

// At a bound, the bound gets no gradient, unless the bounds are exchanged.
TEST(Gradients, clip_at_its_bounds) {
  const Tensor x = tensor(DType::f64, {5}, {1, 2, 3, 4, 5}), ones = tensor(DType::f64, {5}, {1, 1, 1, 1, 1});
  const auto bound = [](double v) { return tensor(DType::f64, {}, {v}); };
  const Call within{"clip", {x, bound(2), bound(4)}, {}}, round{"clip", {x, bound(4), bound(2)}, {}};
  EXPECT_EQ(adjoint_of(within, 0, ones), "[0,1,1,1,0]");
  EXPECT_EQ(adjoint_of(within, 1, ones), "[1,0,0,0,0]");
  EXPECT_EQ(adjoint_of(within, 2, ones), "[0,0,0,0,1]");
  EXPECT_EQ(adjoint_of(round, 0, ones), "[0,0,0,0,0]");
  EXPECT_EQ(adjoint_of(round, 1, ones), "[0,0,0,0,0]");
  EXPECT_EQ(adjoint_of(round, 2, ones), "[1,1,1,1,1]");
}

// The gradient of a norm or a deviation that is 0 is 0.
TEST(Gradients, norms_of_zeros) {
  const Tensor one = tensor(DType::f64, {}, {1}), zeros = tensor(DType::f64, {2}, {0, 0});
  for (const double ord : {1.0, 2.0, 3.0, HUGE_VAL})
    EXPECT_EQ(adjoint_of({"norm", {zeros}, {{"ord", number_attribute_value(ord)}}}, 0, one), "[0,0]") << ord;
  EXPECT_EQ(adjoint_of({"std", {zeros}, {}}, 0, one), "[0,0]");
  EXPECT_EQ(
      adjoint_of({"norm", {tensor(DType::f64, {3}, {2, -2, 1})}, {{"ord", number_attribute_value(HUGE_VAL)}}}, 0, one),
      "[0.5,-0.5,0]");
}

// log2 divides by log(2), and the derivative of 1 / sqrt(x) contains x to the power -3/2.
TEST(Gradients, log2_is_not_multiplied_by_the_logarithm_of_2) {
  const Tensor one = tensor(DType::f64, {}, {1});
  EXPECT_EQ(adjoint_of({"log2", {tensor(DType::f64, {}, {1})}, {}}, 0, one), "1.4426950408889634");
}
TEST(Gradients, rsqrt_falls_by_half_its_cube) {
  const Tensor one = tensor(DType::f64, {}, {1});
  EXPECT_EQ(adjoint_of({"rsqrt", {tensor(DType::f64, {}, {0.25})}, {}}, 0, one), "-4");
  check({"rsqrt", {tensor(DType::f64, {2}, {0.3, 4})}, {}});
}

TEST(Gradients, products) {
  const std::vector<std::pair<Shape, Shape>> pairs = {{{3}, {3}},
                                                      {{2, 3}, {3}},
                                                      {{3}, {3, 2}},
                                                      {{2, 3}, {3, 4}},
                                                      {{5, 2, 3}, {3, 2}},
                                                      {{2, 3}, {2, 3, 2}},
                                                      {{2, 1, 2, 3}, {3, 3, 2}},
                                                      {{2, 2, 3}, {3}},
                                                      {{3}, {2, 3, 2}}};
  for (const auto& [a, b] : pairs) check({"matmul", {draw(a, -2, 2), draw(b, -2, 2)}, {}});
  check({"outer", {draw({2}, -2, 2), draw({3}, -2, 2)}, {}});
  check({"dot", {draw({3}, -2, 2), draw({3}, -2, 2)}, {}});
  check({"as_row", {draw({3}, -2, 2)}, {}});
  check({"as_column", {draw({3}, -2, 2)}, {}});
}

TEST(Gradients, structure) {
  const auto axes = [](std::vector<std::int64_t> v) { return vector_attribute(std::move(v)); };
  const Tensor x = draw({2, 3, 4}, -2, 2);
  check({"transpose", {x}, {}});
  check({"transpose", {x}, {{"axes", axes({1, 2, 0})}}});
  check({"transpose", {x}, {{"axes", axes({1, 2, 0})}, {"inverse", scalar_attribute(1)}}});
  check({"transpose", {x}, {{"axes", axes({-1, -2})}}});
  check({"reshape", {x}, {{"shape", axes({4, -1})}}});
  check({"expand_dims", {x}, {{"axis", scalar_attribute(1)}}});
  check({"squeeze", {draw({1, 3, 1}, -2, 2)}, {}});
  check({"squeeze", {draw({1, 3, 1}, -2, 2)}, {{"axis", scalar_attribute(-1)}}});
  check({"broadcast_to", {draw({3, 1}, -2, 2)}, {{"shape", axes({2, 3, 4})}}});
  check({"full", {draw({}, -2, 2)}, {{"shape", axes({2, 3})}}});
  check({"concat", {x, draw({1, 3, 4}, -2, 2), draw({2, 3, 4}, -2, 2)}, {}});
  check({"concat", {x, draw({2, 3, 1}, -2, 2)}, {{"axis", scalar_attribute(-1)}}});
  check({"array", {draw({2}, -2, 2), draw({2}, -2, 2), draw({2}, -2, 2)}, {}});
  const Tensor one = tensor(DType::i32, {}, {1});
  check({"index", {x, one}, {}});
  check({"index", {x, one, one, one}, {}});
  check({"place", {draw({4}, -2, 2), one, one}, {{"shape", axes({2, 3, 4})}}});
  check({"slice", {x}, {{"starts", axes({0, 1})}, {"stops", axes({2, 3})}}});
  check({"slice", {x}, {{"starts", axes({0, 1, -4})}, {"steps", axes({1, 1, 2})}}});
  check({"place_slice", {draw({2, 2}, -2, 2)}, {{"shape", axes({4, 2})}, {"steps", scalar_attribute(2)}}});
}

// Other libraries return a wrong derivative for a concatenation along an axis other than the
// first.
TEST(KnownDefects, concat_gradient_slices_its_own_axis) {
  for (const std::int64_t axis : {0, 1, 2, -1}) {
    std::vector<Tensor> parts;
    for (const std::int64_t extent : {1, 2, 3}) {
      Shape shape{2, 3, 4};
      shape[static_cast<std::size_t>(axis < 0 ? axis + 3 : axis)] = extent;
      parts.push_back(draw(shape, -2, 2));
    }
    check({"concat", parts, {{"axis", scalar_attribute(axis)}}});
  }
}

// The operands have different lengths, so exchanged adjoints would have the wrong shapes.
TEST(KnownDefects, outer_gradient_operands_are_not_exchanged) {
  check({"outer", {draw({2}, -2, 2), draw({5}, -2, 2)}, {}});
}

// With repeated indices both adjoints are added, and the value of the operand must not change.
TEST(KnownDefects, gather_gradient_accumulates_into_the_adjoint) {
  const Tensor twice = tensor(DType::i32, {4}, {2, 0, 2, 2});
  check({"take", {draw({3, 2}, -2, 2), twice}, {{"axis", scalar_attribute(0)}}});
  const Call call{"take", {tensor(DType::f64, {3}, {7, 8, 9}), twice}, {}};
  const OperatorInfo& take = operators()[operators().require("take")];
  const Tensor dy = tensor(DType::f64, {4}, {1, 10, 100, 1000});
  EXPECT_EQ(to_string(Rule(take.vjp[0], {take, call, 0, evaluate(call), dy}).value()), "[10,0,1101]");
}

TEST(Gradients, reductions) {
  for (const std::string name : {"sum", "mean", "min", "max"}) {
    for (const Shape& shape : {Shape{}, Shape{4}, Shape{2, 3}, Shape{2, 3, 2, 2}}) {
      check({name, {draw(shape, -2, 2)}, {}});
      check({name, {draw(shape, -2, 2)}, {{"keepdims", scalar_attribute(1)}}});
      if (shape.empty()) continue;
      check({name, {draw(shape, -2, 2)}, {{"axis", scalar_attribute(-1)}}});
      check({name, {draw(shape, -2, 2)}, {{"axis", scalar_attribute(0)}, {"keepdims", scalar_attribute(1)}}});
      if (shape.size() > 1) check({name, {draw(shape, -2, 2)}, {{"axis", vector_attribute({0, -1})}}});
    }
  }
  check({"sum_to", {draw({2, 3, 4}, -2, 2)}, {{"shape", vector_attribute({3, 1})}}});
}

TEST(Gradients, transforms) {
  const auto plan = [](std::int64_t n, std::int64_t real) {
    const AttributeArguments attributes = {{"n", scalar_attribute(n)}, {"real", scalar_attribute(real)}};
    return value_of(apply_row(operators()[operators().require("fourier_plan")], {}, attributes, DType::f64));
  };
  for (const std::int64_t n : {1, 2, 3, 4, 6, 37}) {
    const std::int64_t half = n / 2 + 1;
    for (const std::int64_t inverse : {0, 1})
      check({"fourier", {draw({2, n, 2}, -2, 2), plan(n, 0)}, {{"inverse", scalar_attribute(inverse)}}});
    check({"real_fourier", {draw({2, n}, -2, 2), plan(n, 1)}, {}});
    check({"real_fourier_terms", {draw({2, half, 2}, -2, 2), plan(n, 1)}, {{"n", scalar_attribute(n)}}});
  }
  check({"frames", {draw({2, 7}, -2, 2)}, {{"length", scalar_attribute(3)}, {"hop", scalar_attribute(2)}}});
  for (const std::int64_t n : {6, 7, 9})
    check({"overlap_add", {draw({2, 3, 2}, -2, 2)}, {{"n", scalar_attribute(n)}, {"hop", scalar_attribute(2)}}});
  const Tensor targets = tensor(DType::i32, {2, 2}, {1, 2, 1, 1}), frames = tensor(DType::i32, {2}, {3, 4});
  check({"ctc_loss", {draw({4, 2, 3}, -2, 0), targets, frames, tensor(DType::i32, {2}, {2, 2})}, {}});
}

// Has a large diagonal, so it is far from singular.
Tensor regular(const Shape& shape) {
  Tensor x = draw(shape, -0.45, 0.45);
  const std::int64_t n = shape.back();
  for (std::int64_t i = 0; i < x.elements(); ++i) x.as<double>()[i] += i / n % n == i % n ? 2 : 0;
  return x;
}

TEST(Gradients, linear_algebra) {
  for (const Shape& a : {Shape{1, 1}, Shape{3, 3}, Shape{2, 3, 3}}) {
    for (const Shape& b : {Shape{a.back()}, Shape{a.back(), 2}, Shape{2, 1, a.back(), 2}}) {
      check({"solve", {regular(a), draw(b, -2, 2)}, {}});
      for (const std::int64_t lower : {0, 1}) {
        for (const std::int64_t unit : {0, 1}) {
          const AttributeArguments attributes = {{"lower", scalar_attribute(lower)}, {"unit", scalar_attribute(unit)}};
          check({"triangular_solve", {regular(a), draw(b, -2, 2)}, attributes});
        }
      }
    }
    for (const std::string name : {"inverse", "det", "cofactor", "slogdet_parts", "cholesky"}) {
      check({name, {regular(a)}, {}});
    }
    for (const std::int64_t n : {-2, -1, 0, 1, 4}) check({"matrix_power", {regular(a)}, {{"n", scalar_attribute(n)}}});
  }
  // The determinant has a gradient even if the matrix is singular.
  check({"det", {tensor(DType::f64, {3, 3}, {1, 2, 3, 2, 4, 6, 1, 0, 1})}, {}});
  check({"det", {Tensor(DType::f64, {2, 2})}, {}});
}

}  // namespace

}  // namespace rml
